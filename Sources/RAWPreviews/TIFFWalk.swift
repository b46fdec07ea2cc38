/// Walks through the directories of a TIFF/EP structure: the chain, and the directories that fields point to.
package struct TIFFWalk {
  package let known: KnownBytes
  /// The base of the structure's positions in the file.
  var base: Int
  var isBigEndian = false
  /// The position of the first directory.
  package private(set) var first = 0
  /// The format, if the header has its signature.
  private(set) var signature: RAWFormat?
  private var visited: Set<Int> = []
  private var make: RAWFormat?

  /// The most directories of a file, and the most fields of each. Real files have up to 12 and 300.
  private static let mostDirectories = 48
  private static let mostFields = 512
  /// The most directories that one field points to.
  private static let mostSubdirectories = 16
  /// The depth to which directories that point to directories are followed.
  private static let mostDepth = 3
  /// The bytes of `Make` that are compared.
  private static let makeLength = 24

  package init(_ known: KnownBytes, base: Int, isBigEndian: Bool = false) {
    (self.known, self.base, self.isBigEndian) = (known, base, isBigEndian)
  }

  /// Reads the header; false if there is none.
  package mutating func readHeader() throws(MissingBytes) -> Bool {
    isBigEndian = try known.has("MM", at: base)
    guard try known.has(anyOf: ["II", "MM"], at: base), let magic = try number(at: 2, count: 2),
      let first = try number(at: 4, count: 4)
    else { return false }
    self.first = first
    switch magic {
    case 42:
      if try known.has("CR\u{2}", at: base + 8) { signature = .cr2 }
      if try known.has(anyOf: ["IIII", "MMMM"], at: base + 8) { signature = .iiq }
    // "RO" and "RS", as Olympus writes instead of 42; 85 is Panasonic's.
    case 0x4F52, 0x5352: signature = .orf
    case 0x55: signature = .rw2
    default: return false
    }
    return true
  }

  // MARK: Reading

  /// A number at a position of the structure; nil beyond the file's end.
  func number(at position: Int, count: Int) throws(MissingBytes) -> Int? {
    try known.number(at: base + position, count: count, isBigEndian: isBigEndian)
  }

  /// One of a field's values; nil if there is none, or it is not an unsigned integer.
  package func number(_ field: RAWDirectory.Field?, _ index: Int = 0) throws(MissingBytes) -> Int? {
    guard let field, index < field.count, [1, 3, 4, 7, 13].contains(field.kind) else { return nil }
    return try known.number(at: field.place + index * field.size, count: field.size, isBigEndian: isBigEndian)
  }

  /// One of a field's unsigned fractions; nil if there is none, or it is divided by zero.
  package func rational(_ field: RAWDirectory.Field?, _ index: Int = 0) throws(MissingBytes) -> Double? {
    guard let field, index < field.count, field.kind == 5,
      let above = try known.number(at: field.place + index * 8, count: 4, isBigEndian: isBigEndian),
      let below = try known.number(at: field.place + index * 8 + 4, count: 4, isBigEndian: isBigEndian), below > 0
    else { return nil }
    return Double(above) / Double(below)
  }

  /// The directory at a position of the structure; nil if there is none.
  package func directory(at position: Int) throws(MissingBytes) -> RAWDirectory? {
    guard position > 0, position <= KnownBytes.furthest, let count = try number(at: position, count: 2), count > 0,
      count <= Self.mostFields
    else { return nil }
    var directory = RAWDirectory()
    for index in 0..<count {
      let entry = position + 2 + 12 * index
      guard let tag = try number(at: entry, count: 2), let kind = try number(at: entry + 2, count: 2),
        let count = try number(at: entry + 4, count: 4)
      else { return nil }
      let size = RAWDirectory.sizes.indices.contains(kind) ? RAWDirectory.sizes[kind] : 0
      guard size > 0, directory.fields[tag] == nil else { continue }
      var place = entry + 8
      if size * count > 4 {
        guard let offset = try number(at: place, count: 4) else { return nil }
        place = offset
      }
      directory.fields[tag] = RAWDirectory.Field(kind: kind, count: count, place: base + place, size: size)
    }
    directory.next = try number(at: position + 2 + 12 * count, count: 4) ?? 0
    return directory
  }

  // MARK: Walking

  /// Reads all directories and passes their contents to `walk`.
  mutating func run(_ walk: inout RAWWalk) throws(MissingBytes) {
    var position = first
    var isFirst = true
    while let directory = try visit(position) {
      if isFirst {
        try readFirst(directory, &walk)
        // An ordinary TIFF has none of these, and its directories need not be read.
        let isSensor = try isSensor(directory)
        if !walk.isRAW, !isSensor, directory[TIFFTag.subdirectories] == nil { return }
      }
      try take(directory, .directory, depth: 0, &walk)
      isFirst = false
      position = directory.next
    }
  }

  /// The directory at a position, if it was not visited before.
  private mutating func visit(_ position: Int) throws(MissingBytes) -> RAWDirectory? {
    guard visited.count < Self.mostDirectories, visited.insert(position).inserted else { return nil }
    return try directory(at: position)
  }

  private mutating func readFirst(_ directory: RAWDirectory, _ walk: inout RAWWalk) throws(MissingBytes) {
    if let orientation = try number(directory[TIFFTag.orientation]) { walk.take(orientation: orientation) }
    if directory[TIFFTag.dngVersion] != nil {
      signature = .dng
      return walk.settle(.dng)
    }
    if let field = directory[TIFFTag.make], field.kind == 2,
      let text = try known.slice(field.place..<field.place + min(field.count, Self.makeLength))
    {
      make = RAWFormat(make: String(decoding: text, as: UTF8.self))
    }
  }

  private mutating func take(
    _ directory: RAWDirectory, _ place: EmbeddedImage.Place, depth: Int, _ walk: inout RAWWalk
  ) throws(MissingBytes) {
    if try isSensor(directory) {
      if !walk.isRAW { walk.settle(signature ?? make ?? .tiffEP) }
    } else {
      try takeImage(directory, place, &walk)
    }
    if signature == .rw2 {
      for tag in [TIFFTag.jpgFromRaw, TIFFTag.jpgFromRaw2] {
        if let field = directory[tag] { walk.add(.jpgFromRaw, at: field.place, length: field.count) }
      }
    }
    guard depth < Self.mostDepth else { return }
    if let field = directory[TIFFTag.subdirectories] {
      for index in 0..<min(field.count, Self.mostSubdirectories) {
        guard let position = try number(field, index), let found = try visit(position) else { continue }
        try take(found, .subdirectory, depth: depth + 1, &walk)
      }
    }
    if let position = try number(directory[TIFFTag.exif]), let exif = try visit(position),
      let field = exif[TIFFTag.makerNote]
    {
      try MakerNotes(self, format: signature ?? make ?? .tiffEP).read(at: field.place, length: field.count, &walk)
    }
  }

  private enum Photometric {
    /// Samples of a colour filter array, and linear colours made from them.
    static let filterArray = 32803
    static let linear = 34892
  }

  /// Whether a directory describes the sensor's samples.
  private func isSensor(_ directory: RAWDirectory) throws(MissingBytes) -> Bool {
    let photometric = try number(directory[TIFFTag.photometric])
    return photometric == Photometric.filterArray || photometric == Photometric.linear
  }

  private enum Compression {
    static let oldJPEG = 6
    static let jpeg = 7
    static let jpegXL = 52546
  }

  /// The image that a directory describes, if it is one JPEG.
  private func takeImage(
    _ directory: RAWDirectory, _ place: EmbeddedImage.Place, _ walk: inout RAWWalk
  ) throws(MissingBytes) {
    if let start = try number(directory[TIFFTag.jpegStart]), let length = try number(directory[TIFFTag.jpegLength]) {
      walk.add(place, at: base + start, length: length)
    }
    guard let compression = try number(directory[TIFFTag.compression]),
      [Compression.oldJPEG, Compression.jpeg, Compression.jpegXL].contains(compression)
    else { return }
    let encoding = compression == Compression.jpegXL ? EmbeddedImage.Encoding.jpegXL : .jpeg
    for (starts, lengths) in [
      (TIFFTag.stripOffsets, TIFFTag.stripByteCounts), (TIFFTag.tileOffsets, TIFFTag.tileByteCounts),
    ] {
      // Each of several strips is a JPEG of only a part of the image.
      guard let field = directory[starts], field.count == 1, let start = try number(field),
        let length = try number(directory[lengths])
      else { continue }
      walk.add(place, at: base + start, length: length, encoding: encoding)
    }
  }
}

/// The numbers of the fields that lead to previews.
package enum TIFFTag {
  static let jpgFromRaw = 0x002E
  static let compression = 0x0103
  static let photometric = 0x0106
  static let make = 0x010F
  static let stripOffsets = 0x0111
  static let orientation = 0x0112
  static let stripByteCounts = 0x0117
  /// Panasonic's second, larger preview of newer cameras.
  static let jpgFromRaw2 = 0x0127
  static let tileOffsets = 0x0144
  static let tileByteCounts = 0x0145
  static let subdirectories = 0x014A
  static let jpegStart = 0x0201
  static let jpegLength = 0x0202
  package static let exif = 0x8769
  static let makerNote = 0x927C
  static let dngVersion = 0xC612
}

/// One directory of a TIFF structure.
package struct RAWDirectory {
  /// A field.
  package struct Field {
    package let kind: Int
    package let count: Int
    /// The position of its value in the file, checked to be no further than `KnownBytes.furthest`.
    package let place: Int
    /// The bytes of each of its values; 0 if the kind is not known.
    let size: Int
  }

  /// The fields by their numbers: of several, the first.
  var fields: [Int: Field] = [:]
  /// The position of the next directory, relative to the structure; 0 if it is the last.
  var next = 0

  package subscript(tag: Int) -> Field? { fields[tag] }

  /// The bytes of a value of each kind.
  static let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]
}
