@testable import HTTPSemantics
@testable import HTTPTransport
@testable import ThumbnailCore

/// What a download gives back, and what it asks for.
@Suite(.timeLimit(.minutes(5))) struct DownloaderTests {
  @Test func givesTheBodyAndHowItCame() async throws {
    let bytes = noise(5000)
    let origin = try Origin { _ in .ok(bytes, type: "image/png").header("ETag", "\"x\"") }
    let observer = RecordingObserver()
    let download = try await Downloader(.quick()).fetch(origin.url("/a.png"), observer: observer)
    #expect(try download.bytes == bytes)
    #expect(download.isComplete)
    #expect(download.receivedBytes == 5000)
    #expect(download.expectedBytes == 5000)
    #expect(download.status == 200)
    #expect(download.headers.firstValue(of: "etag") == "\"x\"")
    #expect(download.headers.firstValue(of: "Content-Type") == "image/png")
    #expect(download.url.text == origin.url("/a.png").absoluteString)
    #expect(download.attempts == 1)
    #expect(download.httpVersion == "1.1")
    #expect(download.duration > .zero)
    #expect(observer.begins == [5000])
    #expect(observer.bytes == bytes && observer.offsetsFit)
  }

  @Test func asksForPicturesUnderItsNameUncompressed() async throws {
    let origin = try Origin { _ in .ok([1]) }
    let downloader = Downloader(.quick())
    _ = try await downloader.fetch(origin.url("/plain"))
    _ = try await downloader.fetch(
      origin.url("/own"), headers: [.init("Accept", "image/gif"), .init("User-Agent", "me"), .init("X-Empty", "")])
    let plain = try #require(origin.requests(for: "/plain").first).request
    #expect(plain.value(of: "Accept") == "image/jpeg,image/png,image/webp;q=0.9,*/*;q=0.8")
    #expect(plain.value(of: "User-Agent")?.hasPrefix("libcurl/") == true)
    #expect(plain.value(of: "Accept-Encoding") == "identity")
    let own = try #require(origin.requests(for: "/own").first).request
    #expect(own.headers.filter { $0.name.lowercased() == "accept" }.map(\.value) == ["image/gif"])
    #expect(own.headers.filter { $0.name.lowercased() == "user-agent" }.map(\.value) == ["me"])
    #expect(own.value(of: "X-Empty") == "")
  }

  @Test func usesItsConnectionAgain() async throws {
    let origin = try Origin { request in request.path == "/missing" ? .status(404, "no") : .ok(noise(100_000)) }
    let downloader = Downloader(.quick())
    for _ in 0..<5 { _ = try await downloader.fetch(origin.url()) }
    _ = await downloader.failure(of: origin.url("/missing"))
    _ = try await downloader.fetch(origin.url())
    #expect(origin.connectionCount == 1)
  }

  @Test func readsChunkedBodiesAndThoseThatEndWithTheConnection() async throws {
    let bytes = noise(700_000)
    let origin = try Origin { request in
      request.path == "/chunked" ? .ok(bytes).chunked() : .ok(bytes).untilClose()
    }
    let downloader = Downloader(.quick())
    for path in ["/chunked", "/close"] {
      let download = try await downloader.fetch(origin.url(path))
      #expect(try download.bytes == bytes)
      #expect(download.isComplete)
      #expect(download.expectedBytes == nil)
    }
  }

  @Test func keepsLargeBodiesInAFileThatNobodySees() async throws {
    let folder = try TemporaryDirectory()
    let bytes = noise(900_000)
    let gate = Gate()
    let origin = try Origin { _ in .ok(bytes).stalling(after: 600_000, until: gate) }
    let downloader = Downloader(.quick { $0.spillDirectory = folder.url })
    let observer = RecordingObserver()
    async let running = downloader.fetch(origin.url(), observer: observer)
    #expect(await eventually { observer.bytes.count == 600_000 })
    #expect(folder.contents.isEmpty)
    gate.open()
    let download = try await running
    guard case .file(_, count: 900_000) = download.body else {
      Issue.record("not in a file: \(download.body.count)")
      return
    }
    #expect(try download.bytes == bytes)
    #expect(folder.contents.isEmpty)
  }

  @Test func keepsBodiesUpToTheLimitInMemory() async throws {
    let origin = try Origin { request in .ok(noise(Int(request.path.dropFirst()) ?? 0)) }
    let downloader = Downloader(.quick())
    guard case .memory = try await downloader.fetch(origin.url("/262144")).body else {
      Issue.record("256 KiB are in a file")
      return
    }
    guard case .file = try await downloader.fetch(origin.url("/262145")).body else {
      Issue.record("more than 256 KiB are in memory")
      return
    }
  }

  @Test func givesAnEmptyBodyAsItIs() async throws {
    let origin = try Origin { request in request.path == "/204" ? .status(204) : .ok([]) }
    let downloader = Downloader(.quick())
    for path in ["/200", "/204"] {
      let download = try await downloader.fetch(origin.url(path))
      #expect(download.body.count == 0)
      #expect(download.isComplete)
    }
  }

  @Test func unpacksWhatAServerCompressesUnasked() async throws {
    let bytes = noise(400_000)
    let origin = try Origin { _ in .ok(gzip(bytes)).header("Content-Encoding", "gzip") }
    let observer = RecordingObserver()
    let download = try await Downloader(.quick()).fetch(origin.url(), observer: observer)
    #expect(try download.bytes == bytes)
    #expect(observer.bytes == bytes && observer.begins == [nil])
    #expect(download.expectedBytes == nil && download.isComplete)
  }

  @Test(arguments: ["binary", "gzip", "identity", "x-made-up"])
  func takesTheBodyAsItIsWhereItIsNotCompressedAsTheServerSays(encoding: String) async throws {
    let origin = try Origin { _ in .ok(noise(5000)).header("Content-Encoding", encoding) }
    let observer = RecordingObserver()
    let download = try await Downloader(.quick { $0.retry.maximumAttempts = 1 }).fetch(origin.url(), observer: observer)
    #expect(try download.bytes == noise(5000))
    #expect(observer.bytes == noise(5000))
    #expect(origin.requests.allSatisfy { $0.request.value(of: "Accept-Encoding") == "identity" })
  }

  @Test(arguments: [false, true])
  func takesNoPackedBytesForAPictureWhenTheirEndIsDamaged(hasMoreBehind: Bool) async throws {
    var packed = gzip(noise(300_000))
    // The length of the third piece.
    if hasMoreBehind { packed += [1, 2, 3] } else { packed[10 + 2 * (65535 + 5) + 1] ^= 1 }
    let body = packed
    let origin = try Origin { _ in .ok(body).header("Content-Encoding", "gzip") }
    guard case .invalidResponse(let reason) = await Downloader(.quick()).failure(of: origin.url()) else {
      Issue.record("not told apart from a body that is not compressed")
      return
    }
    #expect(!reason.contains("disk"), "\(reason)")
    #expect(origin.requests.count == 1)
  }

  @Test func waitsForNoSlotWithMemoryInHandWhenABodyIsFetchedOnceMore() async throws {
    let origin = try Origin { _ in .ok(noise(5000)).header("Content-Encoding", "x-made-up") }
    let configuration = DownloadConfiguration.quick { $0.maximumDownloads = 1 }
    // There is room for one body: who had it while waiting would wait for whoever has the slot and needs the room.
    let downloader = Downloader(configuration, bodyMemory: WeightedSemaphore(capacity: configuration.memoryBodyLimit))
    try await withThrowingTaskGroup { group in
      for number in 0..<4 {
        group.addTask { try await downloader.fetch(origin.url("/\(number)")).body.count }
      }
      for try await count in group { #expect(count == 5000) }
    }
  }

  @Test func refusesWhatItCannotFetchBeforeAnyConnection() async throws {
    let origin = try Origin { _ in .ok([1]) }
    let downloader = Downloader(.quick())
    #expect(await downloader.failure(of: try url("ftp://127.0.0.1/a")) == .unsupportedScheme("ftp"))
    #expect(await downloader.failure(of: try url("data:image/png,1")) != nil)
    #expect(await downloader.failure(of: try url("a/b.jpg")) != nil)
    #expect(await downloader.failure(of: try url("http://127.0.0.1:99999/a.jpg")) == .invalidURL)
    #expect(
      await downloader.failure(of: origin.url(), headers: [.init("X-A", "1\r\nHost: evil")])
        == .invalidHeader(name: "X-A"))
    #expect(await downloader.failure(of: origin.url(), headers: [.init("X A", "1")]) == .invalidHeader(name: "X A"))
    #expect(origin.connectionCount == 0)
  }

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }
}
