package import ThumbnailCore

/// Parses the header of a complete body, in any part of the file.
///
/// Blocks while it reads a file: a few reads of 64 KiB, more only if frames have to be counted.
package func probe(_ body: ByteSource, limits: DecodeLimits = DecodeLimits()) throws(CodecError) -> ImageProbe {
  try limits.check(byteCount: body.count)
  var parser = SniffingParser()
  var window = BodyWindow(body)
  var wanted: Range<Int>? = SniffingParser.firstRange
  while let range = wanted {
    wanted = try parser.parse(try window.read(range))
    if let draft = parser.draft { try limits.check(draft) }
  }
  guard let probe = parser.draft else { throw .damaged(.header, detail: "no picture in it") }
  return probe
}

/// Serves small ranges of a body from one larger read.
private struct BodyWindow {
  private static let length = 65_536

  private let body: ByteSource
  private var start = 0
  private var bytes = HeaderBytes()

  init(_ body: ByteSource) { self.body = body }

  mutating func read(_ range: Range<Int>) throws(CodecError) -> HeaderBytes {
    let available = range.clamped(to: 0..<body.count)
    if available.lowerBound < start || available.upperBound > start + bytes.count {
      start = available.lowerBound
      bytes = HeaderBytes(try body.bytes(at: start, length: max(available.count, Self.length)))
    }
    return bytes.slice(available.lowerBound - start..<available.upperBound - start)
  }
}
