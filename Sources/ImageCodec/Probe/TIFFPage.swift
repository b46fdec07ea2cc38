import ThumbnailCore

/// How a TIFF writes its numbers.
struct TIFFNumbers: Sendable {
  var isBigEndian = false
  /// Whether it is a BigTIFF, whose offsets and counts have 8 bytes.
  var isBig = false

  /// The bytes of an offset, of a directory's entry, and of the number of entries before them.
  var offsetLength: Int { isBig ? 8 : 4 }
  var entryLength: Int { isBig ? 20 : 12 }
  var entryCountLength: Int { isBig ? 8 : 2 }

  /// A number in the file's byte order; nil beyond the end, and for 8-byte numbers beyond any file's length.
  func number(_ bytes: HeaderBytes, at index: Int, count: Int) -> Int? {
    guard count == 8 else { return bytes.number(at: index, count: count, isBigEndian: isBigEndian) }
    guard bytes[isBigEndian ? index : index + 7] == 0 else { return nil }
    return bytes.number(at: isBigEndian ? index + 1 : index, count: 7, isBigEndian: isBigEndian)
  }

  func offset(_ bytes: HeaderBytes, at index: Int) -> Int? { number(bytes, at: index, count: offsetLength) }
}

/// A field of a TIFF's directory.
struct TIFFField: Sendable {
  let tag: Int
  private let kind: Int
  /// Whether the values are not in the directory.
  let isOutOfLine: Bool
  /// The values, or their position.
  private let content: HeaderBytes
  private let numbers: TIFFNumbers

  /// The bytes of a value of each type; types that are not known have none.
  private static let lengths = [
    1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
  ]
  /// The types whose values are unsigned integers.
  private static let unsigned = [1, 3, 4, 13, 16, 18]

  /// The field with the entry `bytes`. Nil if the entry is truncated, or its count is longer than any file.
  init?(_ bytes: HeaderBytes, _ numbers: TIFFNumbers) {
    guard let tag = numbers.number(bytes, at: 0, count: 2), let kind = numbers.number(bytes, at: 2, count: 2),
      let count = numbers.offset(bytes, at: 4)
    else { return nil }
    (self.tag, self.kind, self.numbers) = (tag, kind, numbers)
    let start = 4 + numbers.offsetLength
    content = bytes.slice(start..<start + numbers.offsetLength)
    isOutOfLine = Self.lengths[kind].map { count > numbers.offsetLength / $0 } ?? false
  }

  private var valueLength: Int { Self.lengths[kind] ?? 0 }

  /// The bytes of the first value in the file, if it is not in the directory.
  var range: Range<Int> {
    let place = numbers.offset(content, at: 0) ?? .max >> 1
    return place..<place + valueLength
  }

  /// The first value, if it is an unsigned integer: in the directory, or in `bytes`, the contents of `range`.
  func value(_ bytes: HeaderBytes? = nil) -> Int? {
    Self.unsigned.contains(kind) ? numbers.number(bytes ?? content, at: 0, count: valueLength) : nil
  }
}

/// The image of one directory of a TIFF.
struct TIFFPage: Sendable {
  private enum Tag {
    static let subfileType = 254
    static let oldSubfileType = 255
    static let width = 256
    static let height = 257
    static let bitsPerSample = 258
    static let compression = 259
    static let photometric = 262
    static let orientation = 274
    static let samplesPerPixel = 277
    static let rowsPerStrip = 278
    static let tileWidth = 322
    static let tileHeight = 323
    static let subdirectories = 330
    static let extraSamples = 338
    static let dngVersion = 50706
  }

  /// The bits of `subfileType`; the old field has numbers instead, one of them for a reduced image.
  private enum Kind {
    static let reduced = 1
    static let mask = 4
    static let oldReduced = 2
  }

  /// The value of `photometric` for a sensor's samples.
  private static let filterArray = 32803

  private(set) var size = PixelSize(0, 0)
  private(set) var channels = 1
  /// The bits of the first sample; 1 until they are read if they are not in the directory.
  var bits = 1
  /// The samples' bits if they are not in the directory.
  private(set) var bitsField: TIFFField?
  private(set) var orientation = 1
  private(set) var hasAlpha = false
  /// Whether it declares itself a smaller version of another image of the file, or its transparency.
  private(set) var isOfOther = false
  /// Whether a camera could have written it for a RAW file.
  private(set) var mayBeRAW = false
  /// The position of the next directory; 0 if there is none.
  private(set) var next = 0
  private var stripRows = Int.max
  private var tile: PixelSize?
  private var isOldJPEG = false

  /// The directory of `count` entries. `bytes` are its entries and the position of the next one.
  init(_ bytes: HeaderBytes, count: Int, _ numbers: TIFFNumbers) {
    let length = numbers.entryLength
    next = numbers.offset(bytes, at: count * length) ?? 0
    for index in 0..<count {
      if let field = TIFFField(bytes.slice(index * length..<(index + 1) * length), numbers) { take(field) }
    }
  }

  private mutating func take(_ field: TIFFField) {
    switch field.tag {
    case Tag.extraSamples: hasAlpha = true
    case Tag.dngVersion, Tag.subdirectories: mayBeRAW = true
    case Tag.bitsPerSample where field.isOutOfLine: bitsField = field
    default: if let value = field.value() { take(value, of: field.tag) }
    }
  }

  private mutating func take(_ value: Int, of tag: Int) {
    switch tag {
    case Tag.subfileType: isOfOther = value & (Kind.reduced | Kind.mask) != 0
    case Tag.oldSubfileType: isOfOther = isOfOther || value == Kind.oldReduced
    case Tag.width: size.width = value
    case Tag.height: size.height = value
    case Tag.bitsPerSample: bits = value
    case Tag.compression: isOldJPEG = value == 6
    case Tag.photometric: if value == Self.filterArray { mayBeRAW = true }
    case Tag.orientation: orientation = Orientation(exif: value).exif
    case Tag.samplesPerPixel: channels = value
    case Tag.rowsPerStrip: stripRows = value
    case Tag.tileWidth: tile = PixelSize(value, tile?.height ?? 1)
    case Tag.tileHeight: tile = PixelSize(tile?.width ?? 1, value)
    default: break
    }
  }

  /// The bytes of a strip or a row of tiles. The size, bits and channels must be below 2^33.
  var blockBytes: Int {
    // A tile may be larger than the image, and is still held whole.
    let width = max(size.width, tile?.width ?? 0)
    let rows = tile?.height ?? min(stripRows, size.height)
    // libtiff converts JPEG as in TIFF 6.0, and holds both.
    let pixel = channels * max(8, bits) * (isOldJPEG ? 3 : 1)
    let (count, overflow) = PixelSize(width, max(1, rows)).pixelCount.multipliedReportingOverflow(by: pixel)
    return overflow ? .max : count / 8
  }
}
