/// The meaning of the samples of a JPEG's planes.
package enum JPEGColours: Sendable, Equatable {
  /// One plane.
  case gray
  /// Luma and chroma, as in JFIF.
  case ycc
  /// Red, green and blue.
  case rgb
}

/// The meaning of a JPEG's components, inferred as libjpeg does from the markers before the first scan.
struct ColourModel {
  private var hasJFIF = false
  private var adobeTransform: Int?

  /// Reads the first bytes of an APP0 or APP14 segment.
  mutating func add(_ bytes: SegmentBytes, marker: UInt8) {
    if marker == 0xE0 && bytes.count >= 14 && bytes.has("JFIF\0") { hasJFIF = true }
    if marker == 0xEE && bytes.count >= 12 && bytes.has("Adobe") { adobeTransform = bytes[11] }
  }

  /// The meaning of one or three components.
  func colours(of identifiers: [UInt8]) -> JPEGColours {
    if identifiers.count == 1 { return .gray }
    if hasJFIF { return .ycc }
    if let adobeTransform { return adobeTransform != 0 ? .ycc : .rgb }
    return identifiers != Array("RGB".utf8) ? .ycc : .rgb
  }
}
