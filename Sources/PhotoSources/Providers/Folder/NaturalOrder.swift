/// Natural sort order: `img2` before `img10`.
///
/// Runs of digits compare as numbers, everything else bytewise as UTF-8, which is code point order and independent of
/// the locale. A slash sorts first, so that the files of a folder are contiguous.
enum NaturalOrder {
  /// Whether the first name comes before the second. Names that differ only in leading zeros compare byte by byte.
  static func areInOrder(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>)
    -> Bool
  {
    var (i, j) = (left.startIndex, right.startIndex)
    while i < left.endIndex, j < right.endIndex {
      if isDigit(left[i]), isDigit(right[j]) {
        let (first, second) = (digits(of: left, from: &i), digits(of: right, from: &j))
        if first.count != second.count { return first.count < second.count }
        if let (a, b) = zip(first, second).first(where: { $0 != $1 }) { return a < b }
      } else {
        if left[i] != right[j] { return rank(left[i]) < rank(right[j]) }
        i = left.index(after: i)
        j = right.index(after: j)
      }
    }
    if i == left.endIndex, j == right.endIndex { return left.lexicographicallyPrecedes(right) }
    return i == left.endIndex
  }

  /// Skips a run of digits and returns those after the leading zeros.
  private static func digits<Bytes: Collection<UInt8>>(
    of bytes: Bytes, from index: inout Bytes.Index
  ) -> Bytes.SubSequence {
    let run = bytes[index...].prefix(while: isDigit)
    index = run.endIndex
    return run.drop { $0 == UInt8(ascii: "0") }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  private static func rank(_ byte: UInt8) -> Int { byte == UInt8(ascii: "/") ? -1 : Int(byte) }
}
