import Foundation
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

  /// The indices of those of the paths that are in the list.
  func indices(of paths: Set<[UInt8]>) throws(SystemFailure) -> [[UInt8]: Int] {
    var found: [[UInt8]: Int] = [:]
    try forEach { index, record in
      let path = Array(record.path)
      if paths.contains(path) { found[path] = index }
    }
    return found
  }
}
