import Foundation
import ThumbnailCore
import Thumbnailer

/// The encoded path of an image below the listed folder: its folder, empty or with a trailing slash, and its name.
///
/// Two little-endian 16-bit lengths, of the folder and of the name, then both as bytes.
struct PathRecord {
  /// The size of the two lengths, in bytes.
  static let headLength = 4

  /// The lengths and the path.
  let bytes: [UInt8]
  private let folderLength: Int

  init(bytes: [UInt8]) {
    self.bytes = bytes
    folderLength = Self.number(at: 0, in: bytes)
  }

  var folder: ArraySlice<UInt8> { bytes[Self.headLength..<Self.headLength + folderLength] }
  var name: ArraySlice<UInt8> { bytes[(Self.headLength + folderLength)...] }
  /// Folder and name.
  var path: ArraySlice<UInt8> { bytes[Self.headLength...] }

  var id: String { RawPath(bytes: path).text }

  /// The image as a photo.
  func photo(in root: RawPath) -> Photo {
    Photo(
      id: id, provider: FolderIndex.provider, title: String(decoding: name, as: UTF8.self),
      location: .file(root.appending(path)))
  }

  /// Longer paths than 16 bits can hold cannot be opened anyway.
  static func append(folder: some Collection<UInt8>, name: some Collection<UInt8>, to bytes: inout [UInt8]) {
    for length in [folder.count, name.count] {
      let length = UInt16(clamping: length)
      bytes += [UInt8(length & 0xFF), UInt8(length >> 8)]
    }
    bytes += folder.prefix(Int(UInt16.max))
    bytes += name.prefix(Int(UInt16.max))
  }

  /// The length of a record including its head, which begins at `start`.
  static func length(at start: Int, in bytes: [UInt8]) -> Int {
    headLength + number(at: start, in: bytes) + number(at: start + 2, in: bytes)
  }

  static func bytes(at start: Int, in bytes: [UInt8]) -> ArraySlice<UInt8> {
    bytes[start..<start + length(at: start, in: bytes)]
  }

  typealias Parts = (folder: Slice<UnsafeBufferPointer<UInt8>>, name: Slice<UnsafeBufferPointer<UInt8>>)

  static func parts(at start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Parts {
    let folder = start + headLength
    let name = folder + number(at: start, in: bytes)
    return (bytes[folder..<name], bytes[name..<name + number(at: start + 2, in: bytes)])
  }

  /// The images of a folder come before its subfolders.
  static func areInOrder<Bytes: Collection<UInt8>>(
    _ left: (folder: Bytes, name: Bytes), _ right: (folder: Bytes, name: Bytes)
  ) -> Bool {
    if left.folder.elementsEqual(right.folder) { return NaturalOrder.areInOrder(left.name, right.name) }
    return NaturalOrder.areInOrder(left.folder, right.folder)
  }

  private static func number(at place: Int, in bytes: some RandomAccessCollection<UInt8>) -> Int {
    let index = bytes.index(bytes.startIndex, offsetBy: place)
    return Int(bytes[index]) | Int(bytes[bytes.index(after: index)]) << 8
  }
}

/// Reads records sequentially through a small buffer.
struct PathReader {
  private let records: ByteSource
  /// The range that is not buffered yet.
  private var rest: Range<Int>
  private let bufferBytes: Int
  private var buffer: [UInt8] = []
  private var place = 0

  /// Reads a range, which has to begin and end at record boundaries.
  ///
  /// - Parameter readers: How many share 2 MiB of memory.
  init(_ records: ByteSource, _ range: Range<Int>, sharingBuffersWith readers: Int = 1) {
    (self.records, rest) = (records, range)
    bufferBytes = min(16 << 10, max(512, (2 << 20) / readers))
  }

  /// The next record; nil at the end.
  mutating func next() throws(SystemFailure) -> PathRecord? {
    guard try fill(PathRecord.headLength) else { return nil }
    let length = PathRecord.length(at: place, in: buffer)
    guard try fill(length) else { return nil }
    defer { place += length }
    return PathRecord(bytes: Array(buffer[place..<place + length]))
  }

  /// Fills the buffer up to this many bytes; false at the end.
  private mutating func fill(_ wanted: Int) throws(SystemFailure) -> Bool {
    while buffer.count - place < wanted {
      guard !rest.isEmpty else { return false }
      buffer.removeFirst(place)
      place = 0
      do {
        let piece = try records.read(at: rest.lowerBound, length: min(bufferBytes, rest.count))
        guard !piece.isEmpty else { return false }
        buffer += piece
        rest = (rest.lowerBound + piece.count)..<rest.upperBound
      } catch {
        throw SystemFailure(code: (error as? POSIXError)?.code.rawValue ?? EIO)
      }
    }
    return true
  }
}

/// Merges several sorted runs into one.
struct PathMerge {
  private var readers: [PathReader]
  /// The next record of each unfinished run, in descending order.
  private var heads: [(record: PathRecord, reader: Int)] = []

  init(_ readers: [PathReader]) throws(SystemFailure) {
    self.readers = readers
    for index in readers.indices { try advance(index) }
  }

  /// The next record; nil at the end.
  mutating func next() throws(SystemFailure) -> PathRecord? {
    guard let first = heads.popLast() else { return nil }
    try advance(first.reader)
    return first.record
  }

  private mutating func advance(_ reader: Int) throws(SystemFailure) {
    guard let record = try readers[reader].next() else { return }
    let place = heads.partitioningIndex { head in
      !PathRecord.areInOrder((record.folder, record.name), (head.record.folder, head.record.name))
    }
    heads.insert((record, reader), at: place)
  }
}

/// Natural sort order: `img2` before `img10`.
///
/// Runs of digits compare as numbers, everything else bytewise as UTF-8, which is code point order and independent of
/// the locale. A slash sorts first, so that the files of a folder are contiguous. Of folders, or names, that differ only
/// in leading zeros, the one with more of them comes first: `2021/1` and all that is in it is after `2021/01`.
enum NaturalOrder {
  /// Whether the first name comes before the second.
  static func areInOrder(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>)
    -> Bool
  {
    var (i, j) = (left.startIndex, right.startIndex)
    // What the zeros decide, if nothing else does up to the next slash.
    var tie: Bool?
    while i < left.endIndex, j < right.endIndex {
      if isDigit(left[i]), isDigit(right[j]) {
        let (first, second) = (digits(of: left, from: &i), digits(of: right, from: &j))
        if first.number.count != second.number.count { return first.number.count < second.number.count }
        if let (a, b) = zip(first.number, second.number).first(where: { $0 != $1 }) { return a < b }
        if first.zeros != second.zeros { tie = tie ?? (first.zeros > second.zeros) }
      } else {
        if left[i] != right[j] { return rank(left[i]) < rank(right[j]) }
        if let tie, left[i] == RawPath.slash { return tie }
        i = left.index(after: i)
        j = right.index(after: j)
      }
    }
    if i == left.endIndex, j == right.endIndex { return tie ?? false }
    return i == left.endIndex
  }

  /// Skips a run of digits and returns the number of leading zeros, and the digits after them.
  private static func digits<Bytes: Collection<UInt8>>(
    of bytes: Bytes, from index: inout Bytes.Index
  ) -> (zeros: Int, number: Bytes.SubSequence) {
    let run = bytes[index...].prefix(while: isDigit)
    index = run.endIndex
    let number = run.drop { $0 == UInt8(ascii: "0") }
    return (run.count - number.count, number)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  private static func rank(_ byte: UInt8) -> Int { byte == UInt8(ascii: "/") ? -1 : Int(byte) }
}
