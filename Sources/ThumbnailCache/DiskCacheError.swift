import Foundation
import GRDB

/// Why the disk cache could not do what it was asked. No error harms what is stored already.
public enum DiskCacheError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The calling task was cancelled.
  case cancelled
  /// The cache was closed before.
  case closed
  /// The cache's directory cannot be made or used.
  case directoryUnusable(path: String, reason: String)
  /// No room is left on the disk.
  case diskFull(path: String)
  /// The file, the directory or the disk may not be written.
  case notWritable(path: String)
  /// Another process kept the database locked for longer than the cache waits.
  case busy(path: String)
  /// The file is damaged or is no cache of ours. It is replaced by an empty one.
  case damaged(path: String, reason: String)
  /// Anything else SQLite reports.
  case failed(path: String, reason: String)

  /// What happened and what to do, in one line.
  public var description: String {
    switch self {
    case .cancelled: "cancelled"
    case .closed: "the disk cache is closed"
    case .directoryUnusable(let path, let reason):
      "the cache directory \(path) cannot be used: \(reason); choose another directory"
    case .diskFull(let path): "no room is left on the disk of \(path); free some, or lower the cache's limit"
    case .notWritable(let path): "\(path) cannot be written; check its permissions or choose another directory"
    case .busy(let path): "\(path) stays locked by another process; end it or choose another directory"
    case .damaged(let path, let reason): "the cache \(path) was damaged and is begun anew: \(reason)"
    case .failed(let path, let reason): "the cache \(path) failed: \(reason)"
    }
  }

  /// Tells from what SQLite threw which case it is.
  init(_ error: any Error, path: String) {
    if let known = error as? DiskCacheError {
      self = known
      return
    }
    if error is RowDecodingError {
      self = .damaged(path: path, reason: "a value is not of its type")
      return
    }
    guard let error = error as? DatabaseError else {
      self = .failed(path: path, reason: "\(error)")
      return
    }
    let reason = error.message ?? "SQLite error \(error.resultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_FULL: self = .diskFull(path: path)
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: self = .notWritable(path: path)
    case .SQLITE_CANTOPEN: self = .directoryUnusable(path: path, reason: reason)
    case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy(path: path)
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged(path: path, reason: reason)
    default: self = .failed(path: path, reason: reason)
    }
  }

  /// Why the database has to be begun anew; nil when it has not.
  var damage: String? {
    if case .damaged(_, let reason) = self { reason } else { nil }
  }

  /// Whether the database has to be begun anew.
  var isDamage: Bool { damage != nil }
}
