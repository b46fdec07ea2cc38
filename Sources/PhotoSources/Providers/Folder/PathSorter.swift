import Foundation
import ThumbnailCore

/// Sorts the paths of a folder's images in bounded memory, as an external merge sort.
///
/// Runs of 256 KiB are sorted, written to an unnamed temporary file and merged in another. In the resulting order, a
/// folder's own images precede its subfolders; both are in natural order.
struct PathSorter {
  private let runBytes: Int
  private let directories: [String]
  /// The records of the current run, and the offset of each.
  private var gathered: [UInt8] = []
  private var starts: [UInt32] = []
  private var file: PathFile
  private var runs: [Range<Int>] = []

  /// An empty sorter.
  ///
  /// - Parameters:
  ///   - runBytes: The size of a run in memory; less than 4 GiB.
  ///   - directories: Candidates for the temporary files; the first that accepts one is used. If none does, all stays in
  ///     memory.
  init(runBytes: Int = 256 << 10, directories: [String] = Self.standardDirectories) {
    (self.runBytes, self.directories) = (runBytes, directories)
    file = PathFile(directories)
  }

  /// `TMPDIR`, or a directory on a disk, because `/tmp` may be in memory.
  static var standardDirectories: [String] {
    let temporary = FileManager.default.temporaryDirectory.path
    return ProcessInfo.processInfo.environment["TMPDIR"] == nil ? ["/var/tmp", temporary] : [temporary]
  }

  /// Adds an image. `folder` is empty or ends with a slash.
  mutating func add(_ name: some Collection<UInt8>, in folder: some Collection<UInt8>) throws(SystemFailure) {
    starts.append(UInt32(gathered.count))
    PathRecord.append(folder: folder, name: name, to: &gathered)
    if gathered.count >= runBytes { try endRun() }
  }

  /// All paths in order.
  mutating func finish(skipped: [SkippedItem]) throws(SystemFailure) -> PathList {
    try endRun()
    if runs.count < 2 { return try file.list(skipped: skipped) }
    let target = PathFile(directories)
    let records = try file.list(skipped: []).records
    var merge = try PathMerge(runs.map { PathReader(records, $0, sharingBuffersWith: runs.count) })
    while let record = try merge.next() { try target.append(record.bytes[...]) }
    return try target.list(skipped: skipped)
  }

  /// Sorts and writes the current run.
  private mutating func endRun() throws(SystemFailure) {
    gathered.withUnsafeBufferPointer { bytes in
      starts.sort {
        PathRecord.areInOrder(PathRecord.parts(at: Int($0), in: bytes), PathRecord.parts(at: Int($1), in: bytes))
      }
    }
    let start = file.count
    for record in starts { try file.append(PathRecord.bytes(at: Int(record), in: gathered)) }
    if file.count > start { runs.append(start..<file.count) }
    gathered.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
  }
}

/// A buffered file of records: unnamed and temporary, or in memory where they are few or no directory accepts a file.
/// Not thread-safe.
private final class PathFile {
  private static let bufferBytes = 256 << 10

  private let directories: [String]
  private var descriptor: FileDescriptor?
  private var staysInMemory = false
  private var buffer: [UInt8] = []
  private var written = 0
  private var marks: [Int] = []
  private var records = 0

  init(_ directories: [String]) { self.directories = directories }

  /// The length in bytes.
  var count: Int { written + buffer.count }

  func append(_ record: ArraySlice<UInt8>) throws(SystemFailure) {
    if records.isMultiple(of: PathList.markDistance) { marks.append(count) }
    records += 1
    buffer += record
    if buffer.count >= Self.bufferBytes, !staysInMemory { try flush() }
  }

  /// The records as they are now.
  func list(skipped: [SkippedItem]) throws(SystemFailure) -> PathList {
    if descriptor != nil { try flush() }
    let bytes = descriptor.map { ByteSource.file($0, count: written) } ?? .memory(buffer)
    return PathList(records: bytes, marks: marks, count: records, skipped: skipped)
  }

  private func flush() throws(SystemFailure) {
    descriptor = descriptor ?? directories.lazy.compactMap { try? FileDescriptor.unnamed(in: $0) }.first
    guard let descriptor else {
      staysInMemory = true
      return
    }
    try descriptor.write(buffer, at: written)
    written += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }
}
