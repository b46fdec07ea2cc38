package import JPEGCoefficients
import ThumbnailCore

/// Decides when an arriving body is sufficient for all variants currently requested.
///
/// This applies to a progressive JPEG if its first scans suffice for all of them, to RAW files and others whose preview
/// or items are read, and, if previews are allowed, to an image whose preview is large enough.
package struct EarlyStop: Sendable {
  private var need: BodyNeed
  private var scans = ScanWatcher()
  private var position = 0

  package init(_ need: BodyNeed) { self.need = need }

  /// The finest scale that the bytes so far are sufficient for; nil if any use needs the whole body.
  package var finestScale: JPEGScale? { scans.finestScale }

  /// Consumes the next bytes of the body, with `probe` once the header is known. True when no more are needed.
  package mutating func take(_ bytes: UnsafeRawBufferPointer, probe: ImageProbe?) -> Bool {
    scans.feed(bytes)
    position += bytes.count
    guard let probe, scans.finestScale != nil || need.mayBeRanges(probe) else { return false }
    return switch need.extent(probe) {
    case .any: false
    case .scans(let scale): scans.sufficientLength(for: scale) != nil
    case .ranges(let ranges): position >= ranges.upperBound
    }
  }

  /// The bytes of a body of this length that need not be received if the missing parts are requested by ranges instead
  /// of read from the stream.
  package mutating func sparedByRanges(_ probe: ImageProbe, length: Int) -> Int {
    guard need.mayBeRanges(probe), case .ranges(let ranges) = need.extent(probe) else { return 0 }
    let end = min(ranges.upperBound, length)
    guard end > position else { return 0 }
    return end - position - ranges.intersection(RangeSet([position..<end])).byteCount
  }
}
