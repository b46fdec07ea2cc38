/// The header of an embedded JPEG, up to its frame header.
struct JPEGHead {
  var width = 0
  var height = 0
  /// Whether it has 8 bits, one or three components, and is sequential or progressive.
  var isReadable = false
  /// See `EmbeddedImage`.
  var lacksFirstByte = false
  /// The TIFF structure of its EXIF data.
  private var exif: Range<Int>?

  /// The least bytes of a JPEG.
  static let leastLength = 16
  /// The most segments before the frame header. Some makers split their notes into dozens.
  private static let mostSegments = 128

  /// Reads the header of the JPEG in `range`; nil if there is none.
  init?(_ known: KnownBytes, in range: Range<Int>) throws(MissingBytes) {
    guard let start = try known.number(at: range.lowerBound, count: 3, isBigEndian: true), start & 0xFFFF == 0xD8FF
    else { return nil }
    lacksFirstByte = start >> 16 != 0xFF
    var position = range.lowerBound + 2
    for _ in 0..<Self.mostSegments {
      guard position + 10 <= range.upperBound,
        let start = try known.number(at: position, count: 4, isBigEndian: true), start >> 24 == 0xFF
      else { return nil }
      let (marker, length) = (start >> 16 & 0xFF, start & 0xFFFF)
      // Fill bytes may precede a marker.
      if marker == 0xFF {
        position += 1
        continue
      }
      guard length >= 2, marker != 0xDA, marker != 0xD9, marker != 0xD8 else { return nil }
      if Self.isFrame(marker) {
        guard let frame = try known.slice(position + 4..<position + 10) else { return nil }
        let bytes = frame.map(Int.init)
        (height, width) = (bytes[1] << 8 | bytes[2], bytes[3] << 8 | bytes[4])
        isReadable =
          marker <= 0xC2 && bytes[0] == 8 && (bytes[5] == 1 || bytes[5] == 3) && width > 0 && height > 0
        return
      }
      if marker == 0xE1, exif == nil, length > Self.exifSignature.count,
        try known.has(Self.exifSignature, at: position + 4)
      {
        exif = position + 4 + Self.exifSignature.count..<min(position + 2 + length, range.upperBound)
      }
      position += 2 + length
    }
    return nil
  }

  private static let exifSignature = Array("Exif\0\0".utf8)

  /// Whether a marker begins a frame header: SOF0 to SOF15, except DHT, JPG and DAC.
  private static func isFrame(_ marker: Int) -> Bool {
    (0xC0...0xCF).contains(marker) && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
  }

  /// The orientation in the EXIF data, and the thumbnail's bytes in the file; nil without such data.
  func exif(_ known: KnownBytes) throws(MissingBytes) -> (orientation: Int?, thumbnail: Range<Int>?)? {
    guard let exif else { return nil }
    var tiff = TIFFWalk(known, base: exif.lowerBound)
    guard try tiff.readHeader(), let first = try tiff.directory(at: tiff.first) else { return nil }
    let orientation = try tiff.number(first[TIFFTag.orientation])
    var thumbnail: Range<Int>?
    if let second = try tiff.directory(at: first.next),
      let start = try tiff.number(second[TIFFTag.jpegStart]), let length = try tiff.number(second[TIFFTag.jpegLength]),
      start > 0, length > 0, exif.lowerBound + start + length <= exif.upperBound
    {
      thumbnail = exif.lowerBound + start..<exif.lowerBound + start + length
    }
    return (orientation.flatMap { (1...8).contains($0) ? $0 : nil }, thumbnail)
  }
}
