import Foundation
import TestOrigin
import Testing

@testable import Thumbnailer

/// Local files through libcurl.
@Suite(.timeLimit(.minutes(1)))
struct FileDownloadTests {
  private let folder: ScratchFolder
  private let downloader = Downloader(.quick())

  init() throws { folder = try ScratchFolder() }

  @Test func readsAFileThatTheUserNamed() async throws {
    let bytes = noise(1000)
    let observer = RecordingObserver()
    let download = try await fetch(try file("a b#%20ü\n.jpg", bytes), observer: observer)
    #expect(try download.bytes == bytes)
    #expect(download.status == 0)
    #expect(download.expectedBytes == 1000)
    #expect(download.isComplete)
    #expect(download.httpVersion == "")
    #expect(observer.begins == [1000])
    #expect(observer.bytes == bytes)
  }

  @Test func aLargeFileIsItsOwnBody() async throws {
    let bytes = noise(800_000)
    let download = try await fetch(try file("large", bytes))
    guard case .file = download.body else {
      Issue.record("in memory")
      return
    }
    #expect(try download.bytes == bytes)
    #expect(folder.contents == ["large"])
  }

  @Test func theObserverAndTheLimitHoldForFiles() async throws {
    let url = try file("large", noise(800_000))
    let enough = try await fetch(url, observer: RecordingObserver { $0 > 300_000 ? .enough : .more })
    #expect(!enough.isComplete)
    #expect(try enough.bytes == Array(noise(800_000)[..<enough.receivedBytes]))
    #expect(await failure(url, limit: 1000) == .tooLarge(limit: 1000, announced: 800_000))
  }

  @Test func filesAreForbiddenUnlessAllowed() async throws {
    #expect(await downloader.failure(of: try file("a", [1])) == .fileNotAllowed)
  }

  @Test func tellsWhatIsWrongWithAFile() async throws {
    #expect(await failure(folder.url.appending(path: "missing.jpg")) == .fileNotFound)
    #expect(await failure(folder.url) == .fileUnreadable(reason: "it is a folder"))
    let pipe = folder.url.appending(path: "pipe")
    #expect(mkfifo(pipe.path, 0o600) == 0)
    #expect(await failure(pipe) == .fileUnreadable(reason: "it is no regular file"))
    #expect(try await fetch(try file("empty", [])).body.count == 0)
  }

  @Test func filesAreNotLimitedLikeAHost() async throws {
    let downloader = Downloader(.quick { $0.maximumDownloadsPerHost = 1 })
    let url = try file("a", noise(100))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask {
          _ = try await downloader.download(
            DownloadRequest(url: url, allowsFile: true, byteLimit: 100), priority: PriorityControl(.prefetch))
        }
      }
      try await group.waitForAll()
    }
    #expect(downloader.activeDownloads == 0)
  }

  private func file(_ name: String, _ bytes: [UInt8]) throws -> URL {
    let url = folder.url.appending(path: name)
    try Data(bytes).write(to: url)
    return url
  }

  private func fetch(
    _ url: URL, limit: Int = 1 << 20, observer: (any BodyObserver)? = nil
  ) async throws(DownloadError) -> Download {
    try await downloader.download(
      DownloadRequest(url: url, allowsFile: true, byteLimit: limit), observer: observer,
      priority: PriorityControl(.visible))
  }

  private func failure(_ url: URL, limit: Int = 1 << 20) async -> DownloadError? {
    do {
      _ = try await fetch(url, limit: limit)
      return nil
    } catch {
      return error
    }
  }
}

/// Bodies on their way to a file.
@Suite
struct BodyStoreTests {
  @Test func saysWhichDirectoryTakesNothing() throws {
    var store = BodyStore(memoryLimit: 10, overflow: .spill(directories: ["/nonexistent/a", "/dev/null"]))
    try append([UInt8](repeating: 1, count: 10), to: &store)
    do {
      try append([2], to: &store)
      Issue.record("stored")
    } catch DownloadError.cannotStoreBody(let path, let reason) {
      #expect(path == "/nonexistent/a")
      #expect(reason == "No such file or directory")
    }
  }

  @Test func keepsEveryByteAcrossTheLimit() throws {
    let folder = try ScratchFolder()
    let bytes = noise(10_000)
    for piece in [1, 7, 999, 10_000] {
      var store = BodyStore(memoryLimit: 2500, overflow: .spill(directories: [folder.url.path]))
      store.prepare(for: 1 << 40)
      for start in stride(from: 0, to: bytes.count, by: piece) {
        try append(Array(bytes[start..<min(start + piece, bytes.count)]), to: &store)
      }
      #expect(try store.finish().read(at: 0, length: 20_000) == bytes)
      #expect(folder.contents.isEmpty)
    }
  }

  private func append(_ bytes: [UInt8], to store: inout BodyStore) throws {
    try bytes.withUnsafeBytes { try store.append($0) }
  }
}
