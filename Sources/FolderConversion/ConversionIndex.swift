import Exports
import Foundation
import Synchronization
import ThumbnailCore

/// The index in the output folder: which thumbnails were made, from which sources and with which options.
///
/// A text file. A run appends a line for each converted input after its thumbnails were renamed, so a kill loses at
/// most the last lines. If it has changed anything, a run ends by atomically replacing the file with one sorted by key,
/// so its content does not depend on the order of events.
///
/// Takes 16 bytes of memory for each entry; lines are read on demand. All methods block for a read or an append while
/// holding a lock, so call them on worker threads.
final class ConversionIndex: Sendable {
  private struct State {
    var descriptor: FileDescriptor?
    /// The offset of each entry's line.
    var offsets: [UInt64: Int] = [:]
    /// The keys of thumbnails that an earlier run renamed to avoid a name collision.
    var toldApart: Set<UInt64> = []
    /// The end of the file, and lines not yet written there.
    var end = 0
    var pending: [UInt8] = []
    var lastWrite = ContinuousClock.now
    var isChanged = false
    var failure: SystemFailure?
  }

  static let name = ".thumbs-index"
  private static let header = Array("thumbs index 1\n".utf8)
  /// How long, and up to how many bytes, lines are buffered.
  private static let patience = Duration.milliseconds(200)
  private static let batchBytes = 32 << 10

  private let path: RawPath
  private let permissions: mode_t
  private let state = Mutex(State())
  /// The folders that a killed run was writing to.
  let unfinishedFolders: [[UInt8]]

  /// Opens the index of a folder, or an empty one if there is none of this version. Nothing is written yet.
  ///
  /// - Parameter isPrivate: Whether only its owner may read the paths in it, since others see the folder.
  init(folder: RawPath, isPrivate: Bool = false) {
    permissions = isPrivate ? 0o600 : 0o666
    path = folder.appending(Self.name.utf8)
    let descriptor = path.withCString { open($0, O_RDWR | O_CLOEXEC | O_NOFOLLOW) }
    var unfinished: [[UInt8]] = []
    if descriptor >= 0 {
      let file = FileDescriptor(owning: descriptor)
      state.withLock { state in
        var status = stat()
        guard fstat(descriptor, &status) == 0, FileState(status).kind == .regular,
          let body = Optional(ByteSource.file(file, count: Int(status.st_size))),
          (try? body.read(at: 0, length: Self.header.count)) == Self.header
        else { return }
        state.descriptor = file
        Self.scan(body, &state, &unfinished)
      }
    }
    unfinishedFolders = unfinished
  }

  /// The first write error; nil if there was none.
  var failure: SystemFailure? { state.withLock { $0.failure } }

  /// Writes what is not yet in the file.
  func flush() { state.withLock { if !$0.pending.isEmpty { Self.write(&$0) } } }

  /// The entry with this key.
  func entry(_ key: UInt64) -> IndexEntry? {
    state.withLock { state in state.offsets[key].flatMap { Self.entry(at: $0, state) } }
  }

  /// Whether there are no entries.
  var isEmpty: Bool { state.withLock { $0.offsets.isEmpty } }

  /// The keys of thumbnails that were renamed to avoid a collision.
  var toldApart: Set<UInt64> { state.withLock { $0.toldApart } }

  /// Adds an entry, or replaces the one with its key.
  func add(_ entry: IndexEntry) {
    state.withLock { state in
      guard begin(&state) else { return }
      state.offsets[entry.key] = state.end + state.pending.count
      if IndexEntry.isToldApart(line: entry.line) {
        state.toldApart.insert(entry.key)
      } else {
        state.toldApart.remove(entry.key)
      }
      state.pending += entry.line
      state.isChanged = true
      if state.pending.count >= Self.batchBytes || ContinuousClock.now - state.lastWrite >= Self.patience {
        Self.write(&state)
      }
    }
  }

  /// Records that a folder may hold temporary files, before any is created there.
  func noteFolder(_ path: [UInt8]) {
    state.withLock { state in
      guard begin(&state) else { return }
      state.pending.append(UInt8(ascii: "+"))
      IndexEntry.append(path, to: &state.pending)
      state.pending.append(UInt8(ascii: "\n"))
      state.isChanged = true
      Self.write(&state)
    }
  }

  /// The entries that belong to none of a run's inputs, whose keys were `seen`, and whose source files no longer exist
  /// or have thumbnails of other names or sizes now. Without outputs that others have, too.
  ///
  /// - Parameter isWhole: Whether nothing else belongs in the folder: sources that exist count as well.
  func orphans(_ seen: Set<UInt64>, isWhole: Bool = false) -> [IndexEntry] {
    state.withLock { state in
      var (sources, outputs): (Set<UInt64>, Set<UInt64>) = ([], [])
      for key in seen {
        guard let entry = state.offsets[key].flatMap({ Self.entry(at: $0, state) }) else { continue }
        sources.insert(NamingTemplate.seededHash(entry.source.bytes))
        outputs.formUnion(entry.outputs.map { NamingTemplate.seededHash($0.path.bytes) })
      }
      return state.offsets.keys.sorted().compactMap { key in
        guard !seen.contains(key), let offset = state.offsets[key], var entry = Self.entry(at: offset, state),
          isWhole || sources.contains(NamingTemplate.seededHash(entry.source.bytes)) || entry.source.isGone
        else { return nil }
        entry.outputs.removeAll { !outputs.insert(NamingTemplate.seededHash($0.path.bytes)).inserted }
        return entry
      }
    }
  }

  /// Removes an entry.
  func remove(_ key: UInt64) {
    state.withLock { state in
      state.offsets[key] = nil
      state.isChanged = true
    }
  }

  /// Rewrites the file if this run has changed anything, or an earlier one left it unfinished.
  func finish() {
    state.withLock { state in
      guard state.isChanged || !unfinishedFolders.isEmpty else { return }
      guard begin(&state) else { return }
      Self.write(&state)
      guard state.failure == nil else { return }
      do throws(SystemFailure) {
        try rewrite(&state)
      } catch {
        state.failure = error
      }
    }
  }

  // MARK: Reading

  /// Finds the offsets of the lines. A last line without a line feed was truncated by a kill; it is overwritten.
  private static func scan(_ body: ByteSource, _ state: inout State, _ unfinished: inout [[UInt8]]) {
    var position = header.count
    var carried: [UInt8] = []
    var line = position
    while let piece = try? body.read(at: position, length: 1 << 20), !piece.isEmpty {
      var start = 0
      while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
        carried += piece[start..<end]
        if carried.first == UInt8(ascii: "+") {
          unfinished.append(IndexEntry.path(carried.dropFirst()).bytes)
        } else if let key = IndexEntry.key(carried.prefix(16)) {
          state.offsets[key] = line
          if IndexEntry.isToldApart(line: carried) { state.toldApart.insert(key) } else { state.toldApart.remove(key) }
        }
        carried.removeAll(keepingCapacity: true)
        start = end + 1
        line = position + start
      }
      carried += piece[start...]
      position += piece.count
    }
    state.end = line
  }

  private static func entry(at offset: Int, _ state: State) -> IndexEntry? {
    line(at: offset, state).flatMap { IndexEntry(line: $0) }
  }

  /// A line without its line feed, from the file or the buffer.
  private static func line(at offset: Int, _ state: State) -> ArraySlice<UInt8>? {
    if offset >= state.end {
      let rest = state.pending[(offset - state.end)...]
      return rest.firstIndex(of: UInt8(ascii: "\n")).map { rest[..<$0] }
    }
    guard let descriptor = state.descriptor else { return nil }
    var length = 512
    while true {
      let body = ByteSource.file(descriptor, count: state.end)
      guard let bytes = try? body.read(at: offset, length: length) else { return nil }
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return bytes[..<end] }
      if bytes.count < length { return nil }
      length *= 4
    }
  }

  // MARK: Writing

  /// Creates the file if it is missing. False if that fails, or anything failed before.
  private func begin(_ state: inout State) -> Bool {
    if state.failure != nil { return false }
    if state.descriptor != nil { return true }
    let descriptor = path.withCString { open($0, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, permissions) }
    guard descriptor >= 0 else {
      state.failure = .last
      return false
    }
    state.descriptor = FileDescriptor(owning: descriptor)
    (state.end, state.pending) = (0, Self.header)
    Self.write(&state)
    return state.failure == nil
  }

  private static func write(_ state: inout State) {
    guard let descriptor = state.descriptor, state.failure == nil else { return }
    do throws(SystemFailure) {
      try descriptor.write(state.pending, at: state.end)
      state.end += state.pending.count
      state.pending.removeAll(keepingCapacity: true)
      state.lastWrite = .now
    } catch {
      state.failure = error
    }
  }

  /// Writes a new file next to the old one and renames it over that.
  private func rewrite(_ state: inout State) throws(SystemFailure) {
    var file = try NewFile(path, temporary: RawPath(bytes: path.bytes + Array(".tmp".utf8)), permissions: permissions)
    var offsets: [UInt64: Int] = [:]
    offsets.reserveCapacity(state.offsets.count)
    var written = 0
    var batch = Self.header
    for key in state.offsets.keys.sorted() {
      guard let offset = state.offsets[key], let line = Self.line(at: offset, state) else { continue }
      offsets[key] = written + batch.count
      batch += line
      batch.append(UInt8(ascii: "\n"))
      if batch.count >= Self.batchBytes {
        try file.write(batch)
        written += batch.count
        batch.removeAll(keepingCapacity: true)
      }
    }
    try file.write(batch)
    written += batch.count
    try file.commit()
    (state.descriptor, state.offsets, state.end, state.isChanged) = (file.file, offsets, written, false)
  }
}
