import Foundation
import GRDB
import Synchronization

/// Why an operation of the disk cache failed. Stored thumbnails are not affected.
package enum DiskCacheError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The calling task was cancelled.
  case cancelled
  /// The cache was closed.
  case closed
  /// The cache's directory cannot be created or used.
  case directoryUnusable(path: String, reason: String)
  /// The disk is full.
  case diskFull(path: String)
  /// The file, the directory or the disk is not writable.
  case notWritable(path: String)
  /// Another process held the database lock for longer than the timeout.
  case busy(path: String)
  /// The file is damaged or not a cache. It is replaced by an empty one.
  case damaged(path: String, reason: String)
  /// Any other error of SQLite.
  case failed(path: String, reason: String)

  /// What happened and what to do, in one line.
  package var description: String {
    switch self {
    case .cancelled: "cancelled"
    case .closed: "the disk cache is closed"
    case .directoryUnusable(let path, let reason):
      "the cache directory \(path) cannot be used: \(reason); choose another directory"
    case .diskFull(let path): "the disk of \(path) is full; free some space, or lower the cache's limit"
    case .notWritable(let path): "\(path) cannot be written; check its permissions or choose another directory"
    case .busy(let path): "\(path) is locked by another process; end that process, or choose another directory"
    case .damaged(let path, let reason): "the cache \(path) was damaged and is replaced by an empty one: \(reason)"
    case .failed(let path, let reason): "the cache \(path) failed: \(reason)"
    }
  }

  /// Maps an error of SQLite or GRDB.
  init(_ error: any Error, path: String) {
    switch error {
    case let known as DiskCacheError: self = known
    case is RowDecodingError: self = .damaged(path: path, reason: "a value is not of its type")
    case let error as DatabaseError: self.init(database: error, path: path)
    default: self = .failed(path: path, reason: "\(error)")
    }
  }

  private init(database error: DatabaseError, path: String) {
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

  /// Whether a file or directory cannot be written.
  var isNotWritable: Bool { if case .notWritable = self { true } else { false } }

  /// Whether the database has to be replaced.
  var isDamage: Bool { if case .damaged = self { true } else { false } }
}

/// Passes errors of background work to listeners, and keeps the last one of each kind.
final class CacheProblems: Sendable {
  typealias Listener = @Sendable (DiskCacheError) -> Void

  private struct State {
    var listeners: [Listener] = []
    var last: DiskCacheError?
    var replacement: DiskCacheError?
  }

  private let state = Mutex(State())

  /// The last reason why a change was not written.
  var last: DiskCacheError? { state.withLock { $0.last } }
  /// Why the file was replaced by an empty one.
  var replacement: DiskCacheError? { state.withLock { $0.replacement } }

  /// Calls all listeners, on the calling thread.
  func report(_ problem: DiskCacheError) {
    let listeners = state.withLock { state in
      if problem.isDamage { state.replacement = problem } else { state.last = problem }
      return state.listeners
    }
    for listener in listeners { listener(problem) }
  }

  /// Adds a listener.
  func listen(_ listener: @escaping Listener) { state.withLock { $0.listeners.append(listener) } }
}
