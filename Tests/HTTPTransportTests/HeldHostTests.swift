@testable import HTTPTransport
@testable import ThumbnailCache

/// Pictures of hosts that ask for pauses, fail in a row, or drip.
@Suite(.timeLimit(.minutes(5))) struct HeldHostTests {
  /// The errors of so many pictures of a host, fetched at once; nil for each that came.
  private func fetch(_ count: Int, of origin: Origin, with downloader: Downloader) async -> [DownloadError?] {
    await withTaskGroup(of: DownloadError?.self) { group in
      for number in 0..<count {
        group.addTask { await downloader.failure(of: origin.url("/\(number).jpg")) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test func whoMayNotWaitFailsAtOnceAndOtherHostsGoOn() async throws {
    let busy = try Origin { _ in .tooManyRequests(retryAfter: "50") }
    let well = try Origin { _ in .ok([1]) }
    let downloader = Downloader(.quick { $0.maximumWait = .zero })
    // As many pictures as it takes, and three trials with others.
    let enough = HostHealth.Policy().suspectsOfPause + 3
    for number in 0..<enough {
      let error = await downloader.failure(of: busy.url("/\(number)"))
      #expect(error == .httpStatus(429, retryAfter: .seconds(50)))
    }
    guard case .hostPaused(let host, let left) = await downloader.failure(of: busy.url("/good")) else {
      Issue.record("asked")
      return
    }
    #expect(host == "127.0.0.1:\(busy.port)" && left > .seconds(40))
    #expect(await downloader.failure(of: well.url()) == nil)
    #expect(busy.requests.count == enough)
  }

  @Test func aClosedHostThatComesBackLosesNothing() async throws {
    let failures = Atomic(6)
    let origin = try Origin { _ in
      failures.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 ? .status(502) : .ok([1])
    }
    #expect(await fetch(40, of: origin, with: Downloader(.quick())).allSatisfy { $0 == nil })
    #expect(origin.requests.count == 46)
  }

  @Test func picturesThatAreMissingCloseNothing() async throws {
    let origin = try Origin { request in request.number % 2 == 0 ? .status(404) : .status(403) }
    let errors = await fetch(30, of: origin, with: Downloader(.quick()))
    #expect(origin.requests.count == 30)
    #expect(errors.allSatisfy { if case .httpStatus = $0 { true } else { false } })
  }

  @Test func aDripIsGivenUp() async throws {
    let origin = try Origin { request in
      request.number == 1 ? .ok(noise(4000)).dripping(bytes: 1, every: .milliseconds(20)) : .ok(noise(4000))
    }
    // Real time: the window only has to pass; where the machine is slow as well, it is tried again.
    let downloader = Downloader(
      .quick { ($0.minimumRate, $0.rateWindow, $0.retry.maximumAttempts) = (1000, .milliseconds(500), 1000) })
    let download = try await downloader.fetch(origin.url())
    #expect(download.attempts >= 2)
    #expect(try download.bytes == noise(4000))
  }

  @Test func theLastAttemptAtALargeBodyMayBeSlow() async throws {
    let bytes = noise(300_000)
    let origin = try Origin { request in
      request.path == "/small"
        ? .ok(noise(3000)).dripping(bytes: 10, every: .milliseconds(20))
        : .ok(bytes).dripping(bytes: 20_000, every: .milliseconds(60))
    }
    let downloader = Downloader(
      .quick {
        // Real time: only has to pass.
        $0.rateWindow = .milliseconds(100)
        $0.minimumRate = 100_000_000
        $0.retry.maximumAttempts = 2
      })
    let download = try await downloader.fetch(origin.url())
    #expect(try download.attempts == 2 && download.bytes == bytes)
    #expect(await downloader.failure(of: origin.url("/small")) == .timedOut(.rate))
  }

  @Test func whatBreaksOffAfterMuchOfABodyEndsAtAHeldHostToo() async throws {
    let origin = try Origin { request in
      request.number <= 3 ? .status(500) : .ok(noise(600_000)).truncated(after: 300_000)
    }
    let errors = await fetch(3, of: origin, with: Downloader(.quick()))
    #expect(errors.allSatisfy { if case .brokenOff = $0 { true } else { false } })
    // On a busy machine some that are late count less.
    #expect(origin.requests.count <= 60)
  }

  @Test func aDamagedRecordOfAHostHarmsNothing() async throws {
    let folder = try TemporaryDirectory()
    let origin = try Origin { _ in .ok([1]) }
    let site = "http://127.0.0.1:\(origin.port)"
    try Data(#"{"host \#(site)":{"until":1e300,"strikes":1}}"#.utf8)
      .write(to: folder.url.appending(path: "hosts.json"))
    let downloader = Downloader(.quick { $0.ledger = HostFile(directory: folder.url) })
    #expect(await downloader.failure(of: origin.url()) == nil)
  }

  @Test func processesThatShareACacheKnowOfEachOthersPauses() async throws {
    let folder = try TemporaryDirectory()
    let origin = try Origin { _ in .tooManyRequests(retryAfter: "50") }
    let ledgers = (0..<2).map { _ in HostFile(directory: folder.url) }
    let downloaders = ledgers.map { ledger in
      Downloader(
        .quick {
          $0.maximumWait = .zero
          $0.ledger = ledger
        })
    }
    // As many pictures as it takes, and three trials with others.
    let enough = HostHealth.Policy().suspectsOfPause + 3
    for number in 0..<enough {
      let error = await downloaders[0].failure(of: origin.url("/\(number)"))
      #expect(error == .httpStatus(429, retryAfter: .seconds(50)))
    }
    await ledgers[0].flush()
    #expect(await downloaders[1].failure(of: origin.url())?.kind == "hostPaused")
    #expect(origin.requests.count == enough)
  }
}
