import Foundation
import Logging
package import ThumbnailCore

/// Buffers a body as it arrives: in memory up to a limit, beyond that in a spill file.
///
/// If the spill file's disk is full, the body moves to the next spill location: another directory, and finally a file in
/// memory whose bytes come out of the memory budget.
package struct BodyBuffer {
  private var memoryLimit: Int
  /// Spill locations, tried in order when the body outgrows memory or the previous place is full.
  private var locations: [SpillLocation]
  private let logger: Logger
  private var memory: [UInt8] = []
  private var file: FileDescriptor?
  /// The file's share of the memory budget, if it is a file in memory.
  private var loan: MemoryLoan?
  private var announced = 0
  private var firstFailure: DownloadError?
  /// The number of bytes buffered so far.
  package private(set) var count = 0
  /// The file that was passed in, while the body is written to it.
  private(set) var givenFile: FileDescriptor?
  private var abandon: (@Sendable (FileDescriptor) -> Void)?

  /// `locations` are tried in order.
  init(memoryLimit: Int, spillsTo locations: [SpillLocation], logger: Logger = Log.download) {
    (self.memoryLimit, self.locations, self.logger) = (memoryLimit, locations, logger)
  }

  /// Appends to a file that already holds the first `count` bytes.
  init(
    continuing file: FileDescriptor, at count: Int, spillsTo locations: [SpillLocation] = [],
    logger: Logger = Log.download
  ) {
    (memoryLimit, self.locations, self.logger) = (0, locations, logger)
    (self.file, givenFile, self.count) = (file, file, count)
  }

  /// Makes the body spill into the file that `open` returns, if any, when it outgrows memory. `abandon` removes that
  /// file when the body cannot be written to it.
  mutating func spill(
    into open: @escaping @Sendable () -> FileDescriptor?,
    abandon: @escaping @Sendable (FileDescriptor) -> Void = { _ in }
  ) {
    locations.insert(.given(open), at: 0)
    self.abandon = abandon
  }

  /// The spill file, once the body has outgrown memory. Nil for a file in memory, which does not outlive the transfer.
  var spilled: FileDescriptor? { loan == nil ? file : nil }

  /// Reserves capacity for the announced length at once.
  package mutating func prepare(for announced: Int?) {
    self.announced = announced ?? 0
    memory.reserveCapacity(min(self.announced, memoryLimit))
  }

  /// Appends bytes.
  ///
  /// - Throws: `.cannotStoreBody`, with the first location's failure, when none has room.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
    if file == nil && count + bytes.count <= memoryLimit {
      memory.append(contentsOf: bytes)
    } else {
      if file == nil { try moveToNextLocation() }
      while !write(bytes) { try moveToNextLocation() }
    }
    count += bytes.count
  }

  /// Moves the body from memory to a file, where all later bytes go as well.
  mutating func leaveMemory() throws(DownloadError) {
    memoryLimit = 0
    if file == nil, !memory.isEmpty { try moveToNextLocation() }
  }

  /// The body so far. Nothing may be appended afterwards.
  package mutating func finish() -> ByteSource {
    defer { memory = [] }
    return file.map { .file($0, count: count) } ?? .memory(memory)
  }

  /// Appends to the file. Returns false on failure, such as a full disk.
  private mutating func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let file else { return false }
    do throws(SpillFailure) {
      try loan?.cover(max(count + bytes.count, announced))
      try file.spill(bytes, at: count)
      return true
    } catch {
      note(error)
      return false
    }
  }

  /// Moves the body so far to the next spill location that has room for it. A given file that it leaves is abandoned.
  private mutating func moveToNextLocation() throws(DownloadError) {
    let former = file.map { ByteSource.file($0, count: count) } ?? .memory(memory)
    if let givenFile { abandon?(givenFile) }
    givenFile = nil
    while !locations.isEmpty {
      let location = locations.removeFirst()
      do throws(SpillFailure) {
        guard let (opened, loan) = try location.open() else { continue }
        if case .given = location { givenFile = opened }
        try loan?.cover(max(count, announced))
        try opened.spill(former)
        (file, self.loan, memory) = (opened, loan, [])
        return
      } catch {
        if let givenFile { abandon?(givenFile) }
        givenFile = nil
        note(error)
      }
    }
    throw firstFailure ?? .cannotStoreBody(path: "", reason: "no directory for large bodies")
  }

  private mutating func note(_ failure: SpillFailure) {
    logger.debug("a body cannot go on in \(failure.location): \(failure.reason)")
    if firstFailure == nil { firstFailure = .cannotStoreBody(path: failure.location, reason: failure.reason) }
  }
}
