/// Parses the header of one format.
///
/// It requests one byte range after another, so the same parser serves an arriving body and a complete one. Ranges that
/// only move forward can be served from a stream.
protocol HeaderParser: Sendable {
  /// The known part of the header; nil until it can be checked against the limits.
  var draft: ImageProbe? { get }
  /// Whether `draft` is final except for its number of frames.
  var isSettled: Bool { get }

  /// Parses the bytes of the last requested range, which are fewer only if the body ends, and returns the next range;
  /// nil when none is needed. The first range is `0..<sniffLength`.
  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>?
}

extension HeaderParser {
  /// The error for a truncated header.
  func cutOff() -> CodecError { .truncated(detail: "in the header") }
  /// The error for an inconsistent header.
  func damaged(_ detail: String) -> CodecError { .damaged(.header, detail: detail) }
}
