/// Segments of a JPEG in a row, of one kind and length, that no thumbnail needs: XMP data may take megabytes of them.
package struct SegmentRun: Sendable {
  /// The bytes of those that are known.
  package let range: Range<Int>
  /// The length of each.
  package let stride: Int
  private let marker: Int
  private static let leastLength = 1024

  /// The run with one more segment, or one that begins; nil if thumbnails may need such segments.
  init?(_ marker: Int, _ segment: Range<Int>, after former: SegmentRun?) {
    // Without JFIF, ICC profiles and Adobe's colours.
    guard segment.count >= Self.leastLength, [0xE1, 0xEF, 0xFE].contains(marker) || (0xE3...0xED).contains(marker)
    else { return nil }
    let isLike = former.map {
      ($0.marker, $0.stride, $0.range.upperBound) == (marker, segment.count, segment.lowerBound)
    }
    (self.marker, stride) = (marker, segment.count)
    range = (isLike == true ? former?.range.lowerBound ?? 0 : segment.lowerBound)..<segment.upperBound
  }

  /// What stands for the bytes from a position to the end of a segment, but before `end`: its head and zeros.
  package func filling(at position: Int, before end: Int) -> [UInt8] {
    let head = [0xFF, UInt8(marker), UInt8((stride - 2) >> 8), UInt8((stride - 2) & 255)]
    let segment = head + [UInt8](repeating: 0, count: stride - head.count)
    return Array(segment[((position - range.lowerBound) % stride)...].prefix(end - position))
  }
}
