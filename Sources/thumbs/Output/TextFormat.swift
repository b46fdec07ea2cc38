import ThumbnailCore

extension Int {
  /// The number; nil for 0, for members of JSON that are left out then.
  var unlessZero: Int? { self == 0 ? nil : self }

  /// The number with its noun, such as `1 picture` or `2 pictures`.
  func of(_ one: String, _ many: String? = nil) -> String { "\(self) \(self == 1 ? one : many ?? one + "s")" }
}

extension [String: Int] {
  /// The reasons that were counted, the most frequent ones first.
  var byCount: [Element] { sorted { ($1.value, $0.key) < ($0.value, $1.key) } }
}

extension Bool {
  /// True or nil, for members of JSON that are left out if they are false.
  var unlessFalse: Bool? { self ? true : nil }
}

extension String {
  /// The text padded with spaces on the right, for columns of words.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// The text padded with spaces on the left, for columns of numbers.
  func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
