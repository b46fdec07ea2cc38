/// The contents of a RAW file's container: its format, the camera's orientation, and the embedded images.
///
/// The sensor's samples are never read.
package struct RAWFile: Sendable, Equatable {
  package var format: RAWFormat
  /// The EXIF orientation, 1 to 8, as the RAW's own directory states it, or else that of its largest preview.
  package var orientation = 1
  /// All images embedded in it, readable or not, in the order of their positions.
  package var images: [EmbeddedImage] = []

  /// The JPEGs that can be decoded, the smallest first.
  package var previews: [EmbeddedImage] {
    images.filter { $0.encoding == .jpeg }.sorted {
      ($0.width * $0.height, $0.range.count) < ($1.width * $1.height, $1.range.count)
    }
  }
}

/// An image embedded in a RAW file.
package struct EmbeddedImage: Sendable, Equatable {
  /// How it is encoded.
  package enum Encoding: String, Sendable {
    /// A JPEG of 8 bits with one or three components.
    case jpeg
    /// JPEG XL (DNG 1.7).
    case jpegXL
    /// Not an image that is known here: lossless JPEG, HEVC, or bytes that make no sense.
    case other
  }

  /// Its place in the container.
  package enum Place: String, Sendable {
    /// A directory in the TIFF's chain.
    case directory
    /// A directory that another one points to (`SubIFDs`).
    case subdirectory
    /// Panasonic's tag `JpgFromRaw`.
    case jpgFromRaw
    /// The maker's notes.
    case makerNote
    /// The file's own header (RAF).
    case header
    /// A box or track (CR3).
    case box
    /// The EXIF data of another preview.
    case exif
  }

  /// Its bytes in the file. They may reach beyond the end of a truncated file.
  package var range: Range<Int>
  package var place: Place
  package var encoding = Encoding.other
  /// Its width in pixels, as stored; 0 if that is not known.
  package var width = 0
  /// Its height in pixels, as stored; 0 if that is not known.
  package var height = 0
  /// The part that shows the image, if the file states that black borders surround it.
  package var visible: VisiblePart?
  /// The size of its visible part: without borders, as stored.
  package var shownSize: (width: Int, height: Int) { visible.map { ($0.width, $0.height) } ?? (width, height) }
  /// Whether its first byte, which Minolta's cameras overwrite, has to be read as 0xFF.
  package var lacksFirstByte = false
}

/// The part of a preview within black borders, in its pixels.
package struct VisiblePart: Sendable, Equatable {
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int
}
