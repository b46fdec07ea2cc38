@testable import HTTPTransport
@testable import ThumbnailCore

/// Local files, opened in place of a download.
@Suite(.timeLimit(.minutes(5))) struct LocalFileTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  @Test func aFileIsItsOwnBody() throws {
    for count in [16_385, 800_000] {
      let file = try open(try write("a b#%20ü\n.jpg", noise(count)))
      guard case .file = file.body else {
        Issue.record("in memory")
        return
      }
      #expect(try file.body.read(at: 0, length: 1 << 20) == noise(count))
      #expect(!file.hasChanged)
    }
    #expect(folder.contents == ["a b#%20ü\n.jpg"])
  }

  @Test func aSmallFileIsReadAtOnce() throws {
    for count in [0, 1, 1000, 16_384] {
      let file = try open(try write("small.jpg", noise(count)))
      guard case .memory(let bytes) = file.body else {
        Issue.record("not in memory")
        return
      }
      #expect(bytes == noise(count))
      #expect(!file.hasChanged)
    }
    let path = try write("changed.jpg", noise(1000))
    let file = try open(path)
    #expect(truncate(path, 10) == 0)
    #expect(file.hasChanged)
    #expect(file.body.count == 1000)
  }

  @Test func tellsWhatIsWrongWithAFile() throws {
    #expect(failure(path("missing.jpg")) == .fileNotFound)
    #expect(failure(try write("file", [1]) + "/below") == .fileNotFound)
    #expect(failure(folder.url.path) == .fileUnreadable(reason: "it is a folder; name a file in it"))
    #expect(failure("/dev/null") == .fileUnreadable(reason: "it is not a regular file"))
    #expect(failure(try write("large", noise(1001)), limit: 1000) == .tooLarge(limit: 1000, announced: 1001))
    #expect(try open(try write("empty", [])).body.count == 0)
    #expect(try open(try write("just right", noise(1000)), limit: 1000).body.count == 1000)
  }

  @Test func aPipeOrSocketIsRefusedWithoutWaitingForItsOtherEnd() throws {
    #expect(mkfifo(path("pipe"), 0o600) == 0)
    #expect(failure(path("pipe")) == .fileUnreadable(reason: "it is not a regular file"))
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path("socket").utf8)) }
    let bound = withUnsafeBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) {
        bind(listener, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(bound == 0)
    #expect(failure(path("socket")) == .fileUnreadable(reason: "it is not a regular file"))
  }

  @Test func aFileThatIsWrittenToHasChanged() throws {
    let path = try write("a.jpg", noise(20_000))
    let file = try open(path)
    #expect(truncate(path, 10) == 0)
    #expect(file.hasChanged)
    #expect(try file.body.read(at: 0, length: 20_000).count == 10)
    let other = try open(try write("b.jpg", noise(1000)))
    // To put another in its place changes nothing for who has it open.
    try FileManager.default.removeItem(atPath: self.path("b.jpg"))
    _ = try write("b.jpg", noise(5))
    #expect(!other.hasChanged)
    #expect(try other.body.read(at: 0, length: 2000).count == 1000)
  }

  private func path(_ name: String) -> String { folder.url.appending(path: name).path }

  private func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: folder.url.appending(path: name))
    return path(name)
  }

  private func open(_ path: String, limit: Int = 1 << 20) throws(DownloadError) -> LocalFile {
    try LocalFile(path: RawPath(path), byteLimit: limit)
  }

  private func failure(_ path: String, limit: Int = 1 << 20) -> DownloadError? {
    do {
      _ = try open(path, limit: limit)
      return nil
    } catch {
      return error
    }
  }
}
