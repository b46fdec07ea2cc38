import Synchronization

/// Notes what happens to the cells in the course of a scroll.
final class ScrollRecord: Sendable {
  private struct State {
    /// When an item's thumbnail was there, or that it failed.
    var outcomes: [Int: Outcome] = [:]
    /// The items that the prefetcher is done with and has said so.
    var told: Set<Int> = []
    var sightings: [Sighting] = []
    var seen: Set<Int> = []
    var visible = 0..<0
    /// When items had left the view.
    var departures: [Int: ContinuousClock.Instant] = [:]
    /// What was downloaded for the items that the prefetcher told of.
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

  /// The prefetcher has something to tell.
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

  /// The view is here.
  func move(to offset: Double) {
    state.withLock { state in
      guard state.offset != offset else { return }
      state.offset = offset
      state.rest = nil
    }
  }

  /// The prefetcher has taken a viewport within this time.
  func update(took duration: Duration) { state.withLock { $0.updates.append(duration) } }

  /// The view has come to the end of its way. Returns since when it rests there.
  func rest(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    state.withLock { state in
      let rest = state.rest ?? now
      state.rest = rest
      return rest
    }
  }

  /// Notes the cells that came into view in a frame. What is in memory by then is shown with it, whenever the prefetcher
  /// tells of it.
  func look(at prefetcher: Prefetcher, isFirstScreen: Bool, now: ContinuousClock.Instant) {
    let visible = prefetcher.visibleItems
    let arrivals = state.withLock { state in
      for item in state.visible where !visible.contains(item) && state.departures[item] == nil {
        state.departures[item] = now
      }
      state.visible = visible
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

  /// Whether all of these have their thumbnails or have failed, and the prefetcher has said so. Until then it is not known
  /// what they took, though a thumbnail may be in memory and shown.
  func isComplete(_ items: Range<Int>) -> Bool {
    state.withLock { $0.told.isSuperset(of: items) }
  }

  /// What became of the cells.
  func report(since start: ContinuousClock.Instant, statistics: PipelineStatistics) -> ScrollReport {
    state.withLock { state in
      let cells = state.sightings.map { sighting in
        var cell = ScrollReport.Cell(
          item: sighting.item, inView: sighting.time - start, isOfFirstScreen: sighting.isOfFirstScreen)
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
