@testable import ThumbnailCore
@testable import ThumbnailServer

/// The folder whose files are served by path is never left.
@Suite(.timeLimit(.minutes(5))) struct ServedFolderTests {
  private let directory: TemporaryDirectory
  private let root: URL

  init() throws {
    directory = try TemporaryDirectory()
    root = directory.url.appending(path: "root")
    let files = FileManager.default
    for folder in ["root/a/b", "root/.git", "outside", "root/Private/a", "root/@eaDir"] {
      try files.createDirectory(at: directory.url.appending(path: folder), withIntermediateDirectories: true)
    }
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    for file in [
      "root/1.jpg", "root/a/b/2.jpg", "root/.hidden.jpg", "root/.git/3.jpg", "outside/secret.jpg", "root/ä ö.jpg",
      "root/.\u{301}hidden.jpg", "outside/\u{301}secret.jpg", "root/Private/a/4.jpg", "root/@eaDir/5.jpg",
      "root/a/6.jpg",
    ] {
      try picture.write(to: directory.url.appending(path: file))
    }
    try Data().write(to: root.appending(path: "Private/.nomedia"))
    try Data("6.jpg\n".utf8).write(to: root.appending(path: "a/.hidden"))
    let secret = directory.url.appending(path: "outside/secret.jpg").path
    for (link, target) in [
      ("root/link.jpg", secret), ("root/a/out", "../../outside"), ("root/inner.jpg", "1.jpg"), ("root/loop", "loop"),
    ] {
      try files.createSymbolicLink(atPath: directory.url.appending(path: link).path, withDestinationPath: target)
    }
    #expect(mkfifo(root.appending(path: "pipe.jpg").path, 0o600) == 0)
  }

  @Test(arguments: ["1.jpg", "a/b/2.jpg", "ä ö.jpg"]) func itsFilesAreServed(path: String) throws {
    #expect(try #require(ServedFolder(path: root.path)).image(at: path) != nil)
  }

  @Test(arguments: [
    "", "/", ".", "..", "../outside/secret.jpg", "a/../../outside/secret.jpg", "a/../1.jpg", "./1.jpg", "a/./b/2.jpg",
    "a//b/2.jpg", "/1.jpg", "/etc/passwd", "//etc/passwd", "a/b/2.jpg/", "a", "a/b", ".hidden.jpg", ".git/3.jpg",
    "a/b/../../../outside/secret.jpg", "link.jpg", "a/out/secret.jpg", "inner.jpg", "loop", "loop/1.jpg", "pipe.jpg",
    "1.jpg\0.png", "\0", "%2e%2e/outside/secret.jpg", "..%2foutside", "..\\outside\\secret.jpg", "1.jpg/x",
    "missing.jpg", "file:///etc/passwd", "~/1.jpg", String(repeating: "a/", count: 3000) + "1.jpg",
    String(repeating: "a", count: 300),
    // A slash, or a dot, and what follows it are one Character.
    "Private/a/4.jpg", "@eaDir/5.jpg", "a/6.jpg", "a/out/\u{301}secret.jpg", "../\u{301}/outside/secret.jpg",
    ".\u{301}hidden.jpg", "a/..\u{301}/1.jpg",
  ])
  func nothingElseIs(path: String) throws {
    let folder = try #require(ServedFolder(path: root.path))
    #expect(folder.image(at: path) == nil)
    #expect(rename(root.path, root.path + "-moved") == 0 && folder.image(at: path) == nil)
  }

  @Test func everySpellingOfAWayOutIsRefusedOverHTTP() async throws {
    let root = root
    let fixture = try ServiceFixture { $0.folder = ServedFolder(path: root.path) }
    #expect(await fixture.get("/thumb/40/1.jpg").status == .ok)
    #expect(await fixture.get("/thumb/40/a%2fb%2F2.jpg").status == .ok)
    #expect(await fixture.get("/thumb/40/%C3%A4%20%C3%B6.jpg").status == .ok)
    for path in [
      "../outside/secret.jpg", "%2e%2e/outside/secret.jpg", "%2E%2E%2Foutside%2Fsecret.jpg", "..%2foutside/secret.jpg",
      "%252e%252e/outside/secret.jpg", "..%252foutside/secret.jpg", "a/..%2f..%2foutside/secret.jpg", "%00", "1.jpg%00",
      "%c0%ae%c0%ae/outside/secret.jpg", "..%5coutside%5csecret.jpg", "%2fetc%2fpasswd", "/etc/passwd", "link.jpg", "%",
      "%zz", "%u002e%u002e/outside/secret.jpg", "..;/outside/secret.jpg", "file%3A%2F%2F%2Fetc%2Fpasswd",
    ] {
      let response = await fixture.get("/thumb/40/\(path)")
      #expect(response.status == .notFound || response.status == .badRequest, "\(path)")
      #expect(!response.text.contains(root.path) && !response.text.contains("outside"))
    }
    #expect(fixture.origin.requests.isEmpty)
  }

  @Test func aChangedFileIsAnotherImage() throws {
    let folder = try #require(ServedFolder(path: root.path))
    let before = folder.image(at: "1.jpg")?.key
    #expect(before == folder.image(at: "1.jpg")?.key && before != nil)
    try TestImages.bytes("formats/jpeg-444.jpg").write(to: root.appending(path: "1.jpg"))
    #expect(folder.image(at: "1.jpg")?.key != before)
  }

  @Test func whatIsNoFolderCannotBeServed() {
    #expect(ServedFolder(path: root.appending(path: "1.jpg").path) == nil)
    #expect(ServedFolder(path: root.appending(path: "missing").path) == nil)
  }
}
