import Synchronization
import ThumbnailCore
import Thumbnailer

/// The times of the stages of a line's work, and the response of its server.
struct WorkRecord: Sendable {
  var cache: Duration?
  var download: Duration?
  var revalidation: Duration?
  var decode: Duration?
  var write: Duration?
  /// The number of HTTP requests, redirects not counted.
  var attempts = 0
  /// The status of the last response; nil if there was none.
  var status: Int?

  /// Adds the later work on the same line.
  mutating func add(_ later: WorkRecord) {
    let earlier = self
    self = later
    download = later.download ?? earlier.download
    if earlier.attempts > 0 { (attempts, status) = (earlier.attempts, earlier.status) }
  }

  /// Adds the values of an event.
  mutating func add(_ event: PipelineEvent.Kind) {
    switch event {
    case .diskHit(_, _, let duration): cache = max(cache ?? .zero, duration)
    case .downloaded(_, _, _, _, _, let duration): download = (download ?? .zero) + duration
    case .revalidated(let duration): revalidation = (revalidation ?? .zero) + duration
    case .rendered(_, _, let duration, _): decode = (decode ?? .zero) + duration
    case .attempted(_, let status):
      attempts += 1
      self.status = status
    default: break
    }
  }
}

/// Follows the events of the images that are worked on. Lines with the same image share its record.
final class WorkLedger: Sendable {
  private struct Entry {
    var record = WorkRecord()
    var lines = 1
  }

  private let entries = Mutex<[SourceKey: Entry]>([:])

  /// Receives an event of the pipeline, on any thread.
  func take(_ event: PipelineEvent) {
    guard let key = event.source?.key else { return }
    entries.withLock { $0[key]?.record.add(event.kind) }
  }

  /// Begins to follow an image for one more line.
  func begin(_ key: SourceKey) {
    entries.withLock { entries in
      if entries[key] == nil { entries[key] = Entry() } else { entries[key]?.lines += 1 }
    }
  }

  /// Stops following the image, and returns its record.
  func end(_ key: SourceKey) -> WorkRecord {
    entries.withLock { entries in
      guard let entry = entries[key] else { return WorkRecord() }
      if entry.lines == 1 { entries[key] = nil } else { entries[key]?.lines -= 1 }
      return entry.record
    }
  }
}
