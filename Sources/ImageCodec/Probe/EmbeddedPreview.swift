import ThumbnailCore

/// The small image that a camera embeds in an image's file: a JPEG in the EXIF data, or a thumbnail in a HEIC's
/// container.
package struct EmbeddedPreview: Sendable, Equatable {
  /// How many bytes of the first scan are read to compare the preview with it.
  static let comparedBytes = 64 << 10

  /// Its byte range in the file.
  var range: Range<Int>
  /// Its size as stored.
  var size: PixelSize
  /// Its own EXIF orientation, if stated separately.
  var orientation: Int?
  /// The bytes of the file that decoding and comparing the preview need, besides the header: a JPEG up to 64 KiB into
  /// the first scan; a HEIC's thumbnail and tiles.
  package var neededRanges = RangeSet<Int>()
  /// The thumbnail in the container of a HEIC or AVIF; nil for a JPEG.
  var heif: HEIFTraits?

  /// Whether the preview has the image's aspect ratio within 1 % and its orientation, so that it was not letterboxed,
  /// cropped or rotated separately.
  func fits(_ probe: ImageProbe) -> Bool {
    let (across, down) = (size.width * probe.storedSize.height, size.height * probe.storedSize.width)
    return abs(across - down) * 100 <= down && size.width < probe.storedSize.width
      && size.height < probe.storedSize.height && orientation.map { $0 == probe.orientation } ?? true
  }
}

extension Exif {
  /// The preview in the second directory, if it is an 8-bit JPEG; else nil.
  ///
  /// `offset` is the position of `bytes` in the file.
  func preview(offset: Int) -> EmbeddedPreview? {
    guard let first = number(at: 4, count: 4), let skipped = number(at: first, count: 2),
      let second = number(at: first + 2 + 12 * skipped, count: 4), second > 0, let count = number(at: second, count: 2)
    else { return nil }
    var (place, length, orientation): (Int?, Int?, Int?)
    for index in 0..<count {
      guard let entry = entry(index, of: second) else { return nil }
      let value = number(at: entry.place, count: entry.kind == 3 ? 2 : 4)
      switch entry.tag {
      case Tag.orientation: orientation = value
      case Tag.previewStart: place = value
      case Tag.previewLength: length = value
      default: break
      }
    }
    guard let place, let length, length > 0, start + place + length <= bytes.count,
      let size = Self.frameSize(of: bytes, in: start + place..<start + place + length)
    else { return nil }
    let range = offset + start + place..<offset + start + place + length
    return EmbeddedPreview(range: range, size: size, orientation: orientation)
  }

  /// The size in the frame header of a JPEG in `range`; nil unless it is Huffman coded, with 8 bits and one or three
  /// components.
  private static func frameSize(of bytes: HeaderBytes, in range: Range<Int>) -> PixelSize? {
    guard bytes.has([0xFF, 0xD8], at: range.lowerBound) else { return nil }
    var position = range.lowerBound + 2
    while position + 10 <= range.upperBound {
      guard bytes[position] == 0xFF, let marker = bytes[position + 1],
        let length = bytes.bigEndian(at: position + 2, count: 2)
      else { return nil }
      if (0xC0...0xC2).contains(marker) {
        guard bytes[position + 4] == 8, let height = bytes.bigEndian(at: position + 5, count: 2),
          let width = bytes.bigEndian(at: position + 7, count: 2), width > 0, height > 0,
          let components = bytes[position + 9], components == 1 || components == 3
        else { return nil }
        return PixelSize(width, height)
      }
      guard length >= 2, marker != 0xDA, marker != 0xD9 else { return nil }
      position += 2 + length
    }
    return nil
  }
}
