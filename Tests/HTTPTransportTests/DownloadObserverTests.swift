@testable import HTTPTransport
@testable import ThumbnailCore

/// How an observer and the byte limit end a transfer early.
@Suite(.timeLimit(.minutes(5))) struct DownloadObserverTests {
  private static let bytes = noise(3_000_000)

  @Test func enoughEndsTheTransferAndKeepsWhatCame() async throws {
    let origin = try Origin { _ in .ok(Self.bytes) }
    let observer = RecordingObserver { $0 >= 20_000 ? .enough : .more }
    let download = try await Downloader(.quick()).fetch(origin.url(), observer: observer)
    #expect(!download.isComplete)
    #expect(download.receivedBytes == observer.bytes.count)
    #expect((20_000..<60_000).contains(download.receivedBytes))
    #expect(download.expectedBytes == 3_000_000)
    #expect(try download.bytes == Array(Self.bytes[..<download.receivedBytes]))
    #expect(await eventually { origin.openConnections == 0 })
    #expect(origin.requests[0].outcome == .clientClosed)
    #expect(origin.requests[0].bodyBytesSent < 3_000_000)
  }

  @Test func enoughWithTheLastByteIsAWholeBodyOverAKeptConnection() async throws {
    let origin = try Origin { _ in .ok(noise(1000)) }
    let downloader = Downloader(.quick())
    for _ in 0..<2 {
      #expect(try await downloader.fetch(origin.url(), observer: RecordingObserver { _ in .enough }).isComplete)
    }
    #expect(origin.connectionCount == 1)
  }

  @Test func seesEachAttemptFromItsBeginning() async throws {
    let origin = try Origin { request in
      request.number == 1 ? .ok(noise(9000)).truncated(after: 4000) : .ok(noise(9000))
    }
    let observer = RecordingObserver()
    let download = try await Downloader(.quick()).fetch(origin.url(), observer: observer)
    #expect(download.attempts == 2)
    #expect(observer.begins == [9000, 9000])
    #expect(observer.bytes == noise(9000) && observer.offsetsFit)
  }

  @Test func neverSeesTheBodyOfAnErrorOrARedirect() async throws {
    let origin = try Origin { request in
      switch request.path {
      case "/moved": .redirect(to: "/picture")
      case "/picture": .ok([1, 2, 3])
      default: .status(503, "please wait")
      }
    }
    let downloader = Downloader(.quick())
    let first = RecordingObserver()
    _ = await downloader.failure(of: origin.url("/busy"), observer: first)
    #expect(first.begins.isEmpty && first.bytes.isEmpty)
    let second = RecordingObserver()
    _ = try await downloader.fetch(origin.url("/moved"), observer: second)
    #expect(second.begins == [3] && second.bytes == [1, 2, 3])
  }

  @Test func aBodyThatGrowsBeyondTheLimitIsCutOff() async throws {
    let origin = try Origin { request in
      request.path == "/chunked" ? .ok(Self.bytes).chunked() : .ok(Self.bytes).untilClose()
    }
    let downloader = Downloader(.quick())
    for path in ["/chunked", "/close"] {
      #expect(
        await downloader.failure(of: origin.url(path), limit: 500_000) == .tooLarge(limit: 500_000, announced: nil))
    }
    #expect(await eventually { origin.openConnections == 0 })
    #expect(origin.requests.count == 2)
  }

  // MARK: Over HTTP/1.1, what is left decides whether the connection is worth more

  @Test func aShortRestIsReadOnToKeepTheConnection() async throws {
    let origin = try Origin { _ in .ok(noise(100_000)) }
    let downloader = Downloader(.quick { $0.maximumDrainedBytes = 80_000 })
    for _ in 0..<2 {
      // What it says later, be it to refuse, is not heard.
      let observer = RecordingObserver { $0 > 60_000 ? .refuse : $0 >= 20_000 ? .enough : .more }
      let download = try await downloader.fetch(origin.url(), observer: observer)
      #expect(download.isComplete && download.receivedBytes == 100_000)
      #expect(try download.bytes == noise(100_000))
    }
    #expect(origin.connectionCount == 1)
  }

  @Test func aRestThatBreaksOffOrStallsTakesNothingAway() async throws {
    let origin = try Origin { request in
      request.path == "/reset"
        ? .ok(noise(50_000)).truncated(after: 40_000) : .ok(noise(50_000)).stalling(after: 40_000)
    }
    // Real time: only has to pass; where the machine is silent for so long before there is enough, it is tried again.
    let downloader = Downloader(.quick { ($0.stallTimeout, $0.retry.maximumAttempts) = (.seconds(1), 1000) })
    for path in ["/reset", "/stall"] {
      let asked = Counter()
      let download = try await downloader.fetch(
        origin.url(path),
        observer: RecordingObserver {
          if $0 >= 20_000, asked.value == 0 { asked.raise(to: origin.requests(for: path).count) }
          return $0 >= 20_000 ? .enough : .more
        })
      #expect(!download.isComplete && download.attempts == asked.value, "\(path)")
      #expect(try download.bytes == Array(noise(50_000)[..<download.body.count]))
      #expect((20_000...40_000).contains(download.body.count))
    }
  }
}
