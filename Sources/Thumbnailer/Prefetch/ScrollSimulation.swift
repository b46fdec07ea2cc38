/// Scrolls a grid as a trace says, with a prefetcher and its pipeline at work, and notes for every cell when it came into
/// view and when its thumbnail was there.
///
/// The trace begins when the first items are there: nobody scrolls an empty grid. The view never goes beyond the content:
/// where the trace is ahead of the items that have come, the view waits at their end, as a real one would.
public struct ScrollSimulation: Sendable {
  /// How the trace's time passes.
  public enum Pace: Sendable {
    /// As on a clock.
    case realTime
    /// Stands still while a cell in view has no thumbnail, or while items are missing; eight times as fast otherwise.
    case untilReady
  }

  /// The scroll.
  public var trace: ScrollTrace
  /// The height of the view, in points.
  public var viewHeight: Double
  /// How time passes.
  public var pace: Pace
  /// How often the view moves in a second of the trace.
  public var framesPerSecond: Int
  /// How long the last screen may take from the moment the view rests, before the simulation gives up on it.
  public var patience: Duration

  /// A simulation; 60 frames a second and a minute of patience by default.
  public init(
    trace: ScrollTrace, viewHeight: Double, pace: Pace = .realTime, framesPerSecond: Int = 60,
    patience: Duration = .seconds(60)
  ) {
    self.trace = trace
    self.viewHeight = viewHeight
    self.pace = pace
    self.framesPerSecond = max(1, framesPerSecond)
    self.patience = patience
  }

  /// Scrolls. Whoever owns the prefetcher adds its items meanwhile, as `itemsWanted` asks for them.
  ///
  /// - Parameters:
  ///   - prefetcher: Fresh, and fed by nobody else with viewports.
  ///   - hasMoreItems: Whether more items may still come: while they do, the simulation does not end in a place that the
  ///     trace has left behind. To be false only after the last items were added.
  /// - Returns: What became of the cells; of those in view so far when the calling task is cancelled.
  public func run(
    on prefetcher: Prefetcher, hasMoreItems: @escaping @Sendable () -> Bool = { false }
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
      // Asked before the view moves: what it moves over is all there is when there is no more.
      let hasMore = hasMoreItems()
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
      case .untilReady where isComplete && !isHeldUp: traceTime += .seconds(1) / framesPerSecond
      case .untilReady: break
      }
      try? await Task.sleep(for: .seconds(1) / framesPerSecond / (pace == .untilReady ? 8 : 1))
    }
    return record.report(since: start, statistics: prefetcher.pipeline.statistics)
  }

  /// Puts the view where the trace has it at a moment, and notes what comes into view.
  private func show(at time: Duration, on prefetcher: Prefetcher, record: ScrollRecord, now: ContinuousClock.Instant) {
    let layout = prefetcher.layout
    let wanted = trace.row(at: time) * layout.rowPitch
    let offset = min(wanted, max(0, layout.contentHeight - viewHeight))
    record.move(to: offset)
    let begun = ContinuousClock.now
    prefetcher.viewportChanged(to: Viewport(offset: offset, height: viewHeight, time: now))
    record.update(took: .now - begun)
    record.look(at: prefetcher, isFirstScreen: wanted == trace.row(at: .zero) * layout.rowPitch, now: now)
  }

  /// Whether there are items enough for the view to be where the trace has it at a moment.
  private func reaches(_ layout: GridLayout, at time: Duration) -> Bool {
    layout.itemCount > 0 && trace.row(at: time) * layout.rowPitch + viewHeight <= layout.contentHeight
  }
}
