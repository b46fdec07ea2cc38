import Foundation
import GRDB
import Synchronization
import ThumbnailCore

/// The open connections to one database file: one for writing and a few for reading.
///
/// When the file is replaced, a new object replaces all of them.
final class CacheConnections: Sendable {
  /// The number of read connections: one for each thread that looks up thumbnails.
  static let readerCount = 2

  /// The connection of the writing thread; nil if the file can only be read.
  let writer: DatabaseQueue?
  private let path: String
  private let rawPath: RawPath
  /// The file when it was opened.
  private let file: FileState
  /// Whether SQLite reads the file as immutable.
  private let isImmutable: Bool
  private let readers: [DatabaseQueue]
  /// One bit for each reader in use.
  private let busyReaders = Atomic(0)

  /// Opens the readers after a writer, because a read-only connection cannot create the files of the log.
  init(path: String, writer: DatabaseQueue, lockTimeout: Duration) throws {
    (self.path, rawPath, self.writer, isImmutable) = (path, RawPath(path), writer, false)
    guard let file = try? FileState(of: rawPath) else {
      throw DiskCacheError.directoryUnusable(path: path, reason: "the file vanished while it was opened")
    }
    self.file = file
    readers = try Self.openReaders(path, lockTimeout)
  }

  private static func openReaders(_ name: String, _ lockTimeout: Duration) throws -> [DatabaseQueue] {
    var configuration = configuration(lockTimeout: lockTimeout)
    configuration.readonly = true
    return try (0..<readerCount).map { _ in try DatabaseQueue(path: name, configuration: configuration) }
  }

  /// Opens only readers, for a file in a folder that cannot be written.
  ///
  /// SQLite reads the file as usual if the files of the log exist, such as while another process writes. Without them
  /// it reads the file as immutable, and `isInPlace` becomes false once it changes. If the log can be read in neither
  /// way, it may hold changes, and the file is not opened.
  init(readOnly path: String, lockTimeout: Duration) throws {
    (self.path, rawPath, writer) = (path, RawPath(path), nil)
    file = try FileState(of: rawPath)
    func open(_ name: String) throws -> [DatabaseQueue] {
      let queues = try Self.openReaders(name, lockTimeout)
      try queues[0].unsafeRead {
        try $0.execute(sql: "SELECT placeholder, source_preview FROM thumbnail LIMIT 0")
      }
      return queues
    }
    do {
      readers = try open(path)
      isImmutable = false
    } catch {
      isImmutable = true
      guard Self.isLogEmpty(path) else { throw error }
      readers = try open(URL(fileURLWithPath: path).absoluteString + "?immutable=1")
      guard isInPlace else { throw error }
    }
  }

  private static func isLogEmpty(_ path: String) -> Bool {
    do throws(SystemFailure) {
      return try FileState(of: RawPath(path + "-wal")).byteCount == 0
    } catch {
      return error.code == ENOENT
    }
  }

  /// Opens the write connection. If there is no file, creates an empty one that only the user can access.
  static func openWriter(path: String, lockTimeout: Duration) throws -> DatabaseQueue {
    CachePrivacy.protect(path)
    return try DatabaseQueue(path: path, configuration: configuration(lockTimeout: lockTimeout))
  }

  private static func configuration(lockTimeout: Duration) -> Configuration {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.label = "thumbnailer.cache"
    configuration.busyMode = .timeout(lockTimeout / .seconds(1))
    configuration.prepareDatabase { db in
      // The file is untrusted: functions in its schema are disabled, and pages are checked when they are read.
      try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
      // Debian's SQLite overwrites deleted data with zeros by default, which doubles the bytes that an eviction writes.
      try db.execute(sql: "PRAGMA secure_delete = OFF")
    }
    return configuration
  }

  /// Whether the open file is still the one at its path.
  var isInPlace: Bool {
    guard let now = try? FileState(of: rawPath), now.isSameFile(as: file) else { return false }
    return !isImmutable || now.modified == file.modified && Self.isLogEmpty(path)
  }

  /// Runs a query on the first idle read connection, which has the warmest page cache. If all are busy, waits for the
  /// first. In WAL mode each statement sees the last commit.
  ///
  /// SQLite reports a read error of the disk as damage, too. Only damage that a second read finds again is reported.
  func read<Value>(_ query: (Database) throws -> Value) throws(DiskCacheError) -> Value {
    let index = readers.indices.first { index in
      busyReaders.bitwiseOr(1 << index, ordering: .relaxed).oldValue & 1 << index == 0
    }
    defer { if let index { busyReaders.bitwiseAnd(~(1 << index), ordering: .relaxed) } }
    let reader = readers[index ?? 0]
    func attempt() throws(DiskCacheError) -> Value {
      do {
        return try reader.unsafeRead(query)
      } catch {
        throw DiskCacheError(error, path: path)
      }
    }
    do throws(DiskCacheError) { return try attempt() } catch { if !error.isDamage { throw error } }
    return try attempt()
  }
}
