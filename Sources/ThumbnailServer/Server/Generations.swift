/// The values that were inserted or looked up last: at least as many as `capacity`, and at most twice as many.
struct Generations<Value> {
  private let capacity: Int
  private var young: [String: Value] = [:]
  private var old: [String: Value] = [:]

  init(capacity: Int) { self.capacity = capacity }

  mutating func insert(_ value: Value, _ key: String) {
    if young.count >= capacity { (old, young) = (young, [:]) }
    young[key] = value
  }

  mutating func value(of key: String) -> Value? {
    if let value = young[key] { return value }
    guard let value = old.removeValue(forKey: key) else { return nil }
    insert(value, key)
    return value
  }
}
