/// Scrolls a grid as a trace says, with a prefetcher and its pipeline at work, and notes for every cell when it came into
/// view and when its thumbnail was there.
///
/// The view never goes beyond the content: where the trace is ahead of the items that have come, the view waits at their
/// end, as a real one would.
public struct ScrollSimulation: Sendable {
  /// How the trace's time passes.
  public enum Pace: Sendable {
    /// As on a clock.
    case realTime
    /// Stands still while a cell in view has no thumbnail, and takes no time otherwise.
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
  /// How long after the end of the trace the last screen may take before the simulation gives up on it.
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
  ///   - hasMoreItems: Whether more items may still come: the simulation does not end on a screen that waits for them.
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
    var traceTime = Duration.zero
    while !Task.isCancelled {
      let now = ContinuousClock.now
      show(at: traceTime, on: prefetcher, record: record, now: now)
      let isComplete = record.isComplete(prefetcher.visibleItems)
      if traceTime >= trace.duration, !hasArrived(on: prefetcher) {
        // The view is on its way still, held up by items that have not come.
        if !hasMoreItems() && isComplete { break }
      } else if traceTime >= trace.duration {
        record.rest(at: now)
        if isComplete { break }
        if now - record.lastMovement > patience { break }
      }
      switch pace {
      case .realTime: traceTime = now - start
      case .untilReady where isComplete: traceTime += .seconds(1) / framesPerSecond
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
    record.move(to: offset, at: now)
    let begun = ContinuousClock.now
    prefetcher.viewportChanged(to: Viewport(offset: offset, height: viewHeight, time: now))
    record.update(took: .now - begun)
    record.look(at: prefetcher, isFirstScreen: wanted == trace.row(at: .zero) * layout.rowPitch, now: now)
  }

  /// Whether the view is where the trace ends.
  private func hasArrived(on prefetcher: Prefetcher) -> Bool {
    let layout = prefetcher.layout
    return layout.itemCount > 0 && trace.row(at: trace.duration) * layout.rowPitch + viewHeight <= layout.contentHeight
  }
}
