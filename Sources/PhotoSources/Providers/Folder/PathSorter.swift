import Foundation
import ThumbnailCore

/// Sorts the paths of a folder's images in bounded memory, as an external merge sort.
///
/// Runs of 256 KiB are sorted, written to an unnamed temporary file and merged there. In the resulting order, a
/// folder's own images precede its subfolders; both are in natural order.
struct PathSorter {
  /// The most runs merged at once, since each has a buffer.
  private static let widestMerge = 32

  private let runBytes: Int
  private let directories: [String]
  /// The records of the current run, and the offset of each.
  private var gathered: [UInt8] = []
  private var starts: [UInt32] = []
  private var file: RecordFile?
  private var runs: [Range<Int>] = []
  /// Whether no directory accepts a temporary file.
  private var staysInMemory = false

  /// An empty sorter.
  ///
  /// - Parameters:
  ///   - runBytes: The size of a run in memory; less than 4 GiB.
  ///   - directories: Candidates for the temporary file; the first that accepts one is used. If none does, all stays in
  ///     memory.
  init(runBytes: Int = 256 << 10, directories: [String] = Self.standardDirectories) {
    (self.runBytes, self.directories) = (runBytes, directories)
  }

  /// `TMPDIR`, or a directory on a disk, since `/tmp` may be in memory.
  static var standardDirectories: [String] {
    let temporary = FileManager.default.temporaryDirectory.path
    return ProcessInfo.processInfo.environment["TMPDIR"] == nil ? ["/var/tmp", temporary] : [temporary]
  }

  /// Adds an image. `folder` is empty or ends with a slash.
  mutating func add(_ name: some Collection<UInt8>, in folder: some Collection<UInt8>) throws(SystemFailure) {
    starts.append(UInt32(gathered.count))
    PathRecord.append(folder: folder, name: name, to: &gathered)
    if gathered.count >= runBytes, !staysInMemory { try endRun() }
    if gathered.count > UInt32.max - (2 << 16) { throw SystemFailure(code: ENOMEM) }
  }

  /// All paths in order.
  mutating func finish(skipped: [SkippedItem]) throws(SystemFailure) -> PathList {
    guard file != nil else {
      var sorted: [UInt8] = []
      sorted.reserveCapacity(gathered.count)
      var marks = PathMarks()
      sortStarts()
      for start in starts {
        marks.add(at: sorted.count)
        sorted += PathRecord.bytes(at: Int(start), in: gathered)
      }
      return PathList(records: .memory(sorted), marks: marks, skipped: skipped)
    }
    if !starts.isEmpty { try endRun() }
    while true {
      let isLast = runs.count <= Self.widestMerge
      guard let source = file, let target = RecordFile(directories) else { throw SystemFailure(code: ENOSPC) }
      var merged: [Range<Int>] = []
      var marks = PathMarks()
      for first in stride(from: 0, to: runs.count, by: Self.widestMerge) {
        let start = target.count
        let group = runs[first..<min(first + Self.widestMerge, runs.count)]
        var merge = try PathMerge(group.map { PathReader(source.records, $0) })
        while let record = try merge.next() {
          if isLast { marks.add(at: target.count) }
          try target.append(record.bytes[...])
        }
        merged.append(start..<target.count)
      }
      try target.flush()
      (file, runs) = (target, merged)
      if isLast { return PathList(records: target.records, marks: marks, skipped: skipped) }
    }
  }

  private mutating func sortStarts() {
    gathered.withUnsafeBufferPointer { bytes in
      starts.sort {
        PathRecord.areInOrder(PathRecord.parts(at: Int($0), in: bytes), PathRecord.parts(at: Int($1), in: bytes))
      }
    }
  }

  /// Sorts and writes the current run.
  private mutating func endRun() throws(SystemFailure) {
    if file == nil { file = RecordFile(directories) }
    guard let file else {
      staysInMemory = true
      return
    }
    sortStarts()
    let start = file.count
    for record in starts { try file.append(PathRecord.bytes(at: Int(record), in: gathered)) }
    try file.flush()
    runs.append(start..<file.count)
    gathered.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
  }
}

/// A buffered, unnamed temporary file of records. Not thread-safe.
private final class RecordFile {
  private let descriptor: FileDescriptor
  private var buffer: [UInt8] = []
  private var written = 0

  /// Nil if no directory accepts a file.
  init?(_ directories: [String]) {
    guard let descriptor = directories.lazy.compactMap({ try? FileDescriptor.unnamed(in: $0) }).first else {
      return nil
    }
    self.descriptor = descriptor
  }

  /// The length including the buffer, in bytes.
  var count: Int { written + buffer.count }
  /// The records written to the file.
  var records: ByteSource { .file(descriptor, count: written) }

  func append(_ record: ArraySlice<UInt8>) throws(SystemFailure) {
    buffer += record
    if buffer.count >= 64 << 10 { try flush() }
  }

  func flush() throws(SystemFailure) {
    try descriptor.write(buffer, at: written)
    written += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }
}
