import Exports
import Foundation
import Synchronization
import ThumbnailCore

/// The output folder, locked by one run at a time.
///
/// A thumbnail is written under a temporary name in its own folder, added to the index, and renamed. So the index names
/// every thumbnail, also those of a killed run. What stands at a thumbnail's place is replaced if the index says that it
/// is still what was written, or if it is a beginning of what is to be written; otherwise it is a user's, and stays.
/// The methods block: call them on worker threads.
final class OutputFolder: Sendable {
  /// A file to be written.
  enum Content {
    case data(Data)
    /// A copy, with its times.
    case file(FileDescriptor, FileState)
  }

  let path: RawPath
  let root: RootFolder
  /// The descriptor that holds the lock.
  private let lock: FileDescriptor
  /// The folders that this run has made, the innermost first.
  private let made: [RawPath]
  let index: ConversionIndex
  /// What has become of a file to remove: one that is a user's or an input stays.
  enum Removal {
    case removed, kept, failed
  }

  /// The folders that the index has as those of temporary files.
  private let noted = Mutex<Set<[UInt8]>>([])

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
      root = try RootFolder(path)
      lock = FileDescriptor(owning: openat(try root.folder([]).rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
      guard lock.rawValue >= 0 else { throw .last }
    } catch {
      throw .cannotWrite(path: path, reason: error.reason)
    }
    // Some network file systems do not support such locks; there the user has to avoid concurrent runs.
    if flock(lock.rawValue, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { throw .busy(path: path) }
    guard path.withCString({ access($0, W_OK | X_OK) }) == 0 else {
      throw .cannotWrite(path: path, reason: SystemFailure.last.reason)
    }
    index = ConversionIndex(root, isPrivate: isPublished)
    if let failure = index.failure {
      throw .cannotWrite(path: path.appending(ConversionIndex.name), reason: failure.reason)
    }
    if !index.unfinishedFolders.isEmpty { try? root.remove(ConversionIndex.temporaryName.bytes) }
    for folder in Set(index.unfinishedFolders) {
      for name in root.names(in: folder) ?? [] where NewFile.isTemporary(name) {
        let path = folder + (folder.isEmpty ? [] : [RawPath.slash]) + name
        // Another run may write it now, into a folder within this one.
        if let state = Self.unlocked(path, in: root) { try? root.remove(path, if: state) }
      }
      for name in root.names(in: folder) ?? [] where NewFile.isSetAside(name) {
        let path = folder + (folder.isEmpty ? [] : [RawPath.slash]) + name
        // A user's, if no run has written it: it may have come at the moment of a kill.
        guard let (file, state) = try? root.file(path),
          let digest = try? ByteSource.file(file, count: state.byteCount).digest(), index.names(digest, state.byteCount)
        else { continue }
        try? root.remove(path, if: state)
      }
    }
  }

  /// The state of a file that no run has locked.
  private static func unlocked(_ path: [UInt8], in root: RootFolder) -> FileState? {
    guard let (file, state) = try? root.file(path, writing: true), state.kind == .regular else { return nil }
    // Some network file systems have no locks.
    return file.lock() || errno != EWOULDBLOCK ? state : nil
  }

  /// Whether the locked folder still has its name.
  var isInPlace: Bool {
    guard let locked = try? FileState(ofOpen: lock), let state = try? FileState(of: path) else { return false }
    return state.isSameFile(as: locked)
  }

  /// Unlocks the folder for other runs, and removes it if this run has made it for nothing. Nothing may be written
  /// afterwards.
  func release() {
    for folder in made where folder.withCString({ rmdir($0) }) != 0 && errno != ENOENT { break }
    flock(lock.rawValue, LOCK_UN)
  }

  /// Writes the files of an entry, each atomically, and adds the entry to the index.
  ///
  /// - Parameters:
  ///   - files: The content of each output of the entry.
  ///   - isInput: Whether a file or folder is an input, which is never replaced or written into.
  ///   - isOthers: Whether an entry is of another picture, whose thumbnails keep their names.
  /// - Returns: False, with nothing written, if a copied file has changed meanwhile.
  /// - Throws: An error of this input only, or of all later ones, too: see `SystemFailure.endsRun`. `EEXIST` if a user's
  ///   file is in the way.
  func write(
    _ files: [Content], of entry: IndexEntry, isInput: (FileState) -> Bool = { _ in false },
    isOthers: (IndexEntry) -> Bool = { _ in false }
  ) throws(WriteFailure) -> Bool {
    var entry = entry
    var drafts: [Draft] = []
    for (position, content) in files.enumerated() {
      let output = entry.outputs[position].path
      do throws(SystemFailure) {
        let draft = try draft(output.bytes, isInput)
        guard try draft.fill(content) else { return false }
        (entry.outputs[position].byteCount, entry.outputs[position].digest) = try draft.measure()
        drafts.append(draft)
      } catch {
        throw WriteFailure(path: path.appending(output.bytes), failure: error)
      }
    }
    let earlier = index.entries(entry.key)
    for (position, draft) in drafts.enumerated() {
      do throws(SystemFailure) {
        let isKept = { [self] in
          isInput($0) || entry.isSource($0, of: entry.outputs[position]) || isSource($0, of: draft.path)
        }
        draft.replaced = try root.replaced(draft.path, by: draft.file, isInput: isKept) { state in
          // Other options may have given it the name.
          let named = index.entries(naming: draft.path).filter { !isOthers($0) }
          return index.written(draft.path, asIn: named) == state
        }
      } catch {
        let others = index.entries(naming: draft.path).filter(isOthers)
        let owner = others.first { index.written(draft.path, asIn: [$0]) != nil }?.source
        throw WriteFailure(path: path.appending(draft.path), failure: error, owner: owner)
      }
    }
    index.add(entry)
    if let failure = index.failure { throw WriteFailure(path: path, failure: failure) }
    let known = Set(entry.outputs.map(\.path))
    let others = earlier.flatMap(\.outputs).filter { !known.contains($0.path) }
    for draft in drafts {
      do throws(SystemFailure) {
        guard try draft.file.commit(over: draft.replaced) else { throw SystemFailure(code: EEXIST) }
      } catch {
        // Some may be written. Never current, it names all that may be there.
        entry.token = ""
        entry.outputs += others
        index.add(entry)
        throw WriteFailure(path: path.appending(draft.path), failure: error)
      }
    }
    if !others.isEmpty {
      // Such as those of a picture that has another format now: orphans, by a key that no input has.
      (entry.key, entry.token, entry.outputs) = (OutputNames.key(others.map(\.path.bytes) + [[]]), "", others)
      index.add(entry)
    }
    index.settle(entry.key)
    // What a run that had lost the index has only found.
    for path in known where index.entry(OutputNames.key([path.bytes, []])) != nil {
      index.remove(OutputNames.key([path.bytes, []]))
    }
    return true
  }

  /// Adds to an entry whose thumbnails are current what 0.10.0 has not written, or what a restart has changed.
  func renew(_ entry: IndexEntry, disk: UInt64) {
    guard entry.disk != disk || entry.outputs.contains(where: { $0.digest == nil }) else { return }
    var renewed = entry
    renewed.disk = disk
    for (place, output) in entry.outputs.enumerated() where output.digest == nil {
      guard let state = index.written(output.path.bytes, asIn: [entry]),
        let file = try? root.file(output.path.bytes).file
      else { continue }
      renewed.outputs[place].digest = try? ByteSource.file(file, count: state.byteCount).digest()
    }
    if renewed != entry { index.add(renewed) }
    index.settle(entry.key)
  }

  /// Removes a file if it is still what was written, and its folders if they are then empty.
  ///
  /// - Parameters:
  ///   - source: Its source, which may be the same file by now.
  ///   - isInput: See `write`.
  func remove(_ relative: [UInt8], of source: RawPath, isInput: (FileState) -> Bool) -> Removal {
    do throws(SystemFailure) {
      guard let state = index.written(relative, asIn: index.entries(naming: relative)), !isInput(state),
        !isSource(state, of: relative), (try? FileState(of: source))?.isSameFile(as: state) != true,
        !isInput(try FileState(ofOpen: try root.folder(RawPath(bytes: relative).folder)))
      else { return .kept }
      // On a full disk the index may have no room.
      try? note(RawPath(bytes: relative).folder.dropLast())
      try root.remove(relative, if: state)
      root.removeEmptyFolders(of: relative)
      return .removed
    } catch {
      return error.code == EEXIST ? .kept : .failed
    }
  }

  /// Whether a file is by now what a source of its entries leads to.
  private func isSource(_ state: FileState, of relative: [UInt8]) -> Bool {
    index.entries(naming: relative).contains { (try? FileState(of: $0.source))?.isSameFile(as: state) == true }
  }

  /// Has the index name a folder, once, before temporary files come there.
  private func note(_ folder: some Collection<UInt8>) throws(SystemFailure) {
    let folder = Array(folder)
    if noted.withLock({ $0.contains(folder) }) { return }
    index.noteFolder(folder)
    if let failure = index.failure { throw failure }
    noted.withLock { _ = $0.insert(folder) }
  }

  /// Creates a file under a temporary name in the folder of its path.
  private func draft(_ relative: [UInt8], _ isInput: (FileState) -> Bool) throws(SystemFailure) -> Draft {
    let output = RawPath(bytes: relative)
    let folder = try root.folder(output.folder, making: 0o777)
    // A folder of the pictures may be mounted here.
    if isInput(try FileState(ofOpen: folder)) { throw SystemFailure(code: EBUSY) }
    try note(output.folder.dropLast())
    return Draft(relative, try RootFolder.newFile(output.name, in: folder, isNamed: true))
  }
}

/// Why a thumbnail could not be written.
struct WriteFailure: Error {
  /// The thumbnail.
  let path: RawPath
  let failure: SystemFailure
  /// The picture whose thumbnail is in the way; nil if that is no thumbnail.
  var owner: RawPath?
}
