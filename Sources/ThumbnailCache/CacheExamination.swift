package import Foundation
import GRDB
import ThumbnailCore

/// What can be said of a cache's folder and file without changing them, whatever state they are in.
package struct CacheExamination: Sendable {
  /// What the file holds.
  package struct Contents: Sendable, Equatable {
    package var thumbnails: Int
    package var sources: Int
    package var payloadBytes: Int
    package var fileBytes: Int
  }

  /// Whether the folder is there.
  package let isThere: Bool
  /// What is in the file; nil when there is none, or it cannot be read.
  package let contents: Contents?
  /// Why the cache cannot be used as it is; nil when it can.
  package let problem: DiskCacheError?
  /// That other users may enter the folder, and what to do about it; nil when they may not.
  package let exposure: String?
  /// What the file system is called, such as `ext4`, where it is a known one.
  package let fileSystem: String?
  /// Whether other machines may use the same files, which SQLite's write-ahead log cannot bear.
  package let isOnNetwork: Bool
  /// The room that is left there for this user, in bytes; nil where it is not told.
  package let freeBytes: Int?

  /// The version of SQLite; nil when it cannot even be asked.
  package static var databaseVersion: String? {
    try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
  }

  /// Examines a folder. Blocks for a few milliseconds, longer on slow disks.
  package init(directory: URL) {
    let path = directory.path
    let place = Self.nearestPlace(path)
    isThere = place == path
    exposure = CachePrivacy.exposure(of: path)
    let system = FileSystem(at: place)
    (fileSystem, isOnNetwork, freeBytes) = (system.kind, system.isShared, system.freeBytes)
    if let failure = Self.failureToWrite(to: place) {
      (contents, problem) = (nil, .directoryUnusable(path: path, reason: failure.reason))
      return
    }
    let file = CacheDatabase.path(in: path, majorVersion: DiskCacheSchema.majorVersion)
    guard FileManager.default.fileExists(atPath: file) else {
      (contents, problem) = (nil, nil)
      return
    }
    do {
      contents = try Self.read(file)
      problem = nil
    } catch {
      (contents, problem) = (nil, DiskCacheError(error, path: file))
    }
  }

  private static func read(_ file: String) throws -> Contents {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(2)
    let queue = try DatabaseQueue(path: file, configuration: configuration)
    defer { try? queue.close() }
    return try queue.unsafeRead { db in
      switch try DiskCacheSchema.inspect(db) {
      case .usable, .empty: break
      case .foreign(let reason), .broken(let reason): throw DiskCacheError.damaged(path: file, reason: reason)
      }
      let fileBytes = ["", "-wal"].reduce(0) { sum, suffix in
        var status = stat()
        return stat(file + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
      }
      return Contents(
        thumbnails: try Int.fetchOne(db, sql: "SELECT count(*) FROM recency") ?? 0,
        sources: try Int.fetchOne(db, sql: "SELECT count(*) FROM source") ?? 0,
        payloadBytes: try Int.fetchOne(db, sql: "SELECT payload FROM total") ?? 0, fileBytes: fileBytes)
    }
  }

  /// The path, or the nearest folder above it that is there.
  private static func nearestPlace(_ path: String) -> String {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    var status = stat()
    while stat(url.path, &status) != 0, url.path != "/" { url.deleteLastPathComponent() }
    return url.path == URL(fileURLWithPath: path).standardizedFileURL.path ? path : url.path
  }

  /// Why nothing can be written to a folder. Tried, not asked: a disk may be read-only for somebody who may do everything.
  /// The trial leaves nothing behind.
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
