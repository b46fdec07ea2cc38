import Foundation
import GRDB
import Synchronization

/// The open connections to one database file: one for writing and a few for reading.
///
/// When the file is replaced, a new object replaces all of them.
final class CacheConnections: Sendable {
  /// Distinguishes a file from another at the same path.
  struct FileIdentity: Equatable {
    let device: UInt64
    let inode: UInt64

    /// Nil when there is no file at `path`. Takes one system call.
    init?(path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  /// The number of read connections: one per thread that looks up thumbnails.
  static let readerCount = 2

  /// The connection of the writing thread.
  let writer: DatabaseQueue
  private let path: String
  private let identity: FileIdentity
  private let readers: [DatabaseQueue]
  /// One bit for each reader in use.
  private let busyReaders = Atomic(0)

  /// Opens the readers next to an open writer: a read-only connection cannot create the files it needs.
  init(path: String, writer: DatabaseQueue, lockTimeout: Duration) throws {
    guard let identity = FileIdentity(path: path) else {
      throw DiskCacheError.directoryUnusable(path: path, reason: "the file vanished while it was opened")
    }
    self.path = path
    self.writer = writer
    self.identity = identity
    readers = try (0..<Self.readerCount).map { _ in
      var configuration = Self.configuration(lockTimeout: lockTimeout)
      configuration.readonly = true
      return try DatabaseQueue(path: path, configuration: configuration)
    }
  }

  /// Opens the write connection; creates an empty file that only the user can access if there is none.
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
      // The file is not trusted: functions in its schema are disabled, and pages are checked as they are read.
      try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
      // Debian's SQLite overwrites deleted data with zeros by default, which doubles what an eviction writes.
      try db.execute(sql: "PRAGMA secure_delete = OFF")
    }
    return configuration
  }

  /// Whether the open file is still the one at its path.
  var isInPlace: Bool { FileIdentity(path: path) == identity }

  /// Runs a query on the first idle read connection, whose page cache is the warmest. When all are busy it waits for the
  /// first. No transaction: in WAL mode each statement sees the last commit.
  func read<Value>(_ query: (Database) throws -> Value) throws -> Value {
    let index = readers.indices.first { index in
      busyReaders.bitwiseOr(1 << index, ordering: .relaxed).oldValue & 1 << index == 0
    }
    defer { if let index { busyReaders.bitwiseAnd(~(1 << index), ordering: .relaxed) } }
    return try readers[index ?? 0].unsafeRead(query)
  }
}
