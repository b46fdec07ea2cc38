/// The meaning of a JPEG's components, inferred as libjpeg does from the markers before the first scan.
struct ColourModel {
  private var hasJFIF = false
  private var adobeTransform: Int?

  /// Reads the first bytes of an APP0 or APP14 segment.
  mutating func add(_ bytes: SegmentBytes, marker: UInt8) {
    if marker == 0xE0 && bytes.count >= 14 && bytes.has("JFIF\0") { hasJFIF = true }
    if marker == 0xEE && bytes.count >= 12 && bytes.has("Adobe") { adobeTransform = bytes[11] }
  }

  /// Whether three components are luma and chroma rather than red, green and blue.
  func isYCC(_ identifiers: [UInt8]) -> Bool {
    if hasJFIF { return true }
    if let adobeTransform { return adobeTransform != 0 }
    return identifiers != Array("RGB".utf8)
  }
}
