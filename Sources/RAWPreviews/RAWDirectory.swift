/// The numbers of the fields that lead to previews.
package enum TIFFTag {
  static let jpgFromRaw = 0x002E
  static let width = 0x0100
  static let height = 0x0101
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
