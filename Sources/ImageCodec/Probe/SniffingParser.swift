import ThumbnailCore

/// The first parser of every body: detects the format, then delegates to that format's parser.
struct SniffingParser: HeaderParser {
  private var format: (any HeaderParser)?
  /// The number of bytes requested so far.
  private var requested = Sniffer.shortLength

  var draft: ImageProbe? { format?.draft }
  var isSettled: Bool { format?.isSettled ?? false }
  /// The segments of a JPEG before the place that was reached, if no thumbnail needs them.
  var run: SegmentRun? { (format as? JPEGHeader)?.run }
  /// Whether the file is known to be a HEIC or AVIF.
  var isHEIF: Bool { format is HEIFHeader }

  /// The first range to read.
  static let firstRange = 0..<Sniffer.shortLength

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    if format != nil { return try format?.parse(bytes) }
    if bytes.count == 0 { throw .empty }
    switch Sniffer.sniff(bytes, isAll: bytes.count < requested || requested >= Sniffer.longestProlog) {
    case .needsMore:
      requested = requested < Sniffer.longLength ? Sniffer.longLength : Sniffer.longestProlog
      return 0..<requested
    case .other(let looksLike):
      throw .notAPicture(looksLike: looksLike)
    case .format(let found):
      guard var parser = Self.parser(for: found) else { throw .unsupportedFormat(found) }
      let next = try parser.parse(bytes)
      format = parser
      return next
    }
  }

  /// The allow-list: any other format is not read in this process.
  private static func parser(for format: ImageFormat) -> (any HeaderParser)? {
    switch format {
    case .jpeg: JPEGHeader()
    case .png: PNGHeader()
    case .webp: WebPHeader()
    case .gif: GIFHeader()
    case .tiff, .raw: RAWHeader(format: format)
    case .heif, .avif: HEIFHeader(format: format)
    case .svg, .pdf, .jpegXL, .jpeg2000, .openEXR, .pnm, .bmp, .ico, .radiance: nil
    }
  }
}

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
