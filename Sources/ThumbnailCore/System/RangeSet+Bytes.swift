/// Sets of positions in a file.
extension RangeSet<Int> {
  /// Overlapping and adjacent ranges become one.
  package init(_ ranges: [Range<Int>]) {
    self.init()
    // In order, each is appended.
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) { insert(contentsOf: range) }
  }

  /// The end of the last range; 0 if there is none.
  package var upperBound: Int { ranges.last?.upperBound ?? 0 }

  /// The number of positions.
  package var byteCount: Int { ranges.reduce(0) { $0 + $1.count } }
}
