import CLibC
import Glibc
import Synchronization
import ThumbnailCore

/// What has changed in watched folders. All paths of folders end with slashes.
struct TreeChanges: Sendable {
  /// Folders with new, changed or removed files.
  var folders: Set<[UInt8]> = []
  /// Folders that are new, with all in them.
  var trees: Set<[UInt8]> = []
  /// Files and folders that were removed, or moved away.
  var removed: Set<[UInt8]> = []
  /// Whether changes may be missing, so that everything has to be looked at.
  var isIncomplete = false

  var isEmpty: Bool { folders.isEmpty && trees.isEmpty && !isIncomplete }

  /// Whether the files in a folder have to be looked at.
  func include(_ folder: [UInt8]) -> Bool {
    isIncomplete || folders.contains(folder) || Self.isWithin(trees, folder)
  }

  /// Whether a file was removed, alone or with a folder.
  func haveRemoved(_ file: [UInt8]) -> Bool {
    removed.contains(file) || Self.isWithin(removed, file)
  }

  /// Whether a path is one of these folders, or lies within one. There may be as many as there are folders.
  private static func isWithin(_ folders: Set<[UInt8]>, _ path: [UInt8]) -> Bool {
    !folders.isEmpty && path.indices.contains { path[$0] == RawPath.slash && folders.contains(Array(path[...$0])) }
  }
}

/// Watches folders by inotify. `wait` blocks: call it on a thread of its own.
final class TreeWatch: Sendable {
  private struct State {
    /// The paths of each watched folder, which may have been named in several ways, with trailing slashes.
    var paths: [Int32: [[UInt8]]] = [:]
    var isFull = false
    var remote: RawPath?
  }

  /// Changes that come so soon after others are reported with them, up to `longestBurst` after the first.
  private static let (calm, longestBurst) = (Duration.milliseconds(100), Duration.seconds(1))
  /// How often files are looked at whose end of writing nobody told, as after truncate(2) and linkat(2).
  private static let pause = Duration.milliseconds(250)
  /// The time without events after which a file counts as whole, where the kernel does not say whether it is open.
  private static let patience = Duration.seconds(2)
  private static let mask = UInt32(
    IN_ATTRIB | IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF
      | IN_MOVE_SELF)

  private let descriptor: FileDescriptor
  /// The kernel's list of mounted file systems, which tells of changes: inotify does not.
  private let mounts = FileDescriptor(owning: Glibc.open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC))
  private let state = Mutex(State())
  /// Files that are being written, and when each was last written to.
  private let open = Mutex<[[UInt8]: ContinuousClock.Instant]>([:])

  /// - Throws: `.invalidOption`.
  init() throws(ConversionError) {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      throw .invalidOption(
        reason: "folders cannot be watched here: \(SystemFailure.last.reason); convert from time to time instead")
    }
    self.descriptor = FileDescriptor(owning: descriptor)
  }

  /// Whether a file is being written, and should be left alone for now.
  func isUnfinished(_ path: [UInt8]) -> Bool { open.withLock { $0[path] != nil } }
  /// Whether some folders could not be watched, since the kernel's limit is reached.
  var isFull: Bool { state.withLock(\.isFull) }
  /// A folder on a network file system, which tells no changes that others make; nil if there is none.
  var remote: RawPath? { state.withLock(\.remote) }

  /// Watches a folder, without the folders in it. Called before it is listed, so that nothing is missed between.
  func add(_ folder: RawPath) {
    let number = folder.withCString {
      inotify_add_watch(descriptor.rawValue, $0, Self.mask | UInt32(IN_ONLYDIR))
    }
    let isFull = number < 0 && errno == ENOSPC
    let isRemote = folder.isRemote
    let path = folder.bytes.last == RawPath.slash ? folder.bytes : folder.bytes + [RawPath.slash]
    state.withLock { state in
      if number >= 0, state.paths[number]?.contains(path) != true { state.paths[number, default: []].append(path) }
      if isFull { state.isFull = true }
      if isRemote { state.remote = folder }
    }
  }

  /// Waits for changes until they pause; returns what came by `deadline`, or nothing.
  func wait(until deadline: ContinuousClock.Instant, cancelled: CancellationFlag) -> TreeChanges {
    var changes = TreeChanges()
    var (first, lastLook): (ContinuousClock.Instant?, ContinuousClock.Instant) = (nil, .now)
    while !cancelled.isSet {
      let now = ContinuousClock.now
      if let first, now - first > Self.longestBurst { break }
      if first == nil, now > deadline { break }
      var requests = [
        pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0),
        pollfd(fd: mounts.rawValue, events: Int16(POLLPRI), revents: 0),
      ]
      let patience = first == nil ? min(deadline - now, Self.pause) : Self.calm
      if poll(&requests, 2, Int32(max(0, patience.milliseconds.rounded(.up)))) > 0 {
        if requests[0].revents != 0 { read(into: &changes) }
        if requests[1].revents & Int16(POLLPRI | POLLERR) != 0 { changes.isIncomplete = true }
      } else if first != nil {
        break
      }
      if now - lastLook >= Self.pause {
        lookAtQuietFiles(&changes)
        lastLook = now
      }
      if first == nil, !changes.isEmpty { first = now }
    }
    return changes
  }

  private func read(into changes: inout TreeChanges) {
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
      let count = Glibc.read(descriptor.rawValue, buffer.baseAddress, buffer.count)
      var position = 0
      let head = MemoryLayout<inotify_event>.size
      while position + head <= count {
        let event = buffer.load(fromByteOffset: position, as: inotify_event.self)
        let name = buffer[(position + head)..<(position + head + Int(event.len))].prefix { $0 != 0 }
        take(event, Array(name), &changes)
        position += head + Int(event.len)
      }
    }
  }

  private func take(_ event: inotify_event, _ name: [UInt8], _ changes: inout TreeChanges) {
    let mask = Int(event.mask)
    func isAny(_ bits: Int...) -> Bool { bits.contains { mask & $0 != 0 } }
    if isAny(Int(IN_Q_OVERFLOW)) {
      changes.isIncomplete = true
      return
    }
    for folder in state.withLock({ $0.paths[event.wd] ?? [] }) {
      if isAny(Int(IN_IGNORED)) {
        state.withLock { $0.paths[event.wd] = nil }
      } else if isAny(Int(IN_DELETE_SELF), Int(IN_MOVE_SELF), Int(IN_UNMOUNT)) {
        // Another may have its name. That it was removed is said by its parent, if that is watched, too. The kernel
        // itself ends the watch of a folder that was removed.
        if isAny(Int(IN_MOVE_SELF), Int(IN_UNMOUNT)) { forget(folder) }
        changes.trees.insert(folder)
      } else if !name.isEmpty {
        let isGone = isAny(Int(IN_DELETE), Int(IN_MOVED_FROM))
        if isAny(Int(IN_MOVED_FROM)), isAny(Int(IN_ISDIR)) { forget(folder + name + [RawPath.slash]) }
        take(
          folder + name, in: folder, isFolder: isAny(Int(IN_ISDIR)), isGone, isAny(Int(IN_MODIFY), Int(IN_CREATE)),
          &changes)
      }
    }
  }

  private func take(
    _ path: [UInt8], in folder: [UInt8], isFolder: Bool, _ isGone: Bool, _ mayBeOpen: Bool,
    _ changes: inout TreeChanges
  ) {
    if isFolder {
      if isGone { changes.removed.insert(path + [RawPath.slash]) } else { changes.trees.insert(path + [RawPath.slash]) }
    } else if !isGone, mayBeOpen, Self.isBeingWritten(path) != false {
      open.withLock { $0[path] = .now }
      return
    } else {
      open.withLock { $0[path] = nil }
    }
    changes.folders.insert(folder)
    if isGone, !isFolder { changes.removed.insert(path) }
    // Of a new link to a folder.
    if !isGone, !isFolder, (try? FileState(of: RawPath(bytes: path)))?.kind == .folder {
      changes.trees.insert(path + [RawPath.slash])
    }
  }

  /// Finds files whose end of writing nobody told.
  private func lookAtQuietFiles(_ changes: inout TreeChanges) {
    let now = ContinuousClock.now
    for (path, last) in open.withLock({ $0 }) where !(Self.isBeingWritten(path) ?? (now - last < Self.patience)) {
      open.withLock { $0[path] = nil }
      changes.folders.insert(Array(RawPath(bytes: path).folder))
    }
  }

  /// Whether a process has the file open for writing: then the kernel grants no lease to read it. Nil if it cannot be
  /// found out.
  private static func isBeingWritten(_ path: [UInt8]) -> Bool? {
    let number = RawPath(bytes: path).withCString { Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) }
    if number < 0 { return false }
    defer { close(number) }
    let answer = clibc_is_being_written(number)
    return answer < 0 ? nil : answer > 0
  }

  /// Forgets the watches of a folder that is gone from its place, and of the folders in it.
  private func forget(_ folder: [UInt8]) {
    let gone = state.withLock { state in
      var gone: [Int32] = []
      for (number, paths) in state.paths where paths.contains(where: { $0.starts(with: folder) }) {
        let rest = paths.filter { !$0.starts(with: folder) }
        state.paths[number] = rest.isEmpty ? nil : rest
        if rest.isEmpty { gone.append(number) }
      }
      return gone
    }
    for number in gone { inotify_rm_watch(descriptor.rawValue, number) }
    open.withLock { open in open = open.filter { !$0.key.starts(with: folder) } }
  }
}

extension RawPath {
  /// Whether a folder may be on another machine, or its calls take long.
  var isRemote: Bool {
    // NFS, SMB and its successors, Ceph, 9P, AFS, FUSE, VirtualBox.
    [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0xC3_6400, 0x0102_1997, 0x5346_414F, 0x6573_5546, 0x786F_4256]
      .contains(withCString(clibc_file_system))
  }
}
