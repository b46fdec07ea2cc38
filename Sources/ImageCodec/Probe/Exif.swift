/// EXIF data: a TIFF structure of directories. Only the fields that the codec needs are read.
struct Exif {
  /// The number of a field.
  enum Tag {
    static let orientation = 0x0112
  }

  /// One field of a directory.
  struct Entry {
    let tag: Int
    /// 3 is a SHORT of two bytes, 4 a LONG of four.
    let kind: Int
    /// The position of its value.
    let place: Int
  }

  let bytes: HeaderBytes
  /// The position of the structure in `bytes`, to which all its other positions are relative.
  let start: Int
  private let isBigEndian: Bool

  /// The structure at `start`; nil if there is none.
  init?(_ bytes: HeaderBytes, at start: Int) {
    isBigEndian = bytes.has("MM", at: start)
    (self.bytes, self.start) = (bytes, start)
    guard isBigEndian || bytes.has("II", at: start), number(at: 2, count: 2) == 42 else { return nil }
  }

  /// The orientation in the first directory; nil if it is missing or invalid.
  var orientation: Int? {
    guard let directory = number(at: 4, count: 4), let count = number(at: directory, count: 2) else { return nil }
    for index in 0..<count {
      guard let entry = entry(index, of: directory) else { return nil }
      if entry.tag == Tag.orientation {
        // A SHORT in the standard; some writers use a LONG.
        let value = number(at: entry.place, count: entry.kind == 4 ? 4 : 2)
        return value.flatMap { (1...8).contains($0) ? $0 : nil }
      }
    }
    return nil
  }

  /// An unsigned number in the structure's byte order; nil beyond the end.
  func number(at offset: Int, count: Int) -> Int? {
    bytes.number(at: start + offset, count: count, isBigEndian: isBigEndian)
  }

  /// A field of the directory at an offset; nil beyond the end.
  func entry(_ index: Int, of directory: Int) -> Entry? {
    let offset = directory + 2 + 12 * index
    guard let tag = number(at: offset, count: 2), let kind = number(at: offset + 2, count: 2) else { return nil }
    return Entry(tag: tag, kind: kind, place: offset + 8)
  }
}
