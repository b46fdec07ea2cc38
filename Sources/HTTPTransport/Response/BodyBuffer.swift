import Foundation
package import ThumbnailCore

/// Buffers a body as it arrives: in memory up to a limit, and in a spill file beyond it.
///
/// If the spill file's disk is full, the body moves to the next spill location: another directory, and finally a file
/// in memory, which counts against the memory budget.
package struct BodyBuffer {
  private var memoryLimit: Int
  private var memory: [UInt8] = []
  private var spill: SpillFile
  private var announced = 0
  /// The number of bytes buffered so far.
  package private(set) var count = 0

  /// `locations` are tried in order.
  init(memoryLimit: Int, spillsTo locations: [SpillLocation]) {
    (self.memoryLimit, spill) = (memoryLimit, SpillFile(locations))
  }

  /// Appends to a file that already holds the first `count` bytes. `abandon` removes a named file that the body has
  /// left.
  init(
    continuing file: FileDescriptor, _ stored: StoredPartial? = nil, at count: Int,
    spillsTo locations: [SpillLocation] = [],
    abandon: @escaping @Sendable (StoredPartial) -> Void = { _ in }
  ) {
    self.init(memoryLimit: 0, spillsTo: locations)
    self.count = count
    spill.adopt(file, stored)
    spill.abandon = abandon
  }

  /// Makes the body spill into the named file that `open` returns, if any, when it outgrows memory. `abandon` removes
  /// that file when the body cannot be written to it.
  mutating func spill(
    into open: @escaping @Sendable () -> StoredPartial?, abandon: @escaping @Sendable (StoredPartial) -> Void
  ) {
    spill.locations.insert(.named(open), at: 0)
    spill.abandon = abandon
  }

  /// The spill file, once the body has outgrown memory. Nil for a file in memory, which ends with the transfer.
  var spilled: FileDescriptor? { spill.loan == nil ? spill.file : nil }
  /// The named file that holds the body, if any.
  var stored: StoredPartial? { spill.stored }

  /// Reserves capacity for the announced length at once.
  package mutating func prepare(for announced: Int?) {
    self.announced = announced ?? 0
    memory.reserveCapacity(min(self.announced, memoryLimit))
  }

  /// Appends bytes.
  ///
  /// - Throws: `.cannotStoreBody`, with the first location's failure, when none has room.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
    if spill.file == nil && count + bytes.count <= memoryLimit {
      memory.append(contentsOf: bytes)
    } else {
      try write(bytes)
    }
    count += bytes.count
  }

  /// Moves the body from memory to a file, where all later bytes go as well.
  mutating func leaveMemory() throws(DownloadError) {
    memoryLimit = 0
    if !memory.isEmpty { try write(UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  /// The body so far. Nothing may be appended afterwards.
  package mutating func finish() -> ByteSource {
    defer { memory = [] }
    return content
  }

  private var content: ByteSource { spill.file.map { .file($0, count: count) } ?? .memory(memory) }

  private mutating func write(_ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
    let count = count
    try spill.write(
      behind: content, known: [0..<count], length: max(count + bytes.count, announced)
    ) { file throws(SystemFailure) in try file.write(bytes, at: count) }
    memory = []
  }
}

/// A body with gaps: the downloaded parts, each in its place in an unnamed file. The gaps take no disk space.
package struct PartsFile: Sendable {
  /// The length of the whole body in bytes.
  package let length: Int
  /// The ranges that were downloaded.
  package private(set) var known = RangeSet<Int>()
  private var spill: SpillFile
  /// Writes parts, which blocks.
  private static let thread = DispatchQueue(label: "thumbnailer.parts")

  init(length: Int, in locations: [SpillLocation]) {
    (self.length, spill) = (length, SpillFile(locations))
  }

  /// The body. Gaps read as zeros.
  package var body: ByteSource { spill.file.map { .file($0, count: length) } ?? .memory([]) }

  /// Writes a download's part to its place, or a whole body to the beginning, and drops its bytes.
  ///
  /// - Throws: `.cannotStoreBody`, with the first location's failure, when none has room.
  package mutating func add(_ download: inout Download) async throws(DownloadError) {
    try await add(download.body, at: download.part?.range.lowerBound ?? 0)
    // The download keeps its share of the memory as long as the part is used.
    download.body = .memory([])
  }

  /// Writes bytes to a place.
  package mutating func add(_ body: ByteSource, at offset: Int) async throws(DownloadError) {
    let result = await withCheckedContinuation { continuation in
      Self.thread.async { [added = self] in
        continuation.resume(
          returning: Result { () throws(DownloadError) in
            var parts = added
            try parts.write(body, at: offset)
            return parts
          })
      }
    }
    self = try result.get()
  }

  private mutating func write(_ part: ByteSource, at offset: Int) throws(DownloadError) {
    let length = length
    try spill.write(behind: body, known: Array(known.ranges), length: length) { file throws(SystemFailure) in
      guard ftruncate(file.rawValue, off_t(length)) == 0 else { throw .last }
      try file.write(part, at: offset)
    }
    known.insert(contentsOf: offset..<offset + part.count)
  }
}
