import HTTPSemantics
import Synchronization
import ThumbnailCore

/// A bounded dictionary that keeps the most recently used values: at least half of the limit, and at most all of it.
///
/// A used value moves to the young generation. When that reaches half of the limit, it replaces the old generation,
/// which is dropped. So no list is needed. A pure value: its owner synchronises it.
struct Generations<Key: Hashable, Value> {
  private var young: [Key: Value] = [:]
  private var old: [Key: Value] = [:]
  private var youngCost = 0
  private let limit: Int
  private let cost: (Value) -> Int
  /// How often a generation was dropped.
  private(set) var drops = 0

  /// Keeps values of at most `limit` in total. The cost of a value must not change.
  init(limit: Int, cost: @escaping @Sendable (Value) -> Int = { _ in 1 }) { (self.limit, self.cost) = (limit, cost) }

  /// The value of a key, which counts as a use.
  mutating func use(_ key: Key) -> Value? {
    if let value = young[key] { return value }
    guard let value = old[key] else { return nil }
    insert(value, for: key)
    return value
  }

  /// Stores a value, replacing an earlier one of its key.
  mutating func insert(_ value: Value, for key: Key) {
    remove(key)
    young[key] = value
    youngCost += cost(value)
    guard youngCost > limit / 2 else { return }
    (old, young, youngCost) = (young, [:], 0)
    drops += 1
  }

  mutating func remove(_ key: Key) {
    if let former = young.removeValue(forKey: key) { youngCost -= cost(former) }
    old[key] = nil
  }

  mutating func removeAll() {
    (young, old, youngCost) = ([:], [:], 0)
    drops += 1
  }
}

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
