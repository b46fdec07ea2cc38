import Foundation
import GRDB
import Synchronization
import ThumbnailCore

/// The database file in its directory: creates it, opens it, and replaces it if it is damaged or missing.
///
/// Files are created and removed only under a file lock, so that several processes can share the directory.
final class CacheDatabase: Sendable {
  private struct State {
    /// Nil if the last attempt to open failed.
    var connections: CacheConnections?
    var isClosed = false
  }

  /// What to do with an existing file.
  enum Opening {
    /// Use it.
    case asItIs
    /// It is damaged: replace it with a new one, unless another process has already done so.
    case damaged
    /// Replace it with an empty one.
    case empty
  }

  /// The directory that holds the files.
  let directory: String
  /// The path of the database.
  let path: String
  private let lockTimeout: Duration
  private let state = Mutex(State())

  /// The path of the database of a major version in a directory.
  static func path(in directory: String) -> String {
    directory + "/thumbnails-v\(DiskCacheSchema.majorVersion).sqlite"
  }

  /// Accesses no files before `open`.
  init(directory: String, lockTimeout: Duration) {
    self.directory = directory
    path = Self.path(in: directory)
    self.lockTimeout = lockTimeout
  }

  /// The open connections. Nil if the last attempt to reopen failed.
  func connections() throws(DiskCacheError) -> CacheConnections? {
    let state = state.withLock { $0 }
    if state.isClosed { throw .closed }
    return state.connections
  }

  /// Whether the file is open and can only be read.
  var isReadOnly: Bool {
    guard let connections = state.withLock({ $0.connections }) else { return false }
    return connections.writer == nil && connections.isInPlace
  }

  private func use(_ connections: CacheConnections?) {
    state.withLock { $0.connections = $0.isClosed ? nil : connections }
  }

  /// Opens the file. Creates the directory and the file if necessary. Called by one thread at a time.
  ///
  /// - Returns: The problem with a file that had to be replaced; nil if there was none.
  func open(_ opening: Opening = .asItIs) throws(DiskCacheError) -> DiskCacheError? {
    let current = try connections()
    do throws(SystemFailure) {
      try NewFile.makeFolders(RawPath(directory), permissions: 0o700)
    } catch {
      throw .directoryUnusable(path: directory, reason: error.reason)
    }
    do {
      return try locked { () throws(DiskCacheError) in try openFile(opening, current) }
    } catch {
      let isReadOnly = error.isNotWritable || access(directory, W_OK) != 0 && errno != ENOENT
      guard case .asItIs = opening, isReadOnly, let found = readOnlyConnections() else { throw error }
      use(found)
      return nil
    }
  }

  /// Connections for reading only, if the folder cannot be written; nil if it has no cache that can be read.
  private func readOnlyConnections() -> CacheConnections? {
    guard let found = try? CacheConnections(readOnly: path, lockTimeout: lockTimeout),
      case .usable = try? found.read({ try DiskCacheSchema.inspect($0) })
    else { return nil }
    return found
  }

  private func locked<Value>(_ body: () throws(DiskCacheError) -> Value) throws(DiskCacheError) -> Value {
    try FileLock.hold(directory + "/thumbnails.lock", timeout: lockTimeout, body)
  }

  private func openFile(
    _ opening: Opening, _ current: CacheConnections?
  ) throws(DiskCacheError) -> DiskCacheError? {
    switch opening {
    case .asItIs: break
    case .damaged:
      if current?.isInPlace != false {
        try checkReadable()
        removeFiles()
      }
    case .empty: removeFiles()
    }
    // A copy that is still being made has been modified recently.
    let left = try? FileState(of: RawPath(copyPath))
    if let left, Double(left.modificationTime.tv_sec) < Date().timeIntervalSince1970 - 600 { removeCopy() }
    return try openUnderLock()
  }

  private func openUnderLock() throws(DiskCacheError) -> DiskCacheError? {
    do {
      var problem: DiskCacheError?
      var opened: CacheConnections?
      // SQLite reports a read error of the disk as damage, too. A file is replaced only if it is damaged at a second
      // attempt and can be read whole.
      for replacesDamage in [false, true, true] where opened == nil {
        let (connections, replaced) = try attempt(replacesDamage: replacesDamage)
        (opened, problem) = (connections, replaced ?? problem)
      }
      guard let opened else { throw problem ?? .failed(path: path, reason: "it cannot be replaced") }
      use(opened)
      return problem
    } catch {
      use(nil)
      throw DiskCacheError(error, path: path)
    }
  }

  /// Opens an existing or new file. An unusable file is moved or deleted, a damaged one only if `replacesDamage`.
  /// Returns the connections; or nil, with the problem of a removed file unless it was still empty.
  private func attempt(replacesDamage: Bool) throws -> (CacheConnections?, replaced: DiskCacheError?) {
    do {
      let writer = try CacheConnections.openWriter(path: path, lockTimeout: lockTimeout)
      switch try writer.writeWithoutTransaction({ try DiskCacheSchema.inspect($0) }) {
      case .usable: try writer.writeWithoutTransaction { try DiskCacheSchema.complete(in: $0) }
      case .empty: try writer.writeWithoutTransaction { try DiskCacheSchema.create(in: $0) }
      case .unfinished:
        try writer.close()
        // Pages are written whole, so a file that ends within a page was cut off.
        let isCutOff = try FileState(of: RawPath(path)).byteCount % DiskCacheLimits.pageSize != 0
        removeFiles()
        return (nil, isCutOff ? .damaged(path: path, reason: "it was cut off") : nil)
      case .unusable(let reason, let isOurs):
        try writer.close()
        if isOurs { removeFiles() } else { setAside() }
        return (nil, .damaged(path: path, reason: reason))
      }
      return (try CacheConnections(path: path, writer: writer, lockTimeout: lockTimeout), nil)
    } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) {
      guard replacesDamage else { return (nil, nil) }
      try checkReadable()
      if namesUs { removeFiles() } else { setAside() }
      return (nil, DiskCacheError(error, path: path))
    }
  }

  /// Whether the file's header has this program's number, whatever else is damaged.
  private var namesUs: Bool {
    let head = try? FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: DiskCacheSchema.applicationEnd)
    let number = head?.dropFirst(DiskCacheSchema.applicationEnd - 4).reduce(0) { $0 << 8 | Int($1) }
    return number == DiskCacheSchema.applicationID
  }

  /// Reads the files whole, because SQLite reports read errors of the disk as damage, and the next read may succeed.
  ///
  /// - Throws: `.failed` if the disk fails.
  private func checkReadable() throws(DiskCacheError) {
    for file in ["", "-wal"].map({ path + $0 }) {
      let descriptor = Foundation.open(file, O_RDONLY | O_CLOEXEC)
      if descriptor < 0, errno == ENOENT { continue }
      guard descriptor >= 0 else { throw .failed(path: path, reason: SystemFailure.last.reason) }
      let content = ByteSource.file(FileDescriptor(owning: descriptor), count: .max)
      do {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { block.deallocate() }
        var offset = 0
        while case let count = try content.read(at: offset, into: block), count > 0 { offset += count }
      } catch {
        throw .failed(path: path, reason: SystemFailure.last.reason)
      }
    }
  }

  /// Removes the cache's file. Other processes that have it open notice that it is no longer in place.
  private func removeFiles() {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
  }

  /// The path of a copy, before it takes the file's place.
  private var copyPath: String { path + ".new" }

  /// Replaces the file with a new one that holds the thumbnails used since this sequence number of `recency`. Writers of
  /// all processes wait meanwhile, because their changes would be lost; readers continue.
  ///
  /// - Returns: The problem with the new file, if any. An empty file replaces a damaged one.
  func replaceByCopy(since start: Int64) throws(DiskCacheError) -> DiskCacheError? {
    do {
      let file = try? FileState(of: RawPath(path))
      let old = try CacheConnections.openWriter(path: path, lockTimeout: lockTimeout)
      var problem: DiskCacheError?
      try old.writeWithoutTransaction { db in
        try db.inTransaction(.immediate) {
          guard let file, (try? FileState(of: RawPath(path)).isSameFile(as: file)) == true else {
            throw DiskCacheError.busy(path: path)
          }
          removeCopy()
          defer { removeCopy() }
          let copy = try CacheConnections.openWriter(path: copyPath, lockTimeout: lockTimeout)
          try copy.writeWithoutTransaction { try CacheCopy.fill($0, from: path, since: start) }
          try copy.close()
          problem = try moveCopyIntoPlace()
          return .rollback
        }
      }
      return problem
    } catch {
      throw DiskCacheError(error, path: path)
    }
  }

  /// Replaces the file with the copy and opens it. Returns why the copy cannot be used, if so. The old file is removed
  /// in any case, and an empty file replaces a damaged copy.
  func moveCopyIntoPlace() throws(DiskCacheError) -> DiskCacheError? {
    try locked { () throws(DiskCacheError) in
      guard access(copyPath, F_OK) == 0 else { throw .failed(path: copyPath, reason: SystemFailure.last.reason) }
      // The old file first: a kill in between must not leave its log next to the new one.
      removeFiles()
      rename(copyPath, path)
      do throws(DiskCacheError) { return try openUnderLock() } catch { return error }
    }
  }

  /// Removes the files of an interrupted copy.
  private func removeCopy() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(copyPath + suffix) } }

  /// Renames a file that may belong to another program, because only our own files are deleted.
  private func setAside() {
    _ = try? RawPath(path).setAside(with: "-wal")
    unlink(path + "-shm")
  }

  /// Closes the database for good. Running reads finish normally.
  func close() {
    state.withLock { $0 = State(isClosed: true) }
  }

  /// The size of a database and its write-ahead log on disk, in bytes.
  static func fileBytes(_ path: String) -> Int {
    [path, path + "-wal"].reduce(0) { $0 + ((try? FileState(of: RawPath($1)).byteCount) ?? 0) }
  }
}
