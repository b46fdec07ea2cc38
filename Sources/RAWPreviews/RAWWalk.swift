/// One walk through a container, for its format and its embedded images.
struct RAWWalk {
  let known: KnownBytes
  private(set) var file = RAWFile(format: .tiffEP)
  /// Whether the file is known to be RAW.
  var isRAW = false
  /// Whether the RAW's own directory has stated the orientation.
  private var hasOrientation = false
  /// The part of Canon's thumbnails that shows the image.
  private var thumbnailArea: VisiblePart?

  /// The most images that are kept.
  private static let mostImages = 32

  init(_ known: KnownBytes) { self.known = known }

  /// Walks to the end; nil if the file is not RAW.
  mutating func run() throws(MissingBytes) -> RAWFile? {
    _ = try known.slice(0..<Self.signatureLength)
    if try known.has("FUJIFILMCCD-RAW", at: 0) {
      try walkRAF()
    } else if try known.has("\0MRM", at: 0) {
      try walkMRW()
    } else if try known.has("ftypcrx ", at: 4) {
      try walkCR3()
    } else {
      var walk = TIFFWalk(known, base: 0)
      guard try walk.readHeader() else { return nil }
      if let format = walk.signature { settle(format) }
      try walk.run(&self)
    }
    guard isRAW else { return nil }
    try readHeads()
    return file
  }

  /// The bytes in which all formats have their signature.
  private static let signatureLength = 16

  // MARK: What the walks find

  /// The file is RAW, in this format.
  mutating func settle(_ format: RAWFormat) {
    isRAW = true
    file.format = format
  }

  /// Takes the orientation in a RAW's own directory: the first one counts.
  mutating func take(orientation: Int) {
    guard !hasOrientation, (1...8).contains(orientation) else { return }
    file.orientation = orientation
    hasOrientation = true
  }

  /// Adds an embedded image, unless it is known already or makes no sense.
  mutating func add(_ place: EmbeddedImage.Place, at start: Int, length: Int, encoding: EmbeddedImage.Encoding = .jpeg)
  {
    guard start > 0, length >= JPEGHead.leastLength, start <= KnownBytes.furthest, length <= KnownBytes.furthest,
      file.images.count < Self.mostImages, !file.images.contains(where: { $0.range.lowerBound == start })
    else { return }
    file.images.append(EmbeddedImage(range: start..<start + length, place: place, encoding: encoding))
  }

  /// The part within black borders that the thumbnail of 160×120 pixels shows.
  mutating func take(thumbnailArea area: VisiblePart) { thumbnailArea = area }

  // MARK: Heads

  /// Reads the headers of possible JPEGs, forwards.
  private mutating func readHeads() throws(MissingBytes) {
    file.images.sort { $0.range.lowerBound < $1.range.lowerBound }
    var largest = 0
    var stated: Int?
    var index = 0
    while index < file.images.count {
      let image = file.images[index]
      index += 1
      guard image.encoding == .jpeg else { continue }
      guard let head = try JPEGHead(known, in: image.range) else {
        file.images[index - 1].encoding = .other
        continue
      }
      file.images[index - 1].take(head, visible: thumbnailArea)
      guard head.isReadable, image.place != .exif else { continue }
      if hasOrientation, !file.format.keepsThumbnailInPreview { continue }
      guard let exif = try head.exif(known) else { continue }
      if head.width * head.height > largest, let orientation = exif.orientation {
        (largest, stated) = (head.width * head.height, orientation)
      }
      if let thumbnail = exif.thumbnail, image.range.contains(thumbnail.lowerBound) {
        add(.exif, at: thumbnail.lowerBound, length: thumbnail.count)
      }
    }
    file.images.sort { $0.range.lowerBound < $1.range.lowerBound }
    if !hasOrientation, let stated { file.orientation = stated }
  }
}

extension RAWFormat {
  /// Whether the small thumbnail is in the EXIF data of the preview, rather than in the container.
  fileprivate var keepsThumbnailInPreview: Bool { self == .raf || self == .rw2 }
}

extension EmbeddedImage {
  fileprivate mutating func take(_ head: JPEGHead, visible part: VisiblePart?) {
    encoding = head.isReadable ? .jpeg : .other
    (width, height, lacksFirstByte) = (head.width, head.height, head.lacksFirstByte)
    guard let part, (width, height) == Self.canonThumbnail, part.width > 0, part.height > 0,
      part.x + part.width <= width, part.y + part.height <= height, (part.width, part.height) != (width, height)
    else { return }
    visible = part
  }

  /// The size of the thumbnails to which Canon's valid area belongs.
  private static let canonThumbnail = (160, 120)
}

// The formats whose previews are found by the file's own header: Fujifilm's and Minolta's.

extension RAWWalk {
  private enum RAF {
    /// The positions of the JPEG's position and length.
    static let jpegStart = 84
    static let jpegLength = 88
  }

  mutating func walkRAF() throws(MissingBytes) {
    settle(.raf)
    guard let start = try known.number(at: RAF.jpegStart, count: 4, isBigEndian: true),
      let length = try known.number(at: RAF.jpegLength, count: 4, isBigEndian: true)
    else { return }
    add(.header, at: start, length: length)
  }

  /// The most blocks of an MRW. Real files have five.
  private static let mostBlocks = 32

  /// An MRW begins with blocks, one of which is a TIFF structure. It ends before the samples.
  mutating func walkMRW() throws(MissingBytes) {
    settle(.mrw)
    guard let length = try known.number(at: 4, count: 4, isBigEndian: true) else { return }
    var position = 8
    for _ in 0..<Self.mostBlocks {
      guard position + 8 <= 8 + length,
        let size = try known.number(at: position + 4, count: 4, isBigEndian: true)
      else { return }
      if try known.has("\0TTW", at: position) {
        var tiff = TIFFWalk(known, base: position + 8)
        guard try tiff.readHeader() else { return }
        return try tiff.run(&self)
      }
      position += 8 + size
    }
  }
}
