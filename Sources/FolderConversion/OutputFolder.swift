import Dispatch
import Exports
import Foundation
import Synchronization
import ThumbnailCore

/// The output folder, locked by one run at a time.
///
/// A thumbnail is written under a temporary name in its own folder and renamed when complete. The temporary names are
/// few and fixed, so a killed run's leftovers are found without a search. The methods block: call them on worker
/// threads.
final class OutputFolder: Sendable {
  /// The most thumbnails written concurrently, each under its own temporary name.
  private static let slotCount = 64

  let path: RawPath
  /// The descriptor that holds the lock.
  private let lock: FileDescriptor
  /// The folders that this run has made, the innermost first.
  private let made: [RawPath]
  let index: ConversionIndex
  /// Counts the free slots.
  private let slots = DispatchSemaphore(value: slotCount)
  private let state = Mutex((folders: Set<[UInt8]>(), freeSlots: Array(0..<slotCount)))

  /// Creates the folder if it is missing, locks it, and removes the leftovers of a killed run.
  ///
  /// - Parameter isPublished: Whether others see the folder, but not its index.
  /// - Throws: `.cannotWrite`, `.busy`.
  init(_ path: RawPath, isPublished: Bool = false) throws(ConversionError) {
    self.path = path
    var made: [RawPath] = []
    var place = path
    while !place.bytes.isEmpty, (try? FileState(of: place)) == nil {
      made.append(place)
      place = RawPath(bytes: place.folder.dropLast())
    }
    self.made = made
    do throws(SystemFailure) {
      try NewFile.makeFolders(path)
    } catch {
      throw .cannotWrite(path: path, reason: error.reason)
    }
    let descriptor = path.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .cannotWrite(path: path, reason: SystemFailure.last.reason) }
    lock = FileDescriptor(owning: descriptor)
    // Some network file systems do not support such locks; there the user has to avoid concurrent runs.
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { throw .busy(path: path) }
    guard path.withCString({ access($0, W_OK | X_OK) }) == 0 else {
      throw .cannotWrite(path: path, reason: SystemFailure.last.reason)
    }
    index = ConversionIndex(folder: path, isPrivate: isPublished)
    for folder in Set(index.unfinishedFolders) {
      for slot in 0..<Self.slotCount { _ = temporary(slot, in: folder).withCString { unlink($0) } }
    }
  }

  /// Whether the locked folder still has its name.
  var isInPlace: Bool {
    var status = stat()
    guard fstat(lock.rawValue, &status) == 0, let state = try? FileState(of: path) else { return false }
    return state.isSameFile(as: FileState(status))
  }

  /// Unlocks the folder for other runs, and removes it if this run has made it for nothing. Nothing may be written
  /// afterwards.
  func release() {
    for folder in made where folder.withCString({ rmdir($0) }) != 0 && errno != ENOENT { break }
    flock(lock.rawValue, LOCK_UN)
  }

  /// Writes an input's thumbnails, each atomically.
  ///
  /// - Parameter times: The state of the file whose times they get; nil for the current time.
  /// - Throws: An error of this input only, or of all later ones, too: see `SystemFailure.endsRun`.
  func write(_ files: [(path: [UInt8], data: Data)], times: FileState?) throws(WriteFailure) {
    for file in files {
      _ = try make(file.path, times) { new throws(SystemFailure) in
        try new.write(file.data)
        return true
      }
    }
  }

  /// Copies a file with its times, atomically.
  ///
  /// - Returns: False, with nothing written, if it is not in the expected state.
  func copy(_ source: RawPath, in expected: FileState, to relative: [UInt8]) throws(WriteFailure) -> Bool {
    try make(relative, expected) { new throws(SystemFailure) in
      let descriptor = source.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
      guard descriptor >= 0 else { throw .last }
      let file = FileDescriptor(owning: descriptor)
      var rest = expected.byteCount
      while rest > 0 {
        let count = sendfile(new.file.rawValue, file.rawValue, nil, rest)
        if count < 0, errno != EINTR { throw .last }
        if count == 0 { return false }
        rest -= max(0, count)
      }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw .last }
      // Of the open file, so that no other one can have been in its place meanwhile.
      return FileState(status) == expected
    }
  }

  /// Removes a thumbnail, and its folders if they are then empty.
  func remove(_ relative: [UInt8]) {
    guard Self.isInside(relative) else { return }
    _ = path.appending(relative).withCString { unlink($0) }
    var rest = relative[...]
    while let slash = rest.lastIndex(of: RawPath.slash) {
      rest = rest[..<slash]
      guard path.appending(rest).withCString({ rmdir($0) }) == 0 else { return }
    }
  }

  /// Whether a path read from a file stays within the folder.
  private static func isInside(_ path: [UInt8]) -> Bool {
    let parts = path.split(separator: RawPath.slash, omittingEmptySubsequences: false)
    return parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual("..".utf8) }
  }

  /// Makes a file atomically, unless `fill` returns false.
  private func make(
    _ relative: [UInt8], _ times: FileState?, fill: (borrowing NewFile) throws(SystemFailure) -> Bool
  ) throws(WriteFailure) -> Bool {
    let folder = Array(relative[..<(relative.lastIndex(of: RawPath.slash) ?? 0)])
    // The workers of the pipeline and the pool of the run write. If there are more of them than slots, they wait.
    slots.wait()
    let slot = state.withLock { $0.freeSlots.removeLast() }
    defer {
      state.withLock { $0.freeSlots.append(slot) }
      slots.signal()
    }
    do throws(SystemFailure) {
      var file = try newFile(relative, temporary(slot, in: folder), in: folder)
      guard try fill(file) else { return false }
      if let times { try file.setTimes(accessed: times.accessed, modified: times.modified) }
      return try file.commit()
    } catch {
      throw WriteFailure(path: path.appending(relative), failure: error)
    }
  }

  private func newFile(_ relative: [UInt8], _ temporary: RawPath, in folder: [UInt8]) throws(SystemFailure) -> NewFile {
    try prepare(folder)
    do throws(SystemFailure) {
      return try NewFile(path.appending(relative), temporary: temporary)
    } catch {
      guard error.code == ENOENT else { throw error }
      // The folder was removed meanwhile.
      state.withLock { _ = $0.folders.remove(folder) }
      try prepare(folder)
      return try NewFile(path.appending(relative), temporary: temporary)
    }
  }

  private func temporary(_ slot: Int, in folder: [UInt8]) -> RawPath {
    let name = NamingTemplate.reservedPrefix + Array("\(slot).tmp".utf8)
    return folder.isEmpty ? path.appending(name) : path.appending(folder).appending(name)
  }

  /// Creates a folder for thumbnails, once, and records it in the index.
  private func prepare(_ folder: [UInt8]) throws(SystemFailure) {
    if state.withLock({ $0.folders.contains(folder) }) { return }
    if !folder.isEmpty { try NewFile.makeFolders(path.appending(folder)) }
    index.noteFolder(folder)
    if let failure = index.failure { throw failure }
    state.withLock { _ = $0.folders.insert(folder) }
  }
}

/// Why a thumbnail could not be written.
struct WriteFailure: Error {
  /// The thumbnail.
  let path: RawPath
  let failure: SystemFailure
}
