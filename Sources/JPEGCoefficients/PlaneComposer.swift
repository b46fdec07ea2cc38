import ThumbnailCore

/// Composes interleaved RGB, or gray, from the components' planes: brings chroma to luma's resolution and converts
/// colours, row by row in one pass.
struct PlaneComposer {
  var planes: [JPEGPlane]
  var scale: JPEGScale
  var size: PixelSize
  var colours: JPEGColours

  /// Writes the image, rows from the top down without padding.
  func compose(into target: UnsafeMutableRawBufferPointer) {
    let width = size.width
    precondition(target.count == size.pixelCount * planes.count, "room for every sample")
    guard let start = target.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    let rows = planes.map { RowExpander($0, scale: scale, size: size) }
    let scratch = UnsafeMutablePointer<UInt32>.allocate(capacity: width)
    defer { scratch.deallocate() }
    for y in 0..<size.height {
      let output = start + y * width * planes.count
      switch colours {
      case .gray: output.update(from: rows[0].row(y), count: width)
      case .ycc:
        PixelRow.convert(
          luma: rows[0].row(y), blue: rows[1].row(y), red: rows[2].row(y), into: output, count: width,
          scratch: scratch)
      case .rgb: PixelRow.interleave(rows[0].row(y), rows[1].row(y), rows[2].row(y), into: output, count: width)
      }
    }
  }
}

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
