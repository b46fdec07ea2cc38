import CLibC
import Glibc
import Synchronization
import ThumbnailCore

/// What has changed in watched folders.
struct TreeChanges: Sendable {
  /// Folders with new, changed or removed files. All paths of folders end with slashes.
  var folders: Set<[UInt8]> = []
  /// Folders that are new, with all in them.
  var trees: Set<[UInt8]> = []
  /// Whether something was removed or moved away.
  var hasRemovals = false
  /// Whether changes may be missing, so that everything has to be looked at.
  var isIncomplete = false

  var isEmpty: Bool { folders.isEmpty && trees.isEmpty && !isIncomplete }
}

/// Watches folders by inotify. `wait` blocks: call it on a thread of its own.
final class TreeWatch: Sendable {
  private struct State {
    /// The paths of the watched folders, with a trailing slash.
    var paths: [Int32: [UInt8]] = [:]
    var isFull = false
  }

  /// Changes that come so soon after others are reported with them, up to `longestBurst` after the first.
  private static let (calm, longestBurst) = (Duration.milliseconds(100), Duration.seconds(1))
  private static let mask = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)

  private let descriptor: FileDescriptor
  private let state = Mutex(State())
  /// Files that are being written: created or modified, and not closed yet.
  private let open = Mutex<Set<[UInt8]>>([])

  /// - Throws: `.invalidOption`.
  init() throws(ConversionError) {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      throw .invalidOption(
        reason: "folders cannot be watched here: \(SystemFailure.last.reason); convert from time to time instead")
    }
    self.descriptor = FileDescriptor(owning: descriptor)
  }

  /// Files that are being written, and should be left alone for now.
  var unfinished: Set<[UInt8]> { open.withLock { $0 } }
  /// Whether some folders could not be watched, since the kernel's limit is reached.
  var isFull: Bool { state.withLock { $0.isFull } }

  /// Watches a folder, without the folders in it. Called before it is listed, so that nothing is missed between.
  func add(_ folder: RawPath) {
    let number = folder.withCString {
      inotify_add_watch(descriptor.rawValue, $0, Self.mask | UInt32(IN_ONLYDIR))
    }
    let isFull = number < 0 && errno == ENOSPC
    let path = folder.bytes.last == RawPath.slash ? folder.bytes : folder.bytes + [RawPath.slash]
    state.withLock { state in
      if number >= 0 { state.paths[number] = path }
      if isFull { state.isFull = true }
    }
  }

  /// Waits for changes until they pause; returns what came by `deadline`, or nothing.
  func wait(until deadline: ContinuousClock.Instant, cancelled: CancellationFlag) -> TreeChanges {
    var changes = TreeChanges()
    var first: ContinuousClock.Instant?
    while !cancelled.isSet {
      let now = ContinuousClock.now
      if let first, now - first > Self.longestBurst { break }
      if first == nil, now > deadline { break }
      var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
      let patience = first == nil ? min(deadline - now, .milliseconds(250)) : Self.calm
      if poll(&request, 1, Int32(max(0, patience.milliseconds.rounded(.up)))) > 0 {
        read(into: &changes)
        if first == nil, !changes.isEmpty { first = now }
      } else if first != nil {
        break
      }
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
      open.withLock { $0.removeAll() }
      return
    }
    guard let folder = state.withLock({ $0.paths[event.wd] }) else { return }
    if isAny(Int(IN_IGNORED)) {
      state.withLock { $0.paths[event.wd] = nil }
      return
    }
    let isGone = isAny(Int(IN_DELETE), Int(IN_MOVED_FROM))
    if isAny(Int(IN_DELETE_SELF), Int(IN_MOVE_SELF), Int(IN_UNMOUNT)) {
      // Of a folder within a tree, its parent tells as well; of a tree itself, nobody else.
      changes.folders.insert(folder)
      changes.hasRemovals = true
      return
    }
    let path = folder + name
    if isAny(Int(IN_ISDIR)) {
      if isGone { forget(path + [RawPath.slash]) } else { changes.trees.insert(path + [RawPath.slash]) }
    } else if isAny(Int(IN_MODIFY)) || isAny(Int(IN_CREATE)) && !isWhole(path) {
      _ = open.withLock { $0.insert(path) }
      return
    } else {
      _ = open.withLock { $0.remove(path) }
    }
    changes.folders.insert(folder)
    if isGone { changes.hasRemovals = true }
  }

  /// Whether a file that has just appeared is not being written: another name of a file, or a link.
  private func isWhole(_ path: [UInt8]) -> Bool {
    var status = stat()
    guard RawPath(bytes: path).withCString({ lstat($0, &status) }) == 0 else { return false }
    return status.st_nlink > 1 || status.st_mode & S_IFMT != S_IFREG
  }

  /// Forgets the watches of a folder that was moved away, and of the folders in it.
  private func forget(_ folder: [UInt8]) {
    let gone = state.withLock { state in
      let gone = state.paths.filter { $0.value.starts(with: folder) }.map(\.key)
      for number in gone { state.paths[number] = nil }
      return gone
    }
    for number in gone { inotify_rm_watch(descriptor.rawValue, number) }
    open.withLock { open in open = open.filter { !$0.starts(with: folder) } }
  }

  /// Whether changes that others make in the folder stay unnoticed here, as on a network file system.
  static func isRemote(_ folder: RawPath) -> Bool {
    // NFS, SMB and its successors, Ceph, 9P, AFS, FUSE.
    return [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0xC3_6400, 0x0102_1997, 0x5346_414F, 0x6573_5546]
      .contains(folder.withCString(clibc_file_system))
  }
}
