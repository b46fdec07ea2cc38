@testable import PipelineTestSupport
@testable import Thumbnailer

/// A prefetcher that is told from many threads at once.
@Suite(.timeLimit(.minutes(5))) struct PrefetcherConcurrencyTests {
  @Test func ofThousandsOfViewportsTheLastIsFetched() async throws {
    let fixture = try PrefetcherFixture(items: 10_000)
    for row in 0..<10_000 { fixture.show(row: row) }
    fixture.show(row: 5_000)
    #expect(fixture.prefetcher.visibleItems == 5_000..<5_004)
    await fixture.prefetcher.waitUntilSettled()
    #expect((5_000..<5_004).allSatisfy { fixture.prefetcher.cachedThumbnail(at: $0) != nil })
    #expect(fixture.prefetcher.state.withLock { $0.prefetchTasks.isEmpty && $0.schedule.runningCount == 0 })
  }

  /// Whoever scrolls, changes the list, stops, pauses and waits does so on threads of their own.
  @Test(arguments: [1, 2, 3]) func whateverIsToldAtOnceTheWorkEndsAndTheLastWordHolds(seed: UInt64) async throws {
    let fixture = try PrefetcherFixture(items: 200)
    let (prefetcher, sources) = (fixture.prefetcher, fixture.sources(240))
    let log = Recorder<PrefetcherEvent>()
    let listening = Task { [events = prefetcher.events(bufferingNewest: .max)] in
      for await event in events { log.append(event) }
    }
    await withTaskGroup { group in
      for worker in 0..<4 {
        group.addTask {
          var random = SplitMix(state: seed &* 31 &+ UInt64(worker))
          for step in 0..<300 {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<3: prefetcher.setItems(Array(sources.prefix(Int.random(in: 0...240, using: &random))))
            case 3..<8: prefetcher.remove(at: Int.random(in: 0..<240, using: &random))
            case 8..<13: prefetcher.replace(at: Int.random(in: 0..<240, using: &random), with: nil)
            case 13..<16: prefetcher.append(contentsOf: [sources[Int.random(in: 0..<240, using: &random)]])
            case 16..<19: prefetcher.stop()
            case 19..<22: prefetcher.pause()
            case 22..<26: prefetcher.resume()
            case 26..<30 where step % 10 == 0:
              prefetcher.resume()
              await prefetcher.waitUntilSettled()
            case 30..<33: await Task.yield()
            default: fixture.show(row: Int.random(in: 0..<240, using: &random))
            }
          }
        }
      }
    }
    prefetcher.setItems(Array(sources.prefix(200)))
    prefetcher.resume()
    fixture.show(row: 100)
    await prefetcher.waitUntilSettled()
    // What is fetched ahead of it depends on where the view was before.
    #expect(prefetcher.visibleItems == 100..<104)
    #expect((100..<104).allSatisfy { prefetcher.cachedThumbnail(at: $0) != nil })
    #expect(prefetcher.state.withLock { $0.prefetchTasks.isEmpty && $0.schedule.runningCount == 0 })
    // Whatever was begun has an end, and only what was begun is dropped.
    await poll { Self.books(of: log.values).values.allSatisfy { $0.ended >= $0.begun } }
    let books = Self.books(of: log.values)
    #expect(!books.values.contains { $0.hasDroppedTooMany || $0.failed > 0 })
    listening.cancel()
  }

  /// What the events tell of one picture.
  private struct Account {
    var begun = 0
    var dropped = 0
    var failed = 0
    /// Dropped, failed or there. A thumbnail that is found in memory is there without having been begun.
    var ended = 0
    /// Whether more was dropped than was begun, at any time.
    var hasDroppedTooMany = false
  }

  private static func books(of events: [PrefetcherEvent]) -> [SourceKey: Account] {
    events.reduce(into: [:]) { books, event in
      switch event {
      case .started(_, let source, _): books[source.key, default: Account()].begun += 1
      case .ready(_, let source, _): books[source.key, default: Account()].ended += 1
      case .failed(_, let source, _):
        books[source.key, default: Account()].failed += 1
        books[source.key, default: Account()].ended += 1
      case .cancelled(_, let source):
        var account = books[source.key, default: Account()]
        account.dropped += 1
        account.ended += 1
        account.hasDroppedTooMany = account.hasDroppedTooMany || account.dropped > account.begun
        books[source.key] = account
      case .settled: break
      }
    }
  }
}
