import DequeModule

/// Remembers the elements that came last, as many as it has room for, so that it stays small on a road without an end.
struct RecentSet<Element: Hashable> {
  private let capacity: Int
  private var elements: Set<Element> = []
  private var order: Deque<Element> = []

  /// Room for the last `capacity` elements; by default more than any photo search gives.
  init(capacity: Int = 16384) { self.capacity = max(1, capacity) }

  /// Remembers an element. False when it is remembered already.
  mutating func insert(_ element: Element) -> Bool {
    guard elements.insert(element).inserted else { return false }
    order.append(element)
    if order.count > capacity, let oldest = order.popFirst() { elements.remove(oldest) }
    return true
  }
}
