import CLibC
import Exports
import Foundation
import Synchronization
import ThumbnailCore

/// The index in the output folder: which thumbnails were made, from which sources and with which options.
///
/// A text file. A run appends a line for each converted input before its thumbnails get their names, so a kill leaves
/// no thumbnail that is not in it. If it has changed anything, a run ends by atomically replacing the file with one
/// sorted by key, so its content does not depend on the order of events.
///
/// The file may be a stranger's: what it says is compared with what is there. Takes 16 bytes of memory for each entry;
/// lines are read on demand. All methods block for a read or an append while holding a lock, so call them on worker
/// threads.
final class ConversionIndex: Sendable {
  private struct State {
    var descriptor: FileDescriptor?
    /// The offset of each entry's line.
    var offsets: [UInt64: Int] = [:]
    /// The lines before, of entries whose thumbnails may still be those of before: they are being written, or a kill
    /// came between.
    var earlier: [UInt64: [Int]] = [:]
    /// The keys of thumbnails that an earlier run renamed to avoid a name collision.
    var toldApart: Set<UInt64> = []
    /// The keys of the entries that name an output, by its hash; nil until it is asked for.
    var named: [UInt64: Set<UInt64>]?
    /// The end of the file.
    var end = 0
    var isChanged = false
    /// Whether the file has another name, too: a copy of the folder by hard links would change with it; or is not this
    /// user's own.
    var isShared = false
    /// The owner, if others than this user may have written it: in a folder that several share.
    var stranger: uid_t?
    var failure: SystemFailure?
  }

  static let name = Array(".thumbs-index".utf8)
  /// One run at a time has the folder.
  static let temporaryName = RawPath(".thumbs-index.tmp")
  private static let header = Array("thumbs index 1\n".utf8)
  private static let batchBytes = 32 << 10
  /// The lines of one entry that are kept until its thumbnails are there: a few kills in a row.
  private static let maxEarlier = 16
  /// A longer line is no entry, in bytes: the names of an entry take a twentieth.
  private static let maxLineBytes = 1 << 20

  /// Nil if there is no folder.
  private let root: RootFolder?
  private let permissions: mode_t
  private let state = Mutex(State())
  /// The folders that a killed run was writing to.
  let unfinishedFolders: [[UInt8]]

  /// Opens the index of a folder, or an empty one if there is none of this version. Nothing is written yet.
  ///
  /// - Parameter isPrivate: Whether only its owner may read the paths in it, since others see the folder.
  init(_ root: RootFolder?, isPrivate: Bool = false) {
    let place = Self.state(of: [], in: root)
    permissions = isPrivate ? 0o600 : 0o644
    self.root = root
    var unfinished: [[UInt8]] = []
    state.withLock { state in
      // One that cannot be written is replaced, like one that has another name, too.
      let writable = try? root?.file(Self.name, writing: true)
      let opened: OpenFile?
      do throws(SystemFailure) {
        opened = if let writable { writable } else { try root?.file(Self.name) }
      } catch {
        // What it says of others' thumbnails is not to be lost.
        if ![ENOENT, ELOOP, ENXIO].contains(error.code) { state.failure = error }
        opened = nil
      }
      guard let (file, found) = opened, found.kind == .regular else { return }
      guard let place else { return state.failure = SystemFailure(code: EIO) }
      // Where only the owner of a file may remove it (`/tmp`), no other user says which are ours.
      let isSticky = place.permissions & S_ISVTX != 0
      if found.isPlanted(in: place) || isSticky && found.permissions & 0o022 != 0 { return }
      let isOwn = [geteuid(), 0].contains(found.owner)
      if !isOwn || found.permissions & place.permissions & 0o022 != 0 { state.stranger = found.owner }
      let body = ByteSource.file(file, count: found.byteCount)
      do {
        guard try body.read(at: 0, length: Self.header.count) == Self.header else { return }
        (state.descriptor, state.isShared) = (file, found.linkCount > 1 || writable == nil || state.stranger != nil)
        try Self.scan(body, &state, &unfinished)
      } catch {
        state.failure = SystemFailure(code: EIO)
      }
    }
    let stranger = state.withLock(\.stranger)
    unfinishedFolders = unfinished.filter { Self.mayName($0, in: root, stranger) }
  }

  private static func state(of folder: some Collection<UInt8>, in root: RootFolder?) -> FileState? {
    (try? root?.folder(folder)).flatMap { try? FileState(ofOpen: $0) }
  }

  /// Whether who may have written the index may remove what is in a folder anyway.
  private static func mayName(_ folder: some Collection<UInt8>, in root: RootFolder?, _ stranger: uid_t?) -> Bool {
    guard let stranger else { return true }
    guard let home = state(of: [], in: root), let place = state(of: folder, in: root) else { return false }
    // A server of NFS may give all files there to nobody.
    let isSomebody = stranger != FileState.nobody || root?.path.withCString(clibc_file_system) == 0x6969
    if place.owner == stranger, stranger != geteuid(), isSomebody { return true }
    // Another group has other members.
    let shared: mode_t = place.group == home.group ? home.permissions & 0o020 | 0o002 : 0o002
    return place.permissions & shared != 0 && place.permissions & S_ISVTX == 0
  }

  /// The state of a file if it is still what was written for one of these entries.
  func written(_ relative: [UInt8], asIn entries: [IndexEntry]) -> FileState? {
    written(relative, asIn: entries, state.withLock(\.stranger))
  }

  private func written(_ relative: [UInt8], asIn entries: [IndexEntry], _ stranger: uid_t?) -> FileState? {
    let named = entries.flatMap { entry in entry.outputs.filter { $0.path.bytes == relative }.map { (entry, $0) } }
    guard !named.isEmpty, let (file, state) = try? root?.file(relative), state.kind == .regular,
      clibc_is_being_written(file.rawValue) != 1, Self.mayName(RawPath(bytes: relative).folder, in: root, stranger)
    else { return nil }
    // Originals that are mounted in the place of their copies have the same bytes.
    if relative.starts(with: SiteNames.originals), root?.isMounted(file) == true { return nil }
    let body = ByteSource.file(file, count: state.byteCount)
    let fitting = named.filter { $0.1.byteCount == state.byteCount }
    if fitting.contains(where: { $0.1.digest != nil }), let digest = try? body.digest(),
      fitting.contains(where: { $0.1.digest == digest })
    {
      return state
    }
    // Several lengths of one file are a guess.
    let unsure = named.filter { $0.1.digest == nil }
    guard Set(unsure.map(\.1.byteCount)).count == 1, unsure[0].1.byteCount == state.byteCount,
      unsure[0].0.isPlausible(unsure[0].1, body, modified: state.modified)
    else { return nil }
    return state
  }

  /// The first write error; nil if there was none.
  var failure: SystemFailure? { state.withLock { $0.failure } }

  /// The entry with this key.
  func entry(_ key: UInt64) -> IndexEntry? {
    state.withLock { state in state.offsets[key].flatMap { Self.entry(at: $0, state) } }
  }

  /// The entry of a source with these planned names: by their key or, where another's has that, by its own.
  func entry(_ planned: [[UInt8]], of source: RawPath) -> IndexEntry? {
    [planned, planned + [source.bytes]].lazy.compactMap { self.entry(OutputNames.key($0)) }.first {
      $0.source == source
    }
  }

  /// The entry with this key, and those before whose thumbnails may still be there.
  func entries(_ key: UInt64) -> [IndexEntry] {
    state.withLock { state in
      ((state.offsets[key].map { [$0] } ?? []) + state.earlier[key, default: []].reversed())
        .compactMap { Self.entry(at: $0, state) }
    }
  }

  /// The entries that name an output, with those before whose thumbnails may still be there.
  func entries(naming path: [UInt8]) -> [IndexEntry] {
    keys(naming: path).sorted().flatMap { entries($0) }.filter { $0.outputs.contains { $0.path.bytes == path } }
  }

  /// Whether an entry names an output.
  func names(_ path: [UInt8]) -> Bool { !keys(naming: path).isEmpty }

  private func keys(naming path: [UInt8]) -> Set<UInt64> {
    state.withLock { state in
      if state.named == nil {
        state.named = [:]
        for (key, offset) in state.offsets {
          for offset in state.earlier[key, default: []] + [offset] {
            if let entry = Self.entry(at: offset, state) { Self.name(entry.outputs, key, &state) }
          }
        }
      }
      return state.named?[NamingTemplate.seededHash(path)] ?? []
    }
  }

  private static func name(_ outputs: [ConversionOutput], _ key: UInt64, _ state: inout State) {
    for output in outputs { state.named?[NamingTemplate.seededHash(output.path.bytes), default: []].insert(key) }
  }

  /// Whether an entry has an output of this digest and length.
  func names(_ digest: UInt64, _ byteCount: Int) -> Bool {
    state.withLock { state in
      (Array(state.offsets.values) + state.earlier.values.flatMap(\.self)).contains { offset in
        Self.entry(at: offset, state)?.outputs.contains { $0.digest == digest && $0.byteCount == byteCount } == true
      }
    }
  }

  /// Whether there are no entries.
  var isEmpty: Bool { state.withLock { $0.offsets.isEmpty } }

  /// The keys of thumbnails that were renamed to avoid a collision.
  var toldApart: Set<UInt64> { state.withLock { $0.toldApart } }

  /// Adds an entry, whose thumbnails may now get their names. The one with its key before is kept until `settle`.
  func add(_ entry: IndexEntry) {
    state.withLock { state in
      let line = entry.line
      guard let offset = append(line, &state) else { return }
      Self.replace(entry.key, line, at: offset, &state)
      Self.name(entry.outputs, entry.key, &state)
    }
  }

  /// Notes that all thumbnails of an entry are there as it says.
  func settle(_ key: UInt64) { state.withLock { $0.earlier[key] = nil } }

  /// Records that a folder may hold temporary files, before any is created there.
  func noteFolder(_ path: [UInt8]) {
    state.withLock { state in
      var line = Array("+".utf8)
      IndexEntry.append(path, to: &line)
      _ = append(line + Array("\n".utf8), &state)
    }
  }

  /// The sources of entries.
  func sources(where isMeant: (RawPath) -> Bool) -> [RawPath] {
    state.withLock { state in
      state.offsets.values.compactMap { Self.entry(at: $0, state)?.source }.filter(isMeant).sorted {
        $0.bytes.lexicographicallyPrecedes($1.bytes)
      }
    }
  }

  /// The entries that belong to none of a run's inputs, whose keys were `seen`, and whose source files no longer exist
  /// or have thumbnails of other names or sizes now. Without outputs that others have, too.
  ///
  /// - Parameter counts: Whether an entry counts or not, whether its source exists or not; nil if that decides.
  func orphans(_ seen: Set<UInt64>, counting counts: (IndexEntry) -> Bool? = { _ in nil }) -> [IndexEntry] {
    state.withLock { state in
      var (sources, outputs): (Set<UInt64>, Set<UInt64>) = ([], [])
      for key in seen {
        guard let entry = state.offsets[key].flatMap({ Self.entry(at: $0, state) }) else { continue }
        sources.insert(NamingTemplate.seededHash(entry.source.bytes))
        outputs.formUnion(entry.outputs.map { NamingTemplate.seededHash($0.path.bytes) })
      }
      let orphans = state.offsets.keys.sorted().filter { key in
        guard !seen.contains(key), let entry = state.offsets[key].flatMap({ Self.entry(at: $0, state) }) else {
          return false
        }
        if sources.contains(NamingTemplate.seededHash(entry.source.bytes)) || counts(entry) ?? entry.source.isGone {
          return true
        }
        // Of a source that is no input of this run.
        outputs.formUnion(entry.outputs.map { NamingTemplate.seededHash($0.path.bytes) })
        return false
      }
      return orphans.compactMap { key in
        guard var entry = state.offsets[key].flatMap({ Self.entry(at: $0, state) }) else { return nil }
        // Also those of a line before that a kill has left.
        for offset in state.earlier[key, default: []] { entry.outputs += Self.entry(at: offset, state)?.outputs ?? [] }
        entry.outputs.removeAll { !outputs.insert(NamingTemplate.seededHash($0.path.bytes)).inserted }
        return entry
      }
    }
  }

  /// Removes an entry.
  func remove(_ key: UInt64) {
    state.withLock { state in
      (state.offsets[key], state.earlier[key]) = (nil, nil)
      state.isChanged = true
    }
  }

  /// Rewrites the file if this run has changed anything, or an earlier one left it unfinished.
  func finish() {
    state.withLock { state in
      guard state.isChanged || !unfinishedFolders.isEmpty, state.failure == nil else { return }
      // What a killed run has written nevertheless.
      for key in state.earlier.keys {
        let entry = state.offsets[key].flatMap { Self.entry(at: $0, state) }
        if let entry, entry.outputs.allSatisfy({ written($0.path.bytes, asIn: [entry], state.stranger) != nil }) {
          state.earlier[key] = nil
        }
      }
      rewrite(&state)
    }
  }

  // MARK: Reading

  /// Finds the offsets of the lines. A last line without a line feed was truncated by a kill; it is overwritten.
  private static func scan(_ body: ByteSource, _ state: inout State, _ unfinished: inout [[UInt8]]) throws {
    var position = header.count
    var carried: [UInt8] = []
    var (line, isOverlong) = (position, false)
    while case let piece = try body.read(at: position, length: 1 << 20), !piece.isEmpty {
      var start = 0
      while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
        carried += piece[start..<end]
        if !isOverlong { take(carried, at: line, &state, &unfinished) }
        (carried, isOverlong) = ([], false)
        start = end + 1
        line = position + start
      }
      carried += piece[start...]
      if carried.count > maxLineBytes { (carried, isOverlong) = ([], true) }
      position += piece.count
    }
    state.end = line
  }

  /// Sets the line of an entry, and keeps some of those before.
  private static func replace(_ key: UInt64, _ line: [UInt8], at offset: Int, _ state: inout State) {
    if IndexEntry.isToldApart(line: line) { state.toldApart.insert(key) } else { state.toldApart.remove(key) }
    guard let earlier = state.offsets.updateValue(offset, forKey: key) else { return }
    state.earlier[key, default: []].append(earlier)
    if state.earlier[key, default: []].count > maxEarlier { state.earlier[key]?.removeFirst() }
  }

  private static func take(_ line: [UInt8], at offset: Int, _ state: inout State, _ unfinished: inout [[UInt8]]) {
    if line.first == UInt8(ascii: "+") {
      unfinished.append(IndexEntry.path(line.dropFirst()).bytes)
    } else if let key = IndexEntry.key(line.prefix(16)) {
      replace(key, line, at: offset, &state)
    }
  }

  private static func entry(at offset: Int, _ state: State) -> IndexEntry? {
    (try? line(at: offset, state)).flatMap { IndexEntry(line: $0) }
  }

  /// A line without its line feed.
  private static func line(at offset: Int, _ state: State) throws(SystemFailure) -> ArraySlice<UInt8> {
    if let descriptor = state.descriptor {
      let body = ByteSource.file(descriptor, count: state.end)
      var length = 512
      while length <= 4 * maxLineBytes, let bytes = try? body.read(at: offset, length: length) {
        if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return bytes[..<end] }
        if bytes.count < length { break }
        length *= 4
      }
    }
    throw SystemFailure(code: EIO)
  }

  // MARK: Writing

  /// Hands a line to the kernel, and returns its offset; nil if that fails, or anything failed before.
  private func append(_ line: [UInt8], _ state: inout State) -> Int? {
    if state.failure == nil, state.descriptor == nil || state.isShared { rewrite(&state) }
    guard let descriptor = state.descriptor, state.failure == nil else { return nil }
    let offset = state.end
    do throws(SystemFailure) {
      try descriptor.write(line, at: offset)
    } catch {
      state.failure = error
      return nil
    }
    state.end += line.count
    state.isChanged = true
    return offset
  }

  private func mayKeep(_ line: ArraySlice<UInt8>, _ stranger: uid_t?) -> Bool {
    stranger == nil
      || IndexEntry(line: line)?.outputs.allSatisfy { Self.mayName($0.path.folder, in: root, stranger) } == true
  }

  /// Writes a new file beside the old one, and renames it over that.
  private func rewrite(_ state: inout State) {
    do throws(SystemFailure) {
      guard let root else { return }
      var file = try NewFile(
        RawPath(bytes: Self.name), in: try root.folder([]), temporary: Self.temporaryName, permissions: permissions)
      var next = State(failure: state.failure)
      (next.toldApart, next.named) = (state.toldApart, state.stranger == nil ? state.named : nil)
      var batch = Self.header
      for key in state.offsets.keys.sorted() {
        let earlier = state.earlier[key, default: []]
        var offsets: [Int] = []
        var lines: [ArraySlice<UInt8>] = []
        for offset in earlier + (state.offsets[key].map { [$0] } ?? []) {
          lines.append(try Self.line(at: offset, state))
        }
        // They would be this user's own from now on.
        if !lines.allSatisfy({ mayKeep($0, state.stranger) }) { continue }
        for line in lines {
          offsets.append(next.end + batch.count)
          batch += line + [UInt8(ascii: "\n")]
        }
        next.offsets[key] = offsets.last
        if offsets.count > 1 { next.earlier[key] = offsets.dropLast() }
        if batch.count >= Self.batchBytes {
          try file.write(batch)
          next.end += batch.count
          batch.removeAll(keepingCapacity: true)
        }
      }
      try file.write(batch)
      next.end += batch.count
      try file.commit()
      next.descriptor = file.file
      state = next
    } catch {
      state.failure = error
    }
  }
}
