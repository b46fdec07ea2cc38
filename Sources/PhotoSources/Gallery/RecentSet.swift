import DequeModule

/// Remembers the elements that came last, as many as it has room for, so that it stays small on a road without an end.
///
/// By hashes of 64 bits that strangers cannot foresee: of a million elements two would be taken for one in one of a
/// billion runs.
struct RecentSet<Element: Hashable> {
  private let capacity: Int
  private var hashes: Set<UInt64> = []
  private var order: Deque<UInt64> = []

  /// Room for the last `capacity` elements; by default more than any photo search gives.
  init(capacity: Int = 16384) { self.capacity = max(1, capacity) }

  /// Remembers an element. False when it is remembered already.
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
