extension String {
  /// The text with blanks behind it, for columns of words.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// The text with blanks before it, for columns of numbers.
  func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
