import ThumbnailCore

/// The thumbnail that a camera has stored in the container of a HEIC or AVIF.
package struct EmbeddedPreview: Sendable, Equatable {
  /// Its length in the file, in bytes.
  var byteCount: Int
  /// Its size as stored.
  var size: PixelSize
  /// The bytes of the file that decoding and comparing it need, besides the header: its own, and those of tiles.
  package var neededRanges: RangeSet<Int>
  /// Its items.
  var heif: HEIFTraits
}
