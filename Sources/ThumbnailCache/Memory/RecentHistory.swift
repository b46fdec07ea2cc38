import DequeModule
import HTTPSemantics
import Synchronization
import ThumbnailCore

/// The history of source images that this process has recorded recently: not yet written to the database, or all there
/// is without one. Holds a bounded number of sources, some hundred bytes each.
final class RecentHistory: Sendable {
  private struct State {
    var history: [SourceKey: SourceHistory] = [:]
    var order: Deque<SourceKey> = []
  }

  private let capacity: Int
  private let state = Mutex(State())

  /// Holds at most `capacity` sources; the first added is dropped first.
  init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

  /// The history of a source.
  subscript(source: SourceKey) -> SourceHistory? { state.withLock { $0.history[source] } }

  /// Changes the history of a source.
  func change(_ source: SourceKey, _ change: @Sendable (inout SourceHistory) -> Void) {
    state.withLock { state in
      if state.history[source] == nil {
        state.order.append(source)
        if state.order.count > capacity, let oldest = state.order.popFirst() { state.history[oldest] = nil }
      }
      change(&state.history[source, default: SourceHistory()])
    }
  }

  /// Clears the history of a source, which keeps its position.
  func remove(_ source: SourceKey) {
    state.withLock { if $0.history[source] != nil { $0.history[source] = SourceHistory() } }
  }

  /// Removes everything.
  func removeAll() { state.withLock { $0 = State() } }
}

extension SourceHistory {
  /// This history, from the database, with what this process has recorded since.
  func merged(with recent: SourceHistory?) -> SourceHistory {
    guard let recent else { return self }
    var result = self
    for response in recent.responses.reversed() {
      let stored = responses.first { $0.url == response.url }
      // Another process may have revalidated it since.
      if let stored, stored.freshness.confirmed > response.freshness.confirmed { continue }
      result.put(response)
    }
    for failure in recent.failures { result.put(failure) }
    return result
  }
}
