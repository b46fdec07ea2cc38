import DequeModule

/// A bounded set of the most recently inserted elements, so that endless input takes constant memory.
///
/// Stores randomly seeded 64-bit hashes: the chance of any collision within a million insertions is about one in a
/// billion.
struct RecentSet<Element: Hashable> {
  private let capacity: Int
  private var hashes: Set<UInt64> = []
  private var order: Deque<UInt64> = []

  /// Keeps the last `capacity` elements.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// Inserts an element. False if it is present already.
  mutating func insert(_ element: Element) -> Bool {
    var hasher = Hasher()
    hasher.combine(element)
    let hash = UInt64(bitPattern: Int64(hasher.finalize()))
    guard hashes.insert(hash).inserted else { return false }
    order.append(hash)
    if order.count > capacity, let oldest = order.popFirst() { hashes.remove(oldest) }
    return true
  }
}
