import CoreMetrics
import Synchronization
import Thumbnailer

/// Reports the values of events: durations, sizes and the reasons of failures.
final class EventReport: Sendable {
  private let naming: MetricNaming
  private let downloadDuration: Timer
  private let downloadSize: Recorder
  private let lookUpDuration: Timer
  private let revalidationDuration: Timer
  private let decodeDuration: Timer
  private let decodeWait: Timer
  private let encodeDuration: Timer
  private let commitDuration: Timer
  private let decodeMemory: Recorder
  private let hostPauses: Counter
  private let cacheProblems: Counter
  private let failedRevalidations: Counter
  /// The counters of the codes that have occurred.
  private let failures = Mutex<[String: Counter]>([:])

  init(_ naming: MetricNaming) {
    self.naming = naming
    downloadDuration = naming.timer("download_duration_seconds")
    downloadSize = naming.histogram("download_size_bytes")
    lookUpDuration = naming.timer("disk_hit_duration_seconds")
    revalidationDuration = naming.timer("revalidation_duration_seconds")
    decodeDuration = naming.timer("decode_duration_seconds")
    decodeWait = naming.timer("decode_wait_seconds")
    encodeDuration = naming.timer("encode_duration_seconds")
    commitDuration = naming.timer("commit_duration_seconds")
    decodeMemory = naming.histogram("decode_reserved_bytes")
    hostPauses = naming.counter("host_pauses_total")
    cacheProblems = naming.counter("cache_problems_total")
    failedRevalidations = naming.counter("revalidations_total", [("outcome", "failed")])
  }

  func record(_ event: PipelineEvent.Kind) {
    switch event {
    case .diskHit(_, _, let duration): lookUpDuration.record(duration)
    case .downloaded(let bytes, _, _, _, _, let duration):
      downloadDuration.record(duration)
      downloadSize.record(bytes)
    case .revalidated(let duration): revalidationDuration.record(duration)
    case .revalidationFailed: failedRevalidations.increment()
    case .planned(_, let reservedBytes): decodeMemory.record(reservedBytes)
    case .rendered(_, let waited, let duration, let encoding):
      decodeWait.record(waited)
      decodeDuration.record(duration)
      encodeDuration.record(encoding)
    case .committed(_, let duration): commitDuration.record(duration)
    case .failed(let variants, let error): counter(of: error).increment(by: variants.count)
    case .hostPaused: hostPauses.increment()
    case .cacheProblem: cacheProblems.increment()
    case .memoryHit, .joined, .opened, .attempted, .replaced, .servedStale, .servedWhileRevalidating,
      .rememberedFailure, .stored, .cancelled:
      break
    }
  }

  private func counter(of error: ThumbnailError) -> Counter {
    failures.withLock { failures in
      if let counter = failures[error.code] { return counter }
      let counter = naming.counter("failures_total", [("code", error.code)])
      failures[error.code] = counter
      return counter
    }
  }
}

extension Timer {
  fileprivate func record(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
