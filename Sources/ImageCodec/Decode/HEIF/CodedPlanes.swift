import HEIFContainer
import ThumbnailCore

/// The decoded planes of an item: luma, and chroma unless it is monochrome. Valid until their decoder decodes again.
struct CodedPlanes {
  struct Plane {
    var start: UnsafeRawPointer
    /// The bytes from a row to the next.
    var stride: Int
    /// The samples across and down.
    var size: PixelSize
  }

  var planes: [Plane]
  /// The bits of a sample; samples of more than eight take two bytes.
  var bits: Int
  var chroma: ChromaFormat
  /// The colour space of the samples, from the stream itself.
  var colour: CodedColour
}

/// Decodes items of one coding, one after another, on the calling thread.
protocol ItemDecoder: AnyObject {
  /// Decodes an item; the planes are valid until the next call.
  func decode(_ item: HEIFItem, of file: HEIFFile) throws(CodecError) -> CodedPlanes
}

extension HEIFImage {
  /// The most pixels that a decoder pads a tile by, to the right and below.
  static let padding = 64

  /// A decoder of this image's tiles. Nothing larger than a tile is decoded.
  ///
  /// - Parameter skipsFilters: Leaves out the filters that smooth the edges of blocks. They take 10 to 23 % of the
  ///   time, and a small thumbnail does not show them.
  /// - Throws: `.handedOver` if the library is missing.
  func decoder(skipsFilters: Bool) throws(CodecError) -> any ItemDecoder {
    switch coding {
    case .hevc: try HEVCDecoder(tileSize, skipsFilters: skipsFilters)
    case .av1: try AV1Decoder(tileSize, skipsFilters: skipsFilters)
    }
  }
}
