import Foundation
import ThumbnailCache
import ThumbnailCore

/// The sorted paths of a folder's images, in an unnamed temporary file, or in memory if they are few. Reading blocks.
struct PathList: Sendable {
  /// How many records lie between two marks.
  static let markDistance = 64

  let records: ByteSource
  /// The offset of every 64th record, so that any record is found without scanning from the start.
  let marks: [Int]
  /// The number of images.
  let count: Int
  /// The entries that could not be listed, and the reasons.
  let skipped: [SkippedItem]

  /// The paths at these indices. Runs of consecutive indices are read in one go.
  func paths(at places: some Sequence<Int>) throws(SystemFailure) -> [PathRecord] {
    var paths: [PathRecord] = []
    var reader = PathReader(records, 0..<0)
    var next = Int.max
    for place in places {
      if place < next || place - next >= Self.markDistance {
        let mark = place / Self.markDistance
        reader = PathReader(records, marks[mark]..<records.count)
        next = mark * Self.markDistance
      }
      var record: PathRecord?
      while next <= place {
        record = try reader.next()
        next += 1
      }
      guard let record else { throw SystemFailure(code: EIO) }
      paths.append(record)
    }
    return paths
  }

  /// Passes all paths with their indices.
  func forEach(_ body: (Int, PathRecord) throws(SystemFailure) -> Void) throws(SystemFailure) {
    var reader = PathReader(records, 0..<records.count)
    for index in 0..<count { if let record = try reader.next() { try body(index, record) } }
  }

  /// The index of a path; nil if it is not in the list.
  func index(of path: [UInt8]) throws(SystemFailure) -> Int? {
    var reader = PathReader(records, 0..<records.count)
    for index in 0..<count {
      guard let record = try reader.next() else { break }
      if record.path.elementsEqual(path) { return index }
    }
    return nil
  }

  /// The indices of the paths that contain all words, ascending; the words as returned by `SearchText.words`. Fails with
  /// `ECANCELED` if `cancelled` is set meanwhile.
  ///
  /// - Parameter isOther: Whether a word that is not in the path is in something else of the file at an index.
  func indices(
    matching words: [[UInt8]], cancelled: CancellationFlag, orIf isOther: ([UInt8], Int) -> Bool = { _, _ in false }
  ) throws(SystemFailure) -> [UInt32] {
    var matches: [UInt32] = []
    var folder: [UInt8] = []
    var prefix: [UInt8] = []
    var text: [UInt8] = []
    try forEach { index, record throws(SystemFailure) in
      if index & 1023 == 0, cancelled.isSet { throw SystemFailure(code: ECANCELED) }
      if !record.folder.elementsEqual(folder) {
        folder = Array(record.folder)
        prefix.removeAll(keepingCapacity: true)
        SearchText.appendFolded(folder, to: &prefix)
      }
      text.removeAll(keepingCapacity: true)
      text.append(contentsOf: prefix)
      SearchText.appendFolded(record.name, to: &text)
      if words.allSatisfy({ Self.contains(text, $0) || isOther($0, index) }) { matches.append(UInt32(index)) }
    }
    return matches
  }

  private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
    guard let first = word.first else { return true }
    return text.withUnsafeBytes { text in
      word.withUnsafeBytes { word in
        guard let wordBase = word.baseAddress else { return true }
        var offset = 0
        while text.count - offset >= word.count, let base = text.baseAddress {
          guard let hit = memchr(base + offset, Int32(first), text.count - offset - word.count + 1) else {
            return false
          }
          if memcmp(hit, wordBase, word.count) == 0 { return true }
          offset = UnsafeRawPointer(hit) - base + 1
        }
        return false
      }
    }
  }
}
