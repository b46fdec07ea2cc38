import Synchronization
import ThumbnailCore

/// The reports of the stages: counters, events and logs.
final class PipelineMonitor: Sendable {
  /// The listeners of the events.
  let events = EventHub<PipelineEvent>()
  /// The loggers of this pipeline.
  let loggers: StageLoggers
  private let counters = Mutex(PipelineStatistics())

  init(_ loggers: StageLoggers = StageLoggers()) { self.loggers = loggers }

  /// The counters now.
  var statistics: PipelineStatistics { counters.withLock { $0 } }

  /// Adds to a counter.
  func add<Number: AdditiveArithmetic>(
    _ number: Number, to path: any WritableKeyPath<PipelineStatistics, Number> & Sendable
  ) {
    counters.withLock { $0[keyPath: path] += number }
  }

  /// Sends an event about a source image, or about none in particular; it is only created if there are listeners.
  func send(_ source: ImageSource?, _ kind: @autoclosure () -> PipelineEvent.Kind) {
    events.send(PipelineEvent(source: source, kind: kind()))
  }
}
