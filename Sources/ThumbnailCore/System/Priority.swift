/// How urgently a picture is wanted. Work of a higher level overtakes queued work of a lower one.
public enum Priority: Int, Comparable, Sendable, Codable, CaseIterable {
  /// Ahead of the viewport: wanted soon, by nobody yet.
  case prefetch
  /// In view: somebody is looking at its empty cell.
  case visible

  /// Orders `prefetch` before `visible`.
  public static func < (lhs: Priority, rhs: Priority) -> Bool { lhs.rawValue < rhs.rawValue }
}
