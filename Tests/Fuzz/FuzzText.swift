extension FuzzInput {
  /// The bytes as text, with replacement characters where they are not UTF-8.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The lines without their line breaks, at most `most`; the last one takes the rest.
  func lines(atMost most: Int) -> [ArraySlice<UInt8>] {
    bytes.split(separator: UInt8(ascii: "\n"), maxSplits: most - 1, omittingEmptySubsequences: false)
  }
}

extension String {
  /// Whether a terminal or a log shows it on one line, as it is.
  var isOneLine: Bool {
    !unicodeScalars.contains { scalar in
      [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }
  }
}

/// Runs `body` and ends the process when it takes longer than inputs of a few kilobytes may.
func requireTime<Value>(_ limit: Duration, _ what: String, _ body: () -> Value) -> Value {
  // Real time: a fuzzer, no test; a thousand times what a good input takes.
  let start = ContinuousClock.now
  let value = body()
  let time = ContinuousClock.now - start
  require(time <= limit, "\(what) took \(time)")
  return value
}
