import Foundation
import ThumbnailCore

/// Takes a body as it arrives: in memory up to a limit, beyond that in a file without a name.
///
/// Where a file's disk turns out to be full, the body moves on to the next place: another directory, and in the end a
/// file in memory whose bytes come out of the memory budget.
struct BodyBuffer {
  private var memoryLimit: Int
  /// Where the body goes when it outgrows memory, or the place before is full: the first of these that takes it.
  private var places: [SpillPlace]
  private var memory: [UInt8] = []
  private var file: FileDescriptor?
  /// What the file takes of the memory budget, where it lies in memory.
  private var loan: MemoryLoan?
  private var announced = 0
  private var firstFailure: DownloadError?
  /// The bytes taken so far.
  private(set) var count = 0
  /// The file that was given, while the body goes there.
  private(set) var givenFile: FileDescriptor?

  init(memoryLimit: Int, spillDirectories: [String], spillMemory: ByteSemaphore? = nil) {
    self.memoryLimit = memoryLimit
    places = SpillPlace.all(in: spillDirectories, spillMemory)
  }

  /// Goes on behind the bytes that a file holds already.
  init(
    continuing file: FileDescriptor, at count: Int, spillDirectories: [String] = [], spillMemory: ByteSemaphore? = nil
  ) {
    memoryLimit = 0
    places = SpillPlace.all(in: spillDirectories, spillMemory)
    (self.file, givenFile, self.count) = (file, file, count)
  }

  /// Has the body go into the file that is opened then, if one is, should it outgrow memory.
  mutating func spill(into open: @escaping @Sendable () -> FileDescriptor?) { places.insert(.given(open), at: 0) }

  /// The file, once the body has outgrown memory. Nil for one in memory, which is not kept beyond a transfer.
  var spilled: FileDescriptor? { loan == nil ? file : nil }

  /// Makes room in one piece for what is announced.
  mutating func prepare(for announced: Int?) {
    self.announced = announced ?? 0
    memory.reserveCapacity(min(self.announced, memoryLimit))
  }

  /// Adds bytes at the end.
  ///
  /// - Throws: `.cannotStoreBody`, with why the first place took no more, when none does.
  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
    if file == nil && count + bytes.count <= memoryLimit {
      memory.append(contentsOf: bytes)
    } else {
      if file == nil { try moveOn() }
      while !write(bytes) { try moveOn() }
    }
    count += bytes.count
  }

  /// Moves what is in memory to the file, where everything that comes goes from now on.
  mutating func leaveMemory() throws(DownloadError) {
    memoryLimit = 0
    if file == nil, !memory.isEmpty { try moveOn() }
  }

  /// The body so far. Nothing may be added afterwards.
  mutating func finish() -> ByteSource {
    defer { memory = [] }
    return file.map { .file($0, count: count) } ?? .memory(memory)
  }

  /// Writes bytes behind those in the file. False when it takes no more.
  private mutating func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let file else { return false }
    do throws(SpillFailure) {
      try loan?.cover(max(count + bytes.count, announced))
      try file.write(bytes, at: count)
      return true
    } catch {
      note(error)
      return false
    }
  }

  /// Takes the body so far to the next place that has room for it.
  private mutating func moveOn() throws(DownloadError) {
    let former = file.map { ByteSource.file($0, count: count) } ?? .memory(memory)
    while !places.isEmpty {
      let place = places.removeFirst()
      do throws(SpillFailure) {
        guard let (opened, loan) = try place.open() else { continue }
        try loan?.cover(max(count, announced))
        try opened.write(former)
        if case .given = place { givenFile = opened } else { givenFile = nil }
        (file, self.loan, memory) = (opened, loan, [])
        return
      } catch {
        note(error)
      }
    }
    throw firstFailure ?? .cannotStoreBody(path: "", reason: "no directory for large bodies")
  }

  private mutating func note(_ failure: SpillFailure) {
    Log.download.debug("a body cannot go on in \(failure.place): \(failure.reason)")
    if firstFailure == nil { firstFailure = .cannotStoreBody(path: failure.place, reason: failure.reason) }
  }
}
