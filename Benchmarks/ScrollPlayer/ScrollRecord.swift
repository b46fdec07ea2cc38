import Synchronization
import Thumbnailer

/// Records what happens to the cells during a scroll.
final class ScrollRecord: Sendable {
  private struct State {
    /// When an item's thumbnail was ready, or that it failed.
    var outcomes: [Int: Outcome] = [:]
    /// The items with a final event of the prefetcher.
    var told: Set<Int> = []
    var sightings: [Sighting] = []
    var seen: Set<Int> = []
    var visible = 0..<0
    /// The cells in view after the first screen that had nothing to show at the end of a frame.
    var empty: Set<Int> = []
    var isFirstScreen = true
    /// When items left the view.
    var departures: [Int: ContinuousClock.Instant] = [:]
    /// The bytes downloaded for each item, from the prefetcher's events.
    var bytes: [Int: Int] = [:]
    var offset: Double?
    var rest: ContinuousClock.Instant?
    var updates: [Duration] = []
  }

  private struct Sighting {
    let item: Int
    let time: ContinuousClock.Instant
    let isOfFirstScreen: Bool
  }

  private enum Outcome {
    case ready(ContinuousClock.Instant)
    case failed(ContinuousClock.Instant, String)
  }

  private let state = Mutex(State())
  private let startBytes: Int

  init(pipeline: ThumbnailPipeline) { startBytes = pipeline.statistics.downloadedBytes }

  /// Records an event of the prefetcher.
  func take(_ event: PrefetcherEvent) {
    let now = ContinuousClock.now
    state.withLock { state in
      switch event {
      case .ready(let index, _, let response):
        state.told.insert(index)
        state.bytes[index, default: 0] += response.downloadedBytes
        if case .ready = state.outcomes[index] { break }
        state.outcomes[index] = .ready(now)
      case .failed(let index, _, let error):
        state.told.insert(index)
        if state.outcomes[index] == nil { state.outcomes[index] = .failed(now, error.message) }
      case .started, .cancelled, .settled: break
      }
    }
  }

  /// Records the viewport's offset.
  func move(to offset: Double) {
    state.withLock { state in
      guard state.offset != offset else { return }
      state.offset = offset
      state.rest = nil
    }
  }

  /// Records the duration of a `setViewport` call.
  func update(took duration: Duration) { state.withLock { $0.updates.append(duration) } }

  /// Records that the scroll has ended. Returns when it did so first.
  func rest(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    state.withLock { state in
      let rest = state.rest ?? now
      state.rest = rest
      return rest
    }
  }

  /// Records the cells that have nothing to show at the end of a frame, when it is drawn: neither a thumbnail nor a
  /// placeholder, nor the sign of a failure.
  func endFrame(of prefetcher: Prefetcher, hasPlaceholder: (Int) -> Bool) {
    let waiting = state.withLock { state in
      state.isFirstScreen ? [] : state.visible.filter { state.outcomes[$0] == nil && !state.empty.contains($0) }
    }
    let empty = waiting.filter {
      prefetcher.cachedThumbnail(at: $0) == nil && !hasPlaceholder($0)
    }
    if !empty.isEmpty { state.withLock { $0.empty.formUnion(empty) } }
  }

  /// Records the cells that became visible in a frame. A thumbnail in memory by then counts as shown with it, even if
  /// its event comes later.
  func look(at prefetcher: Prefetcher, isFirstScreen: Bool, now: ContinuousClock.Instant) {
    let visible = prefetcher.visibleItems
    let arrivals = state.withLock { state in
      for item in state.visible where !visible.contains(item) && state.departures[item] == nil {
        state.departures[item] = now
      }
      (state.visible, state.isFirstScreen) = (visible, isFirstScreen)
      return visible.filter { state.seen.insert($0).inserted }
    }
    let shown = arrivals.filter { prefetcher.cachedThumbnail(at: $0) != nil }
    state.withLock { state in
      state.sightings += arrivals.map { Sighting(item: $0, time: now, isOfFirstScreen: isFirstScreen) }
      for item in shown {
        if case .ready(let time) = state.outcomes[item], time <= now { continue }
        state.outcomes[item] = .ready(now)
      }
    }
  }

  /// Whether all these items have a final event. A thumbnail may be in memory and visible before, but its cost is not
  /// yet known.
  func isComplete(_ items: Range<Int>) -> Bool {
    state.withLock { $0.told.isSuperset(of: items) }
  }

  /// The report on all cells.
  func report(since start: ContinuousClock.Instant, statistics: PipelineStatistics) -> ScrollReport {
    state.withLock { state in
      let cells = state.sightings.map { sighting in
        var cell = ScrollReport.Cell(
          item: sighting.item, inView: sighting.time - start, isOfFirstScreen: sighting.isOfFirstScreen)
        cell.wasEmpty = state.empty.contains(sighting.item)
        cell.leftView = state.departures[sighting.item].map { $0 - start }
        switch state.outcomes[sighting.item] {
        case .ready(let time): cell.ready = time - start
        case .failed(_, let message): cell.failure = message
        case nil: break
        }
        return cell
      }
      let onScreen = state.bytes.reduce(0) { state.seen.contains($1.key) ? $0 + $1.value : $0 }
      let all = statistics.downloadedBytes - startBytes
      return ScrollReport(
        cells: cells, duration: .now - start, restsAt: (state.rest ?? .now) - start, downloadedBytes: all,
        unseenBytes: max(0, all - onScreen), viewportUpdates: state.updates)
    }
  }
}
