/// Distinguishes a JPEG that lacks only its end marker (EOI) from one that lacks image data.
package enum JPEGCompleteness {
  package static let endMarker: [UInt8] = [0xFF, 0xD9]

  /// Whether the file has its end marker: as its last bytes, or after its scans with other data following.
  package static func hasEnd(_ body: any JPEGSource) -> Bool {
    if (try? body.bytes(at: body.count - 2, length: 2)) == endMarker { return true }
    return (try? findsEnd(body)) ?? false
  }

  /// Scans the markers, in one pass over the file.
  private static func findsEnd(_ body: any JPEGSource) throws(JPEGError) -> Bool {
    var cursor = BodyCursor(body, memory: nil, windowLength: CoefficientDecoder.windowLength)
    while let marker = try cursor.takeMarker() {
      switch marker {
      case 0xD9: return true
      case 0x01, 0xD0...0xD8: continue
      default:
        guard let length = try cursor.takeUInt16(), length >= 2 else { return false }
        cursor.skip(length - 2)
        if marker == 0xDA { _ = try cursor.skipCodedData() }
      }
    }
    return false
  }

  /// Whether the scans present cover every coefficient of every component to its last bit.
  ///
  /// Only a decoder can tell whether the last of these scans is complete. Scans the markers, in one pass over the file.
  package static func hasAllScans(_ body: any JPEGSource) -> Bool {
    (try? missingBits(of: body)).map { bits in !bits.isEmpty && bits.values.allSatisfy { $0.allSatisfy { $0 == 0 } } }
      ?? false
  }

  /// For each component identifier the number of bits missing from each coefficient; 16 if no scan contains it.
  private static func missingBits(of body: any JPEGSource) throws(JPEGError) -> [UInt8: [Int]] {
    var cursor = BodyCursor(body, memory: nil, windowLength: CoefficientDecoder.windowLength)
    var bits: [UInt8: [Int]] = [:]
    var isProgressive = false
    while let marker = try cursor.takeMarker() {
      switch marker {
      case 0x01, 0xD0...0xD8: continue
      case 0xD9: return bits
      default: break
      }
      guard let length = try cursor.takeUInt16(), length >= 2 else { break }
      switch marker {
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        let header = SegmentBytes(try cursor.take(length - 2))
        isProgressive = marker & 3 == 2
        for number in 0..<(header[5] ?? 0) {
          guard let identifier = header[6 + 3 * number] else { break }
          bits[UInt8(identifier)] = Array(repeating: 16, count: 64)
        }
      case 0xDA:
        guard let scan = JPEGScan(SegmentBytes(try cursor.take(length - 2))) else { break }
        for component in scan.components {
          for position in isProgressive ? scan.positions : 0...63 {
            bits[component]?[position] = isProgressive ? scan.bit : 0
          }
        }
        _ = try cursor.skipCodedData()
      default: cursor.skip(length - 2)
      }
    }
    return bits
  }
}
