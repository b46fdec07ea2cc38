package import Foundation
import GRDB
import ThumbnailCore

/// Diagnoses a cache's folder and file in any state, without changing them.
package struct CacheExamination: Sendable {
  /// The folder.
  package let directory: String
  /// Whether the folder exists.
  package let isThere: Bool
  /// The size of the file on disk, in bytes.
  package let fileBytes: Int
  /// Why the cache cannot be used as it is; nil if it can.
  package let problem: DiskCacheError?
  /// A warning that other users can access the folder, and what to do; nil if they cannot.
  package let exposure: String?
  /// The type of the file system, such as `ext4`, if known.
  package let fileSystem: String?
  /// Whether other machines may use the same files, which SQLite's write-ahead log does not support.
  package let isOnNetwork: Bool
  /// The space available to this user, in bytes; nil if unknown.
  package let freeBytes: Int?

  /// The version of SQLite; nil if it cannot be determined.
  package static var databaseVersion: String? {
    try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
  }
}

extension CacheExamination {
  /// Examines a folder. Blocks for a few milliseconds, longer on slow disks.
  package init(directory: URL) {
    let path = directory.path
    self.directory = path
    let place = Self.nearestPlace(path)
    isThere = place == path
    exposure = CachePrivacy.exposure(of: path)
    let system = FileSystem(at: place)
    (fileSystem, isOnNetwork, freeBytes) = (system.kind, system.isShared, system.freeBytes)
    let file = CacheDatabase.path(in: path)
    fileBytes = CacheDatabase.fileBytes(file)
    do {
      if let failure = Self.failureToWrite(to: place) {
        throw DiskCacheError.directoryUnusable(path: path, reason: failure.reason)
      }
      if FileManager.default.fileExists(atPath: file) { try Self.read(file) }
      problem = nil
    } catch {
      problem = DiskCacheError(error, path: file)
    }
  }

  private static func read(_ file: String) throws {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(2)
    let queue = try DatabaseQueue(path: file, configuration: configuration)
    defer { try? queue.close() }
    try queue.unsafeRead { db in
      switch try DiskCacheSchema.inspect(db) {
      case .usable: _ = try DiskCacheStatistics(in: db, path: file)
      case .empty, .unfinished: break
      case .unusable(let reason, _): throw DiskCacheError.damaged(path: file, reason: reason)
      }
    }
  }

  /// The path, or its nearest ancestor that exists.
  private static func nearestPlace(_ path: String) -> String {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    let whole = url.path
    while !FileManager.default.fileExists(atPath: url.path), url.path != "/" { url.deleteLastPathComponent() }
    return url.path == whole ? path : url.path
  }

  /// Why a folder cannot be written to. Tested by creating an unnamed file, because permissions do not show a read-only
  /// disk.
  private static func failureToWrite(to folder: String) -> SystemFailure? {
    do throws(SystemFailure) {
      guard try FileState(of: RawPath(folder)).kind == .folder else { return SystemFailure(code: ENOTDIR) }
      _ = try FileDescriptor.unnamed(in: folder)
      return nil
    } catch {
      return error
    }
  }
}
