@testable import HTTPServer
@testable import ThumbnailCore
@testable import ThumbnailServer

/// A page that is open on a folder of pictures.
struct GalleryPage {
  let directory: TemporaryDirectory
  let fixture: ServiceFixture
  let token: String
  let session: String

  var folder: URL { directory.url.appending(path: "pictures") }

  /// - Parameters:
  ///   - album: The folder that is shown first.
  ///   - prepare: Adds more files to the folder.
  init(pictures count: Int = 30, album: String = "", _ prepare: (URL) throws -> Void = { _ in }) async throws {
    directory = try TemporaryDirectory()
    let folder = directory.url.appending(path: "pictures")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for number in 0..<count {
      try FileManager.default.copyItem(
        at: TestImages.url("formats/jpeg-420.jpg"), to: folder.appending(path: "lake \(number).jpg"))
    }
    try prepare(folder)
    try Data("secret".utf8).write(to: directory.url.appending(path: "secret.jpg"))
    fixture = try ServiceFixture { $0.gallery = .folder(FolderIndex(path: folder.path, extensions: ["jpg", "heic"])) }
    token = try #require(await fixture.get("/api/gallery").object["token"] as? String)
    let begun = await fixture.post(
      "/api/sessions", Data(#"{"query":"","order":"name","album":"\#(album)"}"#.utf8), [RequestGuard.tokenField: token])
    session = try #require(begun.object["id"] as? String, "\(begun.text)")
  }

  func read(_ what: String) async -> ServerResponse { await fixture.get("/api/sessions/\(session)/\(what)") }

  func change(_ what: String, _ message: String) async -> ServerResponse {
    await fixture.post("/api/sessions/\(session)/\(what)", Data(message.utf8), [RequestGuard.tokenField: token])
  }

  /// The images of the newest version.
  func items() async -> [[String: Any]] {
    for version in (0...30).reversed() {
      let response = await read("items?version=\(version)&from=0&count=500")
      if response.status == .ok { return response.object["items"] as? [[String: Any]] ?? [] }
    }
    return []
  }

  /// The newest snapshot, as a page is told when it begins to listen.
  func newest() async -> [String: Any] {
    guard case .stream(let parts) = await read("events").body else { return [:] }
    for await part in parts {
      let object = try? JSONSerialization.jsonObject(with: Data(String(buffer: part).dropFirst(6).utf8))
      return object as? [String: Any] ?? [:]
    }
    return [:]
  }

  func names() async -> [String] { await items().compactMap { $0["name"] as? String } }
}
