@testable import HTTPTransport
@testable import ThumbnailCore

/// Who holds memory for a body, and who must not.
@Suite(.timeLimit(.minutes(5))) struct DownloadMemoryTests {
  @Test func aPauseBetweenAttemptsHoldsNoMemory() async throws {
    let busy = try Origin { _ in .status(503) }
    let other = try Origin { _ in .ok(noise(5000)) }
    // Any pause up to a day is equally likely: this one does not end here.
    let day = Duration.seconds(86_400)
    let configuration = DownloadConfiguration.quick {
      ($0.retry.backoff.first, $0.retry.backoff.longest, $0.totalTimeout) = (day, day, day * 365)
    }
    let memory = WeightedSemaphore(capacity: configuration.memoryBodyLimit)
    let downloader = Downloader(configuration, bodyMemory: memory)
    let pausing = Task { try await downloader.fetch(busy.url()) }
    await poll { busy.requests.count == 1 && downloader.activeDownloads == 0 }
    await poll { memory.used == 0 }
    // There is room for one body: it is not that of who pauses.
    #expect(try await downloader.fetch(other.url()).body.count == 5000)
    pausing.cancel()
    await #expect(throws: DownloadError.cancelled) { try await pausing.value }
    #expect(busy.requests.count == 1)
  }

  @Test func whoWaitsForTheSlotOfARedirectHoldsNoMemory() async throws {
    let gate = Gate()
    let taken = try Origin { _ in .ok(noise(5000)).held(by: gate) }
    let away = try Origin { _ in .redirect(to: taken.url("/there").absoluteString) }
    let configuration = DownloadConfiguration.quick { $0.maximumDownloadsPerHost = 1 }
    let memory = WeightedSemaphore(capacity: 2 * configuration.memoryBodyLimit)
    let downloader = Downloader(configuration, bodyMemory: memory)
    let first = Task { try await downloader.fetch(taken.url("/first")).body.count }
    await poll { taken.requests.count == 1 }
    let redirected = Task { try await downloader.fetch(away.url()).body.count }
    await poll { away.requests.count == 1 && downloader.waitingDownloads == 1 }
    #expect(memory.used == configuration.memoryBodyLimit)
    gate.open()
    #expect(try await first.value == 5000)
    #expect(try await redirected.value == 5000)
    #expect(taken.requests.map(\.path) == ["/first", "/there"])
  }
}
