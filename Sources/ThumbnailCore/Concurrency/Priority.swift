/// How urgently an image is needed. Work of a higher level overtakes queued work of a lower one.
public enum Priority: Int, Comparable, Sendable, Codable, CaseIterable {
  /// Ahead of the viewport: needed soon.
  case prefetch
  /// In the viewport: its cell is empty on the screen.
  case visible

  /// Orders `prefetch` before `visible`.
  public static func < (lhs: Priority, rhs: Priority) -> Bool { lhs.rawValue < rhs.rawValue }
}
