import Thumbnailer

/// Replays a scroll trace with a prefetcher and its pipeline, and records when every cell became visible and when its
/// thumbnail was ready.
///
/// The trace starts when the first items have arrived, since nobody scrolls an empty grid. The viewport never leaves
/// the content: if the trace is ahead of the items that have arrived, it waits at their end, as a real one would.
struct ScrollSimulation: Sendable {
  /// How the trace's time advances.
  enum Pace: Sendable {
    /// In real time.
    case realTime
    /// Stops while a visible cell has no thumbnail or items are missing; eight times real time otherwise.
    case untilReady
  }

  /// The trace to replay.
  var trace: ScrollTrace
  /// The height of the viewport, in points.
  var viewHeight: Double
  /// How the trace's time advances.
  var pace = Pace.realTime
  /// The time limit for completing the last screen, from the end of the scroll.
  var patience = Duration.seconds(60)
  /// The time between two viewport updates, in the trace's time: a frame at 60 Hz.
  private static let frame = Duration.seconds(1) / 60

  /// Replays the trace. The prefetcher's owner adds items meanwhile, as `itemsWanted` asks for them.
  ///
  /// - Parameters:
  ///   - prefetcher: New, and without other sources of viewports.
  ///   - hasMoreItems: Whether more items may still come: while they may, the simulation does not end before the
  ///     trace's final position. It must be false only after the last items were added.
  ///   - hasPlaceholder: Whether the placeholder of an item has been read.
  /// - Returns: The report on the cells; on those visible so far if the calling task is cancelled.
  func run(
    on prefetcher: Prefetcher, hasMoreItems: @escaping @Sendable () -> Bool = { false },
    hasPlaceholder: (Int) -> Bool = { _ in false }
  ) async -> ScrollReport {
    let record = ScrollRecord(pipeline: prefetcher.pipeline)
    let listener = Task { [events = prefetcher.events(bufferingNewest: .max)] in
      for await event in events { record.take(event) }
    }
    defer { listener.cancel() }
    let start = ContinuousClock.now
    var firstItems: ContinuousClock.Instant?
    var traceTime = Duration.zero
    while !Task.isCancelled {
      let now = ContinuousClock.now
      // Read before the viewport moves: if there are no more items, it then moves over all of them.
      let hasMore = hasMoreItems()
      record.endFrame(of: prefetcher, hasPlaceholder: hasPlaceholder)
      show(at: traceTime, on: prefetcher, record: record, now: now)
      let isEmpty = prefetcher.itemCount == 0
      if isEmpty, !hasMore { break }
      if !isEmpty, firstItems == nil { firstItems = now }
      let isComplete = record.isComplete(prefetcher.visibleItems)
      let isHeldUp = hasMore && !reaches(prefetcher.layout, at: traceTime)
      if traceTime >= trace.duration, !isHeldUp {
        let rest = record.rest(at: now)
        if isComplete || now - rest > patience { break }
      }
      switch pace {
      case .realTime: traceTime = firstItems.map { now - $0 } ?? .zero
      case .untilReady where isComplete && !isHeldUp: traceTime += Self.frame
      case .untilReady: break
      }
      try? await Task.sleep(for: Self.frame / (pace == .untilReady ? 8 : 1))
    }
    return record.report(since: start, statistics: prefetcher.pipeline.statistics)
  }

  /// Moves the viewport to the trace's position at a moment, and records the cells that become visible.
  private func show(at time: Duration, on prefetcher: Prefetcher, record: ScrollRecord, now: ContinuousClock.Instant) {
    let layout = prefetcher.layout
    let wanted = trace.row(at: time) * layout.rowPitch
    let offset = min(wanted, max(0, layout.contentHeight - viewHeight))
    record.move(to: offset)
    let begun = ContinuousClock.now
    prefetcher.setViewport(Viewport(offset: offset, height: viewHeight, time: now))
    record.update(took: .now - begun)
    record.look(at: prefetcher, isFirstScreen: wanted == trace.row(at: .zero) * layout.rowPitch, now: now)
  }

  /// Whether there are enough items for the trace's position at a moment.
  private func reaches(_ layout: GridLayout, at time: Duration) -> Bool {
    layout.itemCount > 0 && trace.row(at: time) * layout.rowPitch + viewHeight <= layout.contentHeight
  }
}
