/// Reads the header of one format.
///
/// It asks for one range of bytes after another, so the same parser serves a body that is still arriving and one that
/// is complete. Ranges that only go forward can be read from a stream.
protocol HeaderParser: Sendable {
  /// What is known so far, complete enough to be held against the limits.
  var draft: ImageProbe? { get }
  /// Whether `draft` is final but for its number of frames.
  var isSettled: Bool { get }

  /// Takes the bytes of the range asked for last, fewer only where the body ends, and returns the next range that is
  /// needed: nil when nothing is. The first range is `0..<sniffLength`.
  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>?
}

extension HeaderParser {
  /// The error of a header that breaks off.
  func cutOff() -> CodecError { .truncated(detail: "in the header") }
  /// The error of a header that contradicts itself.
  func damaged(_ detail: String) -> CodecError { .damaged(.header, detail: detail) }
}
