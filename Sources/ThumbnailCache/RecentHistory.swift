import DequeModule
import HTTPSemantics
import Synchronization
import ThumbnailCore

/// What this process has learned of pictures lately: what is not in the database yet, and all there is where there is no
/// database. Holds a bounded number of pictures, some hundred bytes for each.
final class RecentHistory: Sendable {
  private struct State {
    var notes: [SourceKey: SourceHistory] = [:]
    var order: Deque<SourceKey> = []
  }

  private let capacity: Int
  private let state = Mutex(State())

  /// Room for so many pictures; the first that came leaves first.
  init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

  /// What is known of a picture.
  subscript(source: SourceKey) -> SourceHistory? { state.withLock { $0.notes[source] } }

  /// Changes what is known of a picture.
  func change(_ source: SourceKey, _ change: @Sendable (inout SourceHistory) -> Void) {
    state.withLock { state in
      if state.notes[source] == nil {
        state.order.append(source)
        if state.order.count > capacity, let oldest = state.order.popFirst() { state.notes[oldest] = nil }
      }
      change(&state.notes[source, default: SourceHistory()])
    }
  }

  /// Forgets a picture, which keeps its place.
  func remove(_ source: SourceKey) {
    state.withLock { if $0.notes[source] != nil { $0.notes[source] = SourceHistory() } }
  }

  /// Forgets everything.
  func removeAll() { state.withLock { $0 = State() } }
}

extension SourceHistory {
  /// These notes, which come from the database, with those on top that this process has made since.
  func merged(with recent: SourceHistory?) -> SourceHistory {
    guard let recent else { return self }
    var result = self
    for answer in recent.answers.reversed() {
      let stored = answers.first { $0.url == answer.url }
      // Another process may have been told more since.
      if let stored, stored.freshness.confirmed > answer.freshness.confirmed { continue }
      result.put(answer)
    }
    for failure in recent.failures { result.put(failure) }
    return result
  }
}
