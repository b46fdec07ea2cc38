import Synchronization
import ThumbnailCore

/// The history of source images that this process has recorded recently, which may not be written to the database yet.
/// Holds a bounded number of sources, some hundred bytes each.
final class RecentHistory: Sendable {
  private let state: Mutex<Generations<SourceKey, SourceHistory>>

  /// Holds at least the last `capacity` sources, and at most twice as many.
  init(capacity: Int = 4096) { state = Mutex(Generations(limit: 2 * capacity)) }

  /// The history of a source.
  subscript(source: SourceKey) -> SourceHistory? { state.withLock { $0.use(source) } }

  /// Changes the history of a source.
  func change(_ source: SourceKey, _ change: (inout SourceHistory) -> Void) {
    state.withLock { state in
      var history = state.use(source) ?? SourceHistory()
      change(&history)
      state.insert(history, for: source)
    }
  }

  /// Removes the history of a source.
  func remove(_ source: SourceKey) { state.withLock { $0.remove(source) } }

  /// Removes everything.
  func removeAll() { state.withLock { $0.removeAll() } }
}

extension SourceHistory {
  /// This history, from the database, with the changes that this process has recorded since.
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
