package import ThumbnailCore

/// Parses an image's header while its bytes arrive.
///
/// It buffers only the range that its parser waits for, at most `mostHeld` bytes, and nothing once it is done.
package struct HeaderProber: Sendable {
  /// The state of parsing.
  package enum Status: Sendable, Equatable {
    /// More bytes are needed.
    case more
    /// The header is known. The number of frames may still grow as more bytes arrive.
    case probed(ImageProbe)
    /// The image is refused.
    case failed(CodecError)
    /// The stream is not sufficient, because the header points backwards or to too long a range: probe the complete
    /// body.
    case unclear
  }

  /// The most bytes buffered at a time.
  static let mostHeld = (1 << 20) + 64

  /// The state so far.
  package private(set) var status = Status.more

  private let limits: DecodeLimits
  private var parser = SniffingParser()
  private var wanted: Range<Int>? = SniffingParser.firstRange
  /// The buffered bytes, from `heldStart` up to `position`, or none.
  private var held = HeaderBytes()
  private var heldStart = 0
  private var position = 0

  package init(limits: DecodeLimits) { self.limits = limits }

  /// The bytes of the stream until the next bytes that the header needs: the greatest number if they have passed; nil
  /// once the header is known or refused.
  package var distance: Int? {
    switch status {
    case .more: wanted.map { max(0, $0.lowerBound - position) }
    case .unclear: .max
    case .probed, .failed: nil
    }
  }

  /// The last segments of a JPEG's header so far, if no thumbnail needs them.
  package var run: SegmentRun? { parser.run }

  /// Whether the file is known to be a HEIC or AVIF.
  package var isHEIF: Bool { parser.isHEIF }

  /// The number of bytes buffered now.
  var heldCount: Int { held.count }

  /// Consumes the next bytes of the body, in order.
  @discardableResult
  package mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Status {
    var rest = bytes[...]
    while let range = wanted {
      if rest.isEmpty && position < range.upperBound { break }
      if held.count == 0 {
        let skipped = min(rest.count, max(0, range.lowerBound - position))
        rest = rest.dropFirst(skipped)
        position += skipped
        heldStart = position
      }
      let taken = min(rest.count, max(0, range.upperBound - position))
      if position >= range.lowerBound && taken > 0 {
        held.append(UnsafeRawBufferPointer(rebasing: rest.prefix(taken)))
        rest = rest.dropFirst(taken)
        position += taken
      }
      guard position >= range.upperBound else { break }
      step(range)
    }
    // The rest is not needed, but counts for the position.
    position += rest.count
    return status
  }

  private mutating func step(_ range: Range<Int>) {
    do throws(CodecError) {
      let next = try parser.parse(held.slice(range.lowerBound - heldStart..<range.upperBound - heldStart))
      if let draft = parser.draft {
        try limits.check(draft)
        if parser.isSettled { status = .probed(draft) }
      }
      wanted = next
    } catch {
      status = .failed(error)
      wanted = nil
    }
    guard let next = wanted else { return held.release() }
    if next.lowerBound < heldStart || next.count > Self.mostHeld {
      if status == .more { status = .unclear }
      wanted = nil
      held.release()
    } else {
      held.removeFirst(next.lowerBound - heldStart)
      heldStart = min(next.lowerBound, position)
    }
  }
}
