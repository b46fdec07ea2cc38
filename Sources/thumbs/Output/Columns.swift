extension String {
  /// The text padded with spaces on the right, for columns of words.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// The text padded with spaces on the left, for columns of numbers.
  func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
