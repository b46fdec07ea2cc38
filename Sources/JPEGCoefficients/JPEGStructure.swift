package import ThumbnailCore

/// The structure of a JPEG as its markers show it, without decoding: its scans, their coefficients, and its end.
///
/// For each scan of a progressive JPEG the decoder visits all blocks: a file of a few kilobytes with many scans can
/// keep it busy for minutes, and it cannot be cancelled.
package struct JPEGStructure {
  /// The most scans that are decoded; later versions of libvips have the same limit. Encoders write about ten.
  package static let mostScans = 100
  /// The end marker (EOI).
  package static let endMarker: [UInt8] = [0xFF, 0xD9]

  /// The number of scans, counted up to `mostScans` + 1.
  package private(set) var scanCount = 0
  /// The bytes from the first scan's coded data to the end of the file.
  package private(set) var firstScanBytes = 0
  private var hasEnd = false
  private var isProgressive = false
  /// For each component identifier the number of bits missing from each coefficient; 16 if no scan contains it.
  private var missingBits: [UInt8: [Int]] = [:]

  /// Finds the markers, in one pass over the file up to the end marker.
  package init(of body: any JPEGSource) throws(CodecError) {
    var cursor = BodyCursor(body, windowLength: CoefficientDecoder.windowLength)
    while scanCount <= Self.mostScans, let marker = try cursor.takeMarker() {
      switch marker {
      case 0x01, 0xD0...0xD8: continue
      case 0xD9:
        hasEnd = true
        return
      default: break
      }
      // libjpeg, too, reads a length below 2 as an empty segment if it ignores the contents.
      guard let length = try cursor.takeUInt16().map({ max(0, $0 - 2) }) else { return }
      switch marker {
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        addFrame(SegmentBytes(try cursor.take(length)), marker: marker)
      case 0xDA:
        addScan(SegmentBytes(try cursor.take(length)), remaining: cursor.remaining)
      default: cursor.skip(length)
      }
    }
  }

  /// Whether the file has its end marker: as its last bytes, or after its scans with other data following.
  package static func hasEnd(_ body: any JPEGSource) -> Bool {
    if (try? body.read(at: body.count - 2, length: 2)) == endMarker { return true }
    return (try? JPEGStructure(of: body))?.hasEnd ?? false
  }

  /// Whether the scans present cover every coefficient of every component to its last bit. Only a decoder can find out
  /// whether the last of these scans is complete.
  package static func hasAllScans(_ body: any JPEGSource) -> Bool {
    guard let bits = (try? JPEGStructure(of: body))?.missingBits, !bits.isEmpty else { return false }
    return bits.values.allSatisfy { $0.allSatisfy { $0 == 0 } }
  }

  private mutating func addFrame(_ header: SegmentBytes, marker: UInt8) {
    isProgressive = marker & 3 == 2
    for number in 0..<(header[5] ?? 0) {
      guard let identifier = header[6 + 3 * number] else { return }
      missingBits[UInt8(identifier)] = Array(repeating: 16, count: 64)
    }
  }

  private mutating func addScan(_ header: SegmentBytes, remaining: Int) {
    scanCount += 1
    if scanCount == 1 { firstScanBytes = remaining }
    guard let scan = JPEGScan(header) else { return }
    for component in scan.components {
      for position in isProgressive ? scan.positions : 0...63 {
        missingBits[component]?[position] = isProgressive ? scan.bit : 0
      }
    }
  }
}
