/// How urgently an image is needed. Work of a higher level overtakes queued work of a lower one.
public enum Priority: Int, Comparable, Sendable, Codable, CaseIterable {
  /// Ahead of the viewport: needed soon.
  case prefetch
  /// In the viewport: its cell is empty on the screen.
  case visible

  /// Orders `prefetch` before `visible`.
  public static func < (lhs: Priority, rhs: Priority) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// Chooses between two priorities if work of both waits: visible before prefetch, but one prefetch after a number of
/// visible elements in a row, which prevents starvation. A pure value.
package struct PriorityAging: Sendable {
  /// After this many elements of the upper level in a row, one of the lower level is taken.
  private let interval: Int
  private var visibleInARow = 0

  package init(interval: Int = 8) { self.interval = interval }

  /// The next level; nil if nothing waits.
  package func next(visibleWaits: Bool, prefetchWaits: Bool) -> Priority? {
    if visibleWaits && prefetchWaits { return visibleInARow >= interval ? .prefetch : .visible }
    return visibleWaits ? .visible : prefetchWaits ? .prefetch : nil
  }

  /// Records that an element of a level was taken.
  package mutating func take(_ level: Priority, prefetchWaits: Bool) {
    visibleInARow = level == .visible && prefetchWaits ? visibleInARow + 1 : 0
  }
}
