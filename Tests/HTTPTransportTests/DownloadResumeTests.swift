@testable import HTTPTransport
@testable import ThumbnailCore

/// Bodies that break off and are gone on with, within a download and across runs.
@Suite(.timeLimit(.minutes(5))) struct DownloadResumeTests {
  private static let size = 3 << 20
  // Made once for all tests.
  private static let body = noise(size)
  private var bytes: [UInt8] { Self.body }

  /// A server that takes ranges and breaks off after so many bytes of each answer, as long as there are cuts left.
  private final class CuttingOrigin: Sendable {
    let origin: Origin

    init(
      _ bytes: [UInt8], cuts: [Int], etag: @escaping @Sendable (Int) -> String? = { _ in "\"one\"" },
      acceptsRanges: Bool = true,
      answer: @escaping @Sendable (OriginRequest, OriginResponse) -> OriginResponse = { $1 }
    ) throws {
      let left = Mutex(cuts)
      origin = try Origin { request in
        let tag = etag(request.number)
        var response = OriginResponse.ok(bytes)
        let range = request.value(of: "Range").flatMap { Int($0.dropFirst(6).dropLast()) }
        if let range, acceptsRanges, let tag, request.value(of: "If-Range") == tag {
          response = OriginResponse(
            status: 206, headers: [("Content-Range", "bytes \(range)-\(bytes.count - 1)/\(bytes.count)")],
            body: Array(bytes[range...]))
        }
        if let tag { response = response.header("ETag", tag) }
        if acceptsRanges { response = response.header("Accept-Ranges", "bytes") }
        response = answer(request, response)
        guard let cut = left.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return response }
        return response.truncated(after: cut)
      }
    }

    /// The bytes of bodies that were sent in all.
    var sent: Int { origin.requests.reduce(0) { $0 + $1.bodyBytesSent } }
    var ranges: [String?] { origin.requests.map { $0.request.value(of: "Range") } }
  }

  private func store(_ folder: TemporaryDirectory, limit: Int = 64 << 20) -> PartialStore {
    PartialStore(directory: folder.url.appending(path: "partial"), byteLimit: limit)
  }

  private func request(_ origin: Origin, key: String = "picture", path: String = "/a") -> DownloadRequest {
    DownloadRequest(url: origin.url(path), byteLimit: 64 << 20, key: SourceKey(identity: key, headers: []))
  }

  // MARK: Within a download

  @Test func goesOnWhereTheBodyBrokeOff() async throws {
    let server = try CuttingOrigin(bytes, cuts: [1_000_000, 1_000_000])
    let observer = RecordingObserver()
    let download = try await Downloader(.quick()).fetch(server.origin.url(), observer: observer)
    #expect(try download.bytes == bytes)
    #expect(observer.bytes == bytes && observer.offsetsFit && observer.begins == [bytes.count])
    #expect(server.ranges == [nil, "bytes=1000000-", "bytes=2000000-"])
    #expect(server.sent == bytes.count)
  }

  @Test func tenCutsFetchLittleTwice() async throws {
    // Ten breaks of one body, more than a download has attempts: each brought it on.
    var random = SystemRandomNumberGenerator()
    let cuts = (0..<10).map { _ in Int.random(in: 264_000...290_000, using: &random) }
    let server = try CuttingOrigin(bytes, cuts: cuts)
    let download = try await Downloader(.quick()).fetch(server.origin.url())
    #expect(try download.bytes == bytes)
    #expect(download.attempts == 11)
    #expect(server.sent <= bytes.count * 105 / 100)
  }

  @Test func breaksWithoutProgressAreCounted() async throws {
    let server = try CuttingOrigin(bytes, cuts: [1_000_000] + Array(repeating: 1000, count: 20))
    #expect(await Downloader(.quick()).failure(of: server.origin.url())?.kind == "brokenOff")
    // The first brought it on and stands for one of four.
    #expect(server.origin.requests.count == 4)
  }

  @Test func aChangedPictureStartsAnew() async throws {
    let server = try CuttingOrigin(bytes, cuts: [1_000_000], etag: { $0 == 1 ? "\"one\"" : "\"two\"" })
    let observer = RecordingObserver()
    let download = try await Downloader(.quick()).fetch(server.origin.url(), observer: observer)
    #expect(try download.bytes == bytes)
    #expect(observer.begins.count == 2 && observer.bytes == bytes)
    #expect(server.ranges == [nil, "bytes=1000000-"])
  }

  @Test(arguments: ["W/\"weak\"", nil, "naked"]) func withoutAStrongTagNothingIsGoneOnWith(etag: String?) async throws {
    let server = try CuttingOrigin(bytes, cuts: [1_000_000], etag: { _ in etag })
    #expect(try await Downloader(.quick()).fetch(server.origin.url()).bytes == bytes)
    #expect(server.ranges == [nil, nil])
  }

  @Test func withoutRangesNothingIsGoneOnWith() async throws {
    let server = try CuttingOrigin(bytes, cuts: [1_000_000], acceptsRanges: false)
    #expect(try await Downloader(.quick()).fetch(server.origin.url()).bytes == bytes)
    #expect(server.ranges == [nil, nil])
  }

  @Test func aBodyThatFitsInMemoryStartsAnew() async throws {
    let small = noise(200_000)
    let server = try CuttingOrigin(small, cuts: [100_000])
    #expect(try await Downloader(.quick()).fetch(server.origin.url()).bytes == small)
    #expect(server.ranges == [nil, nil])
  }

  @Test(arguments: [
    "bytes 0-3145727/3145728", "bytes 1000001-3145727/3145728", "bytes 1000000-3145727/3145729", "x", nil,
  ])
  func aWrongRangeStartsAnew(range: String?) async throws {
    let server = try CuttingOrigin(
      bytes, cuts: [1_000_000],
      answer: { [bytes] request, response in
        guard request.number == 2 else { return response }
        let answer = OriginResponse(status: 206, body: Array(bytes[1_000_000...])).header("ETag", "\"one\"")
        return range.map { answer.header("Content-Range", $0) } ?? answer
      })
    #expect(try await Downloader(.quick()).fetch(server.origin.url()).bytes == bytes)
    #expect(server.ranges == [nil, "bytes=1000000-", nil])
  }

  @Test func aRestWithoutATagStartsAnew() async throws {
    // A server that knows ranges but not If-Range: its rest may be that of another picture of the same length.
    let other = Array(bytes.reversed())
    let server = try CuttingOrigin(
      bytes, cuts: [1_000_000],
      answer: { request, response in
        guard request.number == 2 else { return response }
        return OriginResponse(
          status: 206, headers: [("Content-Range", "bytes 1000000-\(Self.size - 1)/\(Self.size)")],
          body: Array(other[1_000_000...]))
      })
    #expect(try await Downloader(.quick()).fetch(server.origin.url()).bytes == bytes)
    #expect(server.ranges == [nil, "bytes=1000000-", nil])
  }

  @Test(arguments: [500, 503]) func aServerErrorInBetweenLosesNothing(status: Int) async throws {
    let server = try CuttingOrigin(
      bytes, cuts: [1_000_000],
      answer: { request, response in
        [2, 3].contains(request.number) ? .status(status) : response
      })
    #expect(try await Downloader(.quick()).fetch(server.origin.url()).bytes == bytes)
    let rest = "bytes=1000000-"
    #expect(server.ranges == [nil, rest, status == 503 ? nil : rest, rest])
  }

  @Test(arguments: [400, 403, 404, 405, 412, 416, 501, 503])
  func aServerThatRefusesTheRestIsAskedForTheWhole(status: Int) async throws {
    let server = try CuttingOrigin(
      bytes, cuts: [1_000_000],
      answer: { request, response in
        request.value(of: "Range") == nil ? response : .status(status)
      })
    let observer = RecordingObserver()
    #expect(try await Downloader(.quick()).fetch(server.origin.url(), observer: observer).bytes == bytes)
    #expect(server.ranges == [nil, "bytes=1000000-", nil] && observer.begins == [bytes.count, bytes.count])
  }

  @Test func whatTheWholeIsRefusedWithCounts() async throws {
    let server = try CuttingOrigin(
      bytes, cuts: [1_000_000],
      answer: { request, response in
        request.number == 1 ? response : .status(request.number == 2 ? 400 : 410)
      })
    #expect(await Downloader(.quick()).failure(of: server.origin.url()) == .httpStatus(410, retryAfter: nil))
    #expect(server.origin.requests.count == 3)
  }

  @Test func aPartThatNobodyAskedForIsNoPicture() async throws {
    let origin = try Origin { _ in
      OriginResponse(status: 206, headers: [("Content-Range", "bytes 0-9/20")], body: noise(10))
    }
    #expect(
      await Downloader(.quick()).failure(of: origin.url())
        == .invalidResponse(reason: "a part of the file that was not requested"))
  }

  // MARK: Across runs

  /// Whether nobody holds a file of the folder.
  private static func canLockAll(in folder: String) -> Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.allSatisfy { name in
      let descriptor = open("\(folder)/\(name)", O_RDWR | O_CLOEXEC)
      defer { close(descriptor) }
      return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
  }

  /// A downloader after a transfer that has ended early.
  private func cutOff(by server: CuttingOrigin, _ folder: TemporaryDirectory) async throws -> Downloader {
    let downloader = Downloader(
      .quick {
        $0.partialBodies = store(folder)
        $0.retry.maximumAttempts = 1
      })
    await #expect(throws: DownloadError.self) {
      try await downloader.download(request(server.origin), priority: .init(.visible))
    }
    return downloader
  }

  @Test func anotherRunGoesOnWithALargeBody() async throws {
    let folder = try TemporaryDirectory()
    let server = try CuttingOrigin(bytes, cuts: [1_500_000])
    _ = try await cutOff(by: server, folder)
    let partial = folder.url.path + "/partial"
    #expect(try FileManager.default.contentsOfDirectory(atPath: partial).count == 2)
    // The thread that received the body lets go of it a moment after the error is known.
    let isFree = await eventually { Self.canLockAll(in: partial) }
    #expect(isFree)

    let observer = RecordingObserver()
    let second = Downloader(.quick { $0.partialBodies = store(folder) })
    let download = try await second.download(
      request(server.origin), observer: observer, priority: PriorityControl(.visible))
    #expect(try download.bytes == bytes)
    #expect(observer.bytes == bytes && observer.offsetsFit && observer.begins == [bytes.count])
    #expect(server.ranges == [nil, "bytes=1500000-"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path + "/partial").isEmpty)
  }

  @Test func aCancelledDownloadIsKept() async throws {
    let folder = try TemporaryDirectory()
    let server = try CuttingOrigin(
      bytes, cuts: [],
      answer: { request, response in
        request.number == 1 ? response.stalling(after: 2_000_000) : response
      })
    let downloader = Downloader(.quick { $0.partialBodies = store(folder) })
    let observer = RecordingObserver()
    let task = Task {
      try await downloader.download(request(server.origin), observer: observer, priority: .init(.visible))
    }
    #expect(await eventually { observer.bytes.count == 2_000_000 })
    task.cancel()
    await #expect(throws: DownloadError.cancelled) { try await task.value }
    #expect(try await downloader.download(request(server.origin), priority: .init(.visible)).bytes == bytes)
    #expect(server.ranges == [nil, "bytes=2000000-"])
  }

  @Test func cancellingBeforeTheAnswerKeepsWhatWasThere() async throws {
    let folder = try TemporaryDirectory()
    let gate = Gate()
    let server = try CuttingOrigin(
      bytes, cuts: [1_500_000],
      answer: { request, response in
        request.number == 2 ? response.held(by: gate) : response
      })
    let downloader = try await cutOff(by: server, folder)
    let task = Task { try await downloader.download(request(server.origin), priority: .init(.visible)) }
    #expect(await eventually { server.origin.requests.count == 2 })
    task.cancel()
    await #expect(throws: DownloadError.cancelled) { try await task.value }
    gate.open()
    #expect(try await downloader.download(request(server.origin), priority: .init(.visible)).bytes == bytes)
    #expect(server.ranges == [nil, "bytes=1500000-", "bytes=1500000-"])
  }

  @Test func anObserverThatHasEnoughOfTheOldBytesEndsTheTransfer() async throws {
    let folder = try TemporaryDirectory()
    let server = try CuttingOrigin(bytes, cuts: [1_500_000])
    let downloader = try await cutOff(by: server, folder)
    let download = try await downloader.download(
      request(server.origin), observer: RecordingObserver { $0 > 1_000_000 ? .enough : .more },
      priority: .init(.visible))
    #expect(!download.isComplete && download.body.count == 1_500_000)
  }

  @Test func aBodyThatReplacesAnEarlierOneIsKeptWhileTheStoreIsBusy() async throws {
    let folder = try TemporaryDirectory()
    let attemptsReceived = DispatchSemaphore(value: 0)
    let cut = 1_500_000
    // The server ignores ranges, and the store's thread is busy until both bodies have arrived as far as they do.
    let origin = try Origin { [bytes] request in
      if request.number == 2 {
        PartialStore.onThread {
          // Real time: so that a failure ends the test.
          for _ in 0..<2 { _ = attemptsReceived.wait(timeout: .now() + 120) }
        }
      }
      return .ok(bytes).header("ETag", "\"one\"").header("Accept-Ranges", "bytes").truncated(after: cut)
    }
    let downloader = Downloader(
      .quick {
        $0.partialBodies = store(folder)
        $0.retry.maximumAttempts = 2
      })
    let observer = RecordingObserver { seen in
      if seen == cut { attemptsReceived.signal() }
      return .more
    }
    await #expect(throws: DownloadError.self) {
      try await downloader.download(request(origin), observer: observer, priority: .init(.visible))
    }
    #expect(observer.begins.count == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path + "/partial").count == 2)
  }

  @Test func aDownloadWithoutAnEarlierBodyDoesNotWaitForTheStore() async throws {
    let folder = try TemporaryDirectory()
    let isDone = DispatchSemaphore(value: 0)
    let hasWaited = Atomic(false)
    let server = try CuttingOrigin(noise(1000), cuts: [])
    let downloader = Downloader(.quick { $0.partialBodies = store(folder) })
    async let stored: Void = PartialStore.onThread {
      // Real time: so that a failure ends the test.
      hasWaited.store(isDone.wait(timeout: .now() + 240) == .timedOut, ordering: .relaxed)
    }
    #expect(try await downloader.download(request(server.origin), priority: .init(.visible)).bytes == noise(1000))
    isDone.signal()
    await stored
    let isLate = hasWaited.load(ordering: .relaxed)
    #expect(!isLate)
  }

  @Test func anotherPictureOrAddressDoesNotGetIt() async throws {
    let folder = try TemporaryDirectory()
    let server = try CuttingOrigin(bytes, cuts: [1_500_000])
    let downloader = try await cutOff(by: server, folder)
    for (key, path) in [("other", "/a"), ("picture", "/b")] {
      let download = try await downloader.download(
        request(server.origin, key: key, path: path), priority: .init(.visible))
      #expect(try download.bytes == bytes)
    }
    #expect(server.ranges == [nil, nil, nil])
  }
}
