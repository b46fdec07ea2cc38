import Foundation
import HTTPServer
import NIOHTTP1
import PhotoSources
import Synchronization
import ThumbnailCore

/// Downloads of a folder's pictures as one zip. A page sends the list of them, and gets an address that is random, ends
/// an hour after its last use, and where there is a password belongs to the login.
final class ZipDownloads: Sendable {
  private typealias Problem = ServerResponse.Problem

  /// The pictures with these keys, or all of the page's list.
  struct Message: Decodable {
    let keys: [String]?
  }

  private struct Download {
    let archive: ZipArchive
    let name: String
    let login: String?
    var lastUse = ContinuousClock.now
    /// The responses that are being sent.
    var sent = 0

    var isOver: Bool { sent == 0 && lastUse + ZipDownloads.lifetime <= .now }
  }

  /// The most files of a download.
  private static let most = 100_000
  /// The most downloads, and files of all of them, about 250 bytes each. Those unused for the longest time end.
  private static let mostDownloads = 256
  private static let mostFiles = 2 * most
  private static let lifetime = Duration.seconds(3600)
  /// The photos that are taken from a list at once.
  private static let step = 500

  private let index: FolderIndex
  private let registry: ImageRegistry
  private let reading = WorkerPool(name: "zip", threads: 2)
  private let downloads = Mutex<[String: Download]>([:])

  /// Nil if the gallery's images are no files.
  init?(_ source: GallerySource, registry: ImageRegistry) {
    guard case .folder(let index) = source else { return nil }
    (self.index, self.registry) = (index, registry)
  }

  /// The response to a page's list: the path of the download, and the number of files that are missing already.
  func add(
    _ message: Message, of list: any ImageList, login: String?
  ) async throws(ServerResponse.Problem) -> ServerResponse {
    let paths = try await paths(message, of: list)
    let files = await reading.runToEnd { self.files(at: paths) }
    let missing = files.count { $0.state == nil }
    guard missing < files.count, files.count <= Self.most else {
      throw Problem(
        .badRequest, "invalid-request", "a download has 1 to \(Self.most) files that are there; select others")
    }
    let (snapshot, token) = (list.current, Token.random())
    // A selection outlives searches and albums.
    let folder = message.keys == nil ? RawPath(text: snapshot.album).name : []
    let name = [
      folder.isEmpty ? URL(fileURLWithPath: index.path).lastPathComponent : String(decoding: folder, as: UTF8.self),
      message.keys.map { "\($0.count) selected" } ?? snapshot.query,
    ].filter { !$0.isEmpty }.joined(separator: " - ")
    let isKept = downloads.withLock { downloads in
      downloads = downloads.filter { !$0.value.isOver }
      downloads[token] = Download(archive: ZipArchive(files, reading: reading), name: name, login: login)
      while downloads.count > Self.mostDownloads
        || downloads.values.reduce(0, { $0 + $1.archive.count }) > Self.mostFiles,
        let oldest = downloads.min(by: { ($0.value.sent, $0.value.lastUse) < ($1.value.sent, $1.value.lastUse) })
      { downloads[oldest.key] = nil }
      return downloads[token] != nil
    }
    guard isKept else {
      throw Problem(.tooManyRequests, "overloaded", "other downloads are under way; try again when one has ended")
    }
    return .json(["missing": missing, "path": "/api/zip/\(token)"], status: .created)
  }

  /// The files of the photos.
  private func paths(
    _ message: Message, of list: any ImageList
  ) async throws(ServerResponse.Problem) -> [RawPath] {
    let outdated = Problem(.conflict, "outdated", "the pictures have just changed; select them again")
    func paths(of photos: [ListedPhoto]) -> [RawPath] {
      photos.map { index.file(of: $0.photo.id) }
    }
    if let keys = message.keys {
      let known = keys.compactMap { registry.photo($0) }
      guard known.count == keys.count else { throw outdated }
      return paths(of: known)
    }
    let (version, count) = (list.current.version, list.current.count)
    var found: [RawPath] = []
    for start in stride(from: 0, to: min(count, Self.most + 1), by: Self.step) {
      let photos = try? await list.photos(in: start..<min(start + Self.step, count), version: version)
      guard let photos else { throw outdated }
      found += paths(of: photos)
    }
    return found
  }

  /// Each file once, with its state. Blocks.
  private func files(at paths: [RawPath]) -> [DownloadedFile] {
    let root = index.file(of: "").bytes.count
    var seen: Set<RawPath> = []
    return paths.filter { seen.insert($0).inserted }
      .map { DownloadedFile(path: $0, inner: RawPath(bytes: $0.bytes[root...]), state: try? FileState(of: $0)) }
  }

  /// The response to a request for a download.
  func response(to request: ServerRequest, token: Substring, login: String?) -> ServerResponse {
    let download = downloads.withLock { downloads -> Download? in
      guard let download = downloads[String(token)], download.login == login, !download.isOver else { return nil }
      downloads[String(token)]?.lastUse = .now
      return download
    }
    guard let download else {
      return .problem(Problem(.notFound, "no-download", "this download has ended; begin it again in the gallery"))
    }
    let headers: HTTPHeaders = [
      "content-type": "application/zip", "cache-control": "no-store", "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "content-disposition": ContentDisposition.attachment(named: ZipNames.safe("\(download.name).zip")),
    ]
    let archive = download.archive
    return .ranged(archive.length, tag: archive.tag, headers: headers, to: request) { range in
      .written(length: range.count) { send in
        try await self.sending(token) { try await archive.write(range, to: send) }
      }
    }
  }

  /// Counts a response while it is sent: its download does not end meanwhile, however long it takes.
  private func sending(_ token: Substring, _ body: () async throws -> Void) async throws {
    downloads.withLock { $0[String(token)]?.sent += 1 }
    defer {
      downloads.withLock { downloads in
        downloads[String(token)]?.sent -= 1
        downloads[String(token)]?.lastUse = .now
      }
    }
    try await body()
  }
}
