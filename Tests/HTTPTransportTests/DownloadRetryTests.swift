@testable import HTTPTransport

/// What is tried again, what is not, and which deadlines end a download.
@Suite(.timeLimit(.minutes(5))) struct DownloadRetryTests {
  @Test(arguments: [408, 429, 500, 502, 503, 504]) func triesPassingFailuresAgain(status: Int) async throws {
    let origin = try Origin { request in request.number < 3 ? .status(status, "later") : .ok([7]) }
    let download = try await Downloader(.quick()).fetch(origin.url())
    #expect(download.attempts == 3)
    #expect(try download.bytes == [7])
  }

  @Test(arguments: [400, 401, 403, 404, 410, 304]) func reportsLastingFailuresAtOnce(status: Int) async throws {
    let origin = try Origin { _ in .status(status, "no") }
    #expect(await Downloader(.quick()).failure(of: origin.url()) == .httpStatus(status, retryAfter: nil))
    #expect(origin.requests.count == 1)
  }

  @Test func waitsAsLongAsTheServerAsks() async throws {
    let origin = try Origin { request in request.number == 1 ? .tooManyRequests(retryAfter: "100") : .ok([1]) }
    let pauses = Recorder<Duration>()
    let download = try await Downloader(.quick { $0.sleep = { pauses.append($0) } }).fetch(origin.url())
    #expect(download.attempts == 2 && pauses.values.map { $0 >= .seconds(100) } == [true])
  }

  @Test func doesNotWaitLongerThanItMay() async throws {
    let origin = try Origin { _ in .tooManyRequests(retryAfter: "50") }
    let downloader = Downloader(.quick { $0.maximumWait = .seconds(5) })
    #expect(await downloader.failure(of: origin.url()) == .httpStatus(429, retryAfter: .seconds(50)))
    #expect(origin.requests.count == 1)
  }

  @Test func triesBrokenBodiesAgain() async throws {
    let bytes = noise(40_000)
    let origin = try Origin { request in
      switch request.number {
      case 1: .ok(bytes).truncated(after: 100)
      case 2: .ok(bytes).reset(after: 20_000)
      case 3: .ok(bytes).chunked().truncated(after: 30_000)
      default: .ok(bytes)
      }
    }
    let download = try await Downloader(.quick()).fetch(origin.url())
    #expect(download.attempts == 4)
    #expect(try download.bytes == bytes)
  }

  @Test func tellsHowFarABrokenBodyGot() async throws {
    let origin = try Origin { _ in .ok(noise(1000)).announcing(1500) }
    #expect(await Downloader(.quick()).failure(of: origin.url()) == .brokenOff(received: 1000, expected: 1500))
    #expect(origin.requests.count == 4)
  }

  @Test func takesNoMoreThanWasAnnounced() async throws {
    let bytes = noise(1000)
    let origin = try Origin { _ in .ok(bytes).announcing(400) }
    #expect(try await Downloader(.quick()).fetch(origin.url()).bytes == Array(bytes[..<400]))
  }

  @Test func aRefusedConnectionIsUnreachable() async throws {
    let origin = try Origin { _ in .ok([1]) }
    let url = origin.url()
    origin.stop()
    #expect(await Downloader(.quick()).failure(of: url)?.kind == "unreachable")
  }

  @Test func aConnectionThatNobodyAcceptsTimesOut() async throws {
    let listener = try DeafListener()
    let downloader = Downloader(
      // Real time: libcurl's own; only has to pass.
      .quick {
        $0.connectTimeout = .milliseconds(200)
        $0.retry.maximumAttempts = 1
      })
    let url = try #require(URL(string: "http://127.0.0.1:\(listener.port)/"))
    #expect(await downloader.failure(of: url) == .timedOut(.connect))
  }

  @Test func silenceInTheBodyIsAStallAndTriedAgain() async throws {
    let origin = try Origin { request in
      request.number == 1 ? .ok(noise(1000)).stalling(after: 10) : .ok(noise(1000))
    }
    // Real time: that of libcurl's thread, which sleeps until bytes come; only has to pass.
    let downloader = Downloader(.quick { ($0.stallTimeout, $0.retry.maximumAttempts) = (.milliseconds(500), 1000) })
    let download = try await downloader.fetch(origin.url())
    // More than one when the machine itself was silent for so long.
    #expect(download.attempts >= 2)
    #expect(try download.bytes == noise(1000))
  }

  @Test func theTotalDeadlineEndsWhatNeverStalls() async throws {
    let origin = try Origin { _ in .ok(noise(4000)).dripping(bytes: 1, every: .milliseconds(5)) }
    // Real time: only has to pass.
    let downloader = Downloader(.quick { $0.totalTimeout = .milliseconds(150) })
    #expect(await downloader.failure(of: origin.url()) == .timedOut(.total))
    // None where the time was up before the connection stood.
    #expect(origin.requests.count <= 1)
    #expect(await eventually { origin.openConnections == 0 })
  }

  @Test func theStatusCountsEvenIfItsPageBreaksOffOrStalls() async throws {
    let origin = try Origin { request in
      request.path == "/stall"
        ? .status(404, "not found").stalling(after: 2) : .status(404, "not found").truncated(after: 2)
    }
    // Real time: only has to pass; where the machine is silent for so long, it is tried again.
    let downloader = Downloader(.quick { ($0.stallTimeout, $0.retry.maximumAttempts) = (.seconds(1), 1000) })
    for path in ["/stall", "/cut"] {
      #expect(await downloader.failure(of: origin.url(path)) == .httpStatus(404, retryAfter: nil))
    }
  }

  @Test func theHandshakeOfACancelledTransferHoldsNobodyUp() async throws {
    // The origin waits for a request line in what is the beginning of a TLS handshake: it never answers.
    let origin = try Origin { _ in .ok([1]) }
    let url = try #require(URL(string: "https://127.0.0.1:\(origin.port)/"))
    let downloader = Downloader(.quick { $0.connectTimeout = .seconds(3600) })
    let first = Task { await downloader.failure(of: url) }
    #expect(await eventually { origin.openConnections == 1 })
    let second = Task { await downloader.failure(of: url) }
    #expect(await eventually { downloader.activeDownloads == 2 })
    first.cancel()
    #expect(await first.value == .cancelled)
    #expect(await eventually { origin.connectionCount == 2 })
    second.cancel()
    #expect(await second.value == .cancelled)
  }

  @Test func whatIsNoHTTPIsAnInvalidAnswer() async throws {
    let listener = try DeafListener(saying: "SSH-2.0-x\r\n")
    let url = try #require(URL(string: "http://127.0.0.1:\(listener.port)/"))
    #expect(await Downloader(.quick()).failure(of: url)?.kind == "invalidResponse")
  }
}

/// Listens, and never accepts; or accepts once and says a few words. With a full backlog connections hang.
private final class DeafListener {
  let port: Int
  private var sockets: [Int32] = []

  init(saying text: String? = nil) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    sockets.append(listener)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout.size(ofValue: address))
    withUnsafeMutablePointer(to: &address) { pointer in
      _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) + listen(listener, 0) + getsockname(listener, $0, &length)
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    if let text {
      Thread.detachNewThread {
        let client = accept(listener, nil, nil)
        let bytes = Array(text.utf8)
        _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        close(client)
      }
      return
    }
    // Fill the backlog: the kernel then drops further attempts to connect.
    for _ in 0..<4 {
      let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      _ = fcntl(client, F_SETFL, O_NONBLOCK)
      withUnsafePointer(to: &address) { pointer in
        _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, length) }
      }
      sockets.append(client)
    }
  }

  deinit { for socket in sockets { close(socket) } }
}
