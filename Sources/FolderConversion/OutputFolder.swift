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
  private let overwrites: Bool
  private let temporaryCount = Atomic(0)
  /// The folders that the index has as those of temporary files.
  private let noted = Mutex<Set<[UInt8]>>([])

  /// Creates the folder if it is missing, locks it, and removes the leftovers of a killed run.
  ///
  /// - Parameters:
  ///   - isPublished: Whether others see the folder, but not its index.
  ///   - overwrites: Whether users' files are replaced that are in the way.
  /// - Throws: `.cannotWrite`, `.busy`.
  init(_ path: RawPath, isPublished: Bool = false, overwrites: Bool = false) throws(ConversionError) {
    (self.path, self.overwrites) = (path, overwrites)
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
    for folder in Set(index.unfinishedFolders) {
      for name in root.names(in: folder) where Self.isTemporary(name) {
        try? root.remove(folder + (folder.isEmpty ? [] : [RawPath.slash]) + name)
      }
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

  /// Writes the files of an entry, each atomically, and adds the entry to the index.
  ///
  /// - Parameters:
  ///   - files: The content of each output of the entry.
  ///   - times: The state of the file whose times they get; nil for the current time.
  ///   - isInput: Whether a file or folder is an input, which is never replaced or written into.
  /// - Returns: False, with nothing written, if a copied file has changed meanwhile.
  /// - Throws: An error of this input only, or of all later ones, too: see `SystemFailure.endsRun`. `EEXIST` if a user's
  ///   file is in the way.
  func write(
    _ files: [Content], of entry: IndexEntry, times: FileState? = nil, isInput: (FileState) -> Bool = { _ in false }
  ) throws(WriteFailure) -> Bool {
    var entry = entry
    var drafts: [Draft] = []
    for (position, content) in files.enumerated() {
      let output = entry.outputs[position].path
      do throws(SystemFailure) {
        let draft = try draft(output.bytes, isInput)
        guard try draft.fill(content) else { return false }
        if let times { try draft.file.setTimes(accessed: times.accessTime, modified: times.modificationTime) }
        (entry.outputs[position].byteCount, entry.outputs[position].digest) = try draft.measure()
        drafts.append(draft)
      } catch {
        throw WriteFailure(path: path.appending(output.bytes), failure: error)
      }
    }
    let earlier = index.entries(entry.key)
    for draft in drafts {
      do throws(SystemFailure) {
        draft.isReplacing = try root.replaces(draft.path, draft.file, isInput: isInput) { state in
          overwrites || root.holds(draft.path, asIn: earlier)
        }
      } catch {
        throw WriteFailure(path: path.appending(draft.path), failure: error)
      }
    }
    index.add(entry)
    if let failure = index.failure { throw WriteFailure(path: path, failure: failure) }
    for draft in drafts {
      do throws(SystemFailure) {
        guard try draft.file.commit(replacing: draft.isReplacing) else { throw SystemFailure(code: EEXIST) }
      } catch {
        // Some may be written. Never current, it names all that may be there.
        entry.token = ""
        let known = Set(entry.outputs.map(\.path))
        entry.outputs += earlier.flatMap(\.outputs).filter { !known.contains($0.path) }
        index.add(entry)
        throw WriteFailure(path: path.appending(draft.path), failure: error)
      }
    }
    index.settle(entry.key)
    return true
  }

  /// Removes a file of an entry if it is still what was written, and its folders if they are then empty.
  ///
  /// - Returns: Whether it was.
  func remove(_ relative: [UInt8], of key: UInt64) -> Bool {
    guard root.holds(relative, asIn: index.entries(key)), (try? root.remove(relative)) != nil else { return false }
    root.removeEmptyFolders(of: relative)
    return true
  }

  /// Creates a file under a temporary name in the folder of its path.
  private func draft(_ relative: [UInt8], _ isInput: (FileState) -> Bool) throws(SystemFailure) -> Draft {
    let output = RawPath(bytes: relative)
    let folder = try root.folder(output.folder, making: 0o777)
    var status = stat()
    guard fstat(folder.rawValue, &status) == 0 else { throw .last }
    // A folder of the pictures may be mounted here.
    if isInput(FileState(status)) { throw SystemFailure(code: EEXIST) }
    let noted = Array(output.folder.dropLast())
    if !self.noted.withLock({ $0.contains(noted) }) {
      index.noteFolder(noted)
      if let failure = index.failure { throw failure }
      self.noted.withLock { _ = $0.insert(noted) }
    }
    let number = temporaryCount.add(1, ordering: .relaxed).newValue
    return Draft(relative, try RootFolder.newFile(output.name, in: folder, temporary: Self.temporaryName(number)))
  }

  private static func temporaryName(_ number: Int) -> [UInt8] {
    NamingTemplate.reservedPrefix + Array("\(number).tmp".utf8)
  }

  private static func isTemporary(_ name: [UInt8]) -> Bool {
    guard name.starts(with: NamingTemplate.reservedPrefix), name.suffix(4).elementsEqual(".tmp".utf8) else {
      return false
    }
    let number = name.dropFirst(NamingTemplate.reservedPrefix.count).dropLast(4)
    return !number.isEmpty && number.allSatisfy { (0x30...0x39).contains($0) }
  }
}

extension RootFolder {
  /// Whether a file is still what was written for one of these entries.
  func holds(_ relative: [UInt8], asIn entries: [IndexEntry]) -> Bool {
    entries.lazy.flatMap(\.outputs).contains { output in
      guard output.path.bytes == relative, let (file, state) = try? file(relative), state.kind == .regular,
        state.byteCount == output.byteCount
      else { return false }
      return output.digest == nil || (try? ByteSource.file(file, count: state.byteCount).digest()) == output.digest
    }
  }
}

/// Why a thumbnail could not be written.
struct WriteFailure: Error {
  /// The thumbnail.
  let path: RawPath
  let failure: SystemFailure
}
