/// A bounded dictionary that keeps the most recently used values: at least half of the limit, and at most all of it.
///
/// A used value moves to the young generation. When that reaches half of the limit, it replaces the old generation,
/// which is dropped. So no list is needed. A pure value: its owner synchronises it.
package struct Generations<Key: Hashable, Value> {
  private var young: [Key: Value] = [:]
  private var old: [Key: Value] = [:]
  private let limit: Int

  /// Keeps at most `limit` values.
  package init(limit: Int) { self.limit = limit }

  /// The value of a key, which counts as a use.
  package mutating func use(_ key: Key) -> Value? {
    if let value = young[key] { return value }
    guard let value = old[key] else { return nil }
    insert(value, for: key)
    return value
  }

  /// Stores a value, replacing an earlier one of its key.
  package mutating func insert(_ value: Value, for key: Key) {
    remove(key)
    young[key] = value
    if young.count > limit / 2 { (old, young) = (young, [:]) }
  }

  package mutating func remove(_ key: Key) {
    young[key] = nil
    old[key] = nil
  }

  package mutating func removeAll() { (young, old) = ([:], [:]) }
}
