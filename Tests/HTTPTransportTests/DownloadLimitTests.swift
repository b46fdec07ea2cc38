@testable import HTTPTransport
@testable import ThumbnailCore

/// Slots, priorities and cancellation of real transfers.
@Suite(.timeLimit(.minutes(5))) struct DownloadLimitTests {
  @Test func neverHasMoreThanTheLimitAtOneHost() async throws {
    let gate = Gate()
    let origin = try Origin { _ in .ok(noise(2000)).held(by: gate) }
    let downloader = Downloader(.quick())
    async let all: Void = fetchAll((0..<40).map { origin.url("/\($0)") }, downloader)
    #expect(await eventually { origin.runningRequests == 6 && downloader.waitingDownloads == 34 })
    gate.open()
    try await all
    #expect(origin.maximumSimultaneousRequests == 6)
    #expect(origin.requests.count == 40)
    #expect(downloader.activeDownloads == 0 && downloader.waitingDownloads == 0)
  }

  @Test func cancellingClosesTheTransferAndFreesItsSlot() async throws {
    let origin = try Origin { request in
      request.path == "/stall" ? .ok(noise(1000)).stalling(after: 10) : .ok([1])
    }
    let downloader = Downloader(.quick { $0.maximumDownloads = 1 })
    let observer = RecordingObserver()
    let task = Task { await downloader.failure(of: origin.url("/stall"), observer: observer) }
    #expect(await eventually { observer.bytes.count == 10 })
    async let next = downloader.fetch(origin.url("/next"))
    #expect(await eventually { downloader.waitingDownloads == 1 })
    task.cancel()
    #expect(await task.value == .cancelled)
    #expect(try await next.bytes == [1])
    #expect(await eventually { origin.requests(for: "/stall").first?.outcome == .clientClosed })
    #expect(downloader.activeDownloads == 0)
  }

  @Test func cancelledBeforeItBeginsItAsksNothing() async throws {
    let origin = try Origin { _ in .ok([1]) }
    let downloader = Downloader(.quick())
    let gate = Promise<Void, Never>()
    let task = Task {
      _ = await gate.wait {}
      return await downloader.failure(of: origin.url())
    }
    task.cancel()
    gate.resume(with: .success(()))
    #expect(await task.value == .cancelled)
    #expect(origin.requests.isEmpty)
    #expect(downloader.activeDownloads == 0)
  }

  @Test func aPauseBeforeTheNextAttemptHoldsNoSlotAndCanBeCancelled() async throws {
    let origin = try Origin { request in request.path == "/busy" ? .tooManyRequests(retryAfter: "50") : .ok([1]) }
    let downloader = Downloader(.quick { $0.maximumDownloads = 1 })
    let task = Task { await downloader.failure(of: origin.url("/busy")) }
    #expect(await eventually { origin.requests.count == 1 && downloader.activeDownloads == 0 })
    // Of another host: the busy one is left alone.
    #expect(try await downloader.fetch(origin.url("/next", host: "localhost")).bytes == [1])
    task.cancel()
    #expect(await task.value == .cancelled)
    #expect(origin.requests(for: "/busy").count == 1)
  }

  @Test func manyCancellationsLeaveNothingBehind() async throws {
    let origin = try Origin { _ in .ok(noise(50_000)).dripping(bytes: 5000, every: .milliseconds(1)) }
    let downloader = Downloader(.quick())
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          let task = Task { await downloader.failure(of: origin.url("/\(number)")) }
          for _ in 0..<(number % 7) { await Task.yield() }
          if number % 3 != 0 { task.cancel() }
          _ = await task.value
        }
      }
    }
    #expect(downloader.activeDownloads == 0 && downloader.waitingDownloads == 0)
    #expect(try await downloader.fetch(origin.url()).receivedBytes == 50_000)
  }

  @Test func failuresFreeTheirSlots() async throws {
    let origin = try Origin { request in
      request.number % 2 == 0 ? .status(404) : .ok(noise(100)).reset(after: 10)
    }
    let downloader = Downloader(.quick { $0.maximumDownloads = 2 })
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<20 { group.addTask { _ = await downloader.failure(of: origin.url("/\(number)")) } }
    }
    #expect(downloader.activeDownloads == 0 && downloader.waitingDownloads == 0)
  }

  @Test func aDroppedDownloaderClosesItsConnections() async throws {
    let origin = try Origin { _ in .ok([1]) }
    do {
      let downloader = Downloader(.quick())
      _ = try await downloader.fetch(origin.url())
      #expect(origin.openConnections == 1)
    }
    #expect(await eventually { origin.openConnections == 0 })
  }

  private func fetchAll(_ urls: [URL], _ downloader: Downloader) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for url in urls { group.addTask { _ = try await downloader.fetch(url) } }
      try await group.waitForAll()
    }
  }
}
