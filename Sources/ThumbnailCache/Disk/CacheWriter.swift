import Foundation
import GRDB
import Synchronization
import ThumbnailCore

/// Writes batches to the database, and replaces it if it was deleted or damaged. Used by the commit thread.
final class CacheWriter: Sendable {
  private struct State {
    /// The limits since the last trim.
    var limits: DiskCacheLimits
    /// The connections on which `limits` were set.
    var prepared: CacheConnections?
    var space = PageSpace()
  }

  private let database: CacheDatabase
  private let problems: CacheProblems
  private let state: Mutex<State>

  init(database: CacheDatabase, limits: DiskCacheLimits, problems: CacheProblems) {
    self.database = database
    self.problems = problems
    state = Mutex(State(limits: limits))
  }

  var limits: DiskCacheLimits { state.withLock { $0.limits } }

  /// Checkpoints the log and closes the database.
  func close() {
    // If the checkpoint fails, the changes stay in the log, and the next process that opens it applies them.
    if state.withLock({ $0.prepared }) != nil { try? checkpoint() }
    state.withLock { $0.prepared = nil }
    database.close()
  }

  /// Commits a batch. A failure is reported and loses only this batch.
  func commit(_ batch: PendingWrites.Batch) -> Result<Void, DiskCacheError> {
    do {
      switch batch.operations.last {
      case .removeAll:
        // Deleting 100,000 rows and shrinking the file takes a minute, but a new file takes a moment, and other
        // processes notice it. On a full disk the old file's space becomes free only when no process has it open, hence
        // the second attempt.
        do { try reopen(.empty) } catch { try reopen(.empty) }
      case .work(let body): try body(self)
      // Recency updates alone do not recreate a directory that was deleted.
      case nil where try database.connections()?.isInPlace != true: break
      default: try recovering { try self.write(batch) }
      }
      return .success(())
    } catch {
      if batch.isHint, database.isReadOnly { return .success(()) }
      let problem = DiskCacheError(error, path: database.path)
      problems.report(problem)
      return .failure(problem)
    }
  }

  /// Runs the work. If the file turns out to be damaged, even after it is reopened, or was deleted meanwhile, runs the
  /// work again with a new file.
  func recovering<Value>(_ work: () throws -> Value) throws(DiskCacheError) -> Value {
    func attempt() throws(DiskCacheError) -> Value {
      do { return try work() } catch { throw DiskCacheError(error, path: database.path) }
    }
    if try database.connections()?.isInPlace != true { try reopen() }
    do throws(DiskCacheError) {
      return try attempt()
    } catch {
      if error.isDamage {
        try reopen()
        do throws(DiskCacheError) { return try attempt() } catch { if !error.isDamage { throw error } }
        problems.report(error)
        try reopen(.damaged)
      } else if try database.connections()?.isInPlace != true {
        try reopen()
      } else {
        throw error
      }
    }
    return try attempt()
  }

  /// Reopens the file.
  func reopen(_ opening: CacheDatabase.Opening = .asItIs) throws(DiskCacheError) {
    state.withLock { $0.prepared = nil }
    if let problem = try database.open(opening) { problems.report(problem) }
  }

  /// Evicts before inserting, so that new thumbnails reuse the freed pages and the file does not grow.
  private func write(_ batch: PendingWrites.Batch) throws {
    guard batch.hasWork else { return }
    let limits = limits
    let eviction = Eviction(limits: limits)
    let incoming = batch.operations.reduce(0) { $0 + $1.payloadBytes(limit: limits.byteLimit) }
    // Opening a new file discards the known space of the former file.
    _ = try connection()
    var space = state.withLock { $0.space }
    let reports = try transaction { db in
      var reports: [@Sendable () -> Void] = []
      for row in batch.touched {
        try db.run("UPDATE recency SET used = (SELECT max(used) + 1 FROM recency) WHERE id = ?", [row])
      }
      try eviction.evict(in: db, toPayload: max(0, limits.byteLimit - incoming))
      for operation in batch.operations {
        switch operation {
        case .store(let record, let entries, let replacement, let receipt):
          let isKnown = try ThumbnailTable.hasSource(record.key, in: db)
          let isReplaced = try isReplaced(by: record, replacement, isKnown: isKnown, in: db)
          if isReplaced { try remove(record.key, in: db) }
          if isReplaced, case .ifOutdated(_, let report) = replacement { reports.append(report) }
          let count = try store(entries, of: record, isKnown: isKnown && !isReplaced, &space, in: db)
          // The other thumbnails of the transaction are written.
          if count < entries.count { receipt?.settle(isWritten: false) }
        case .remove(let source): try remove(source, in: db)
        case .change(_, let change): try change(db, limits)
        case .removeAll, .work, .barrier: break
        }
      }
      try eviction.evict(in: db, toPayload: limits.byteLimit)
      try eviction.giveBackPages(in: db)
      return reports
    }
    state.withLock { [space] in $0.space = space }
    for report in reports { report() }
  }

  /// Whether the stored thumbnails belong to an earlier version.
  private func isReplaced(
    by record: SourceRecord, _ replacement: Replacement, isKnown: Bool, in db: Database
  ) throws -> Bool {
    switch replacement {
    case .none: false
    case .all: true
    case .ifOutdated(let rule, _):
      try isKnown && HistoryTable.history(of: record.key, in: db).isOutdated(by: record.response, rule: rule)
    }
  }

  /// Removes an image with its thumbnails and its history.
  private func remove(_ source: SourceKey, in db: Database) throws {
    try ThumbnailTable.removeAll(of: source, in: db)
    try HistoryTable.removeFailures(of: source, in: db)
  }

  /// Stores thumbnails of an image and returns their number. `isKnown` says whether anything of the image is stored
  /// already.
  private func store(
    _ entries: [CacheEntry], of record: SourceRecord, isKnown: Bool, _ space: inout PageSpace, in db: Database
  ) throws -> Int {
    // A thumbnail that was made from another one shares the freshness of its source. If the source was removed, the
    // freshness is unknown.
    if record.fetchedAt == nil, !isKnown { return 0 }
    if isKnown {
      for entry in entries {
        try ThumbnailTable.remove(CacheKey(source: record.key, variant: entry.variant), in: db)
      }
    }
    // A thumbnail larger than the whole limit is not stored, but the thumbnail that it would replace is removed.
    let kept = entries.indices.filter { index in
      entries[index].thumbnail.data.count <= limits.byteLimit
        && !entries[(index + 1)...].contains { $0.variant == entries[index].variant }
    }
    guard !kept.isEmpty else { return 0 }
    let source = try ThumbnailTable.put(record, in: db)
    for index in kept {
      try ThumbnailTable.insert(
        entries[index], of: record.key, row: source, &space, in: db)
    }
    if let response = record.response { try HistoryTable.put(response, of: record.key, in: db) }
    return kept.count
  }

  /// The connection, with the settings that follow from the limits.
  func connection() throws -> DatabaseQueue {
    guard let connections = try database.connections() else { throw DiskCacheError.closed }
    guard let queue = connections.writer else { throw DiskCacheError.notWritable(path: database.path) }
    let limits = limits
    if state.withLock({ $0.prepared === connections }) { return queue }
    // A log that has grown beyond this size is truncated when it restarts. A statement that fires triggers copies the
    // pages that it changes. These copies go to memory, not to a file.
    try queue.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA temp_store = MEMORY;
          PRAGMA wal_autocheckpoint = \(limits.checkpointPages);
          PRAGMA journal_size_limit = \(limits.checkpointPages * DiskCacheLimits.pageSize)
          """)
    }
    state.withLock { ($0.prepared, $0.space) = (connections, PageSpace()) }
    return queue
  }

  /// Runs `body` in its own transaction. `logBytes` is the longest log; by default the limits decide.
  func transaction<Value>(logBytes: Int? = nil, _ body: (Database) throws -> Value) throws -> Value {
    let value = try connection().write { db in
      // A process that replaces the file holds its lock meanwhile, so that no write to the current file is lost.
      guard try database.connections()?.isInPlace == true else {
        throw DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED)
      }
      return try body(db)
    }
    // Continuous readers prevent the automatic checkpoint from restarting the log. If the log is too long, waits for
    // them.
    let log = try? FileState(of: RawPath(database.path + "-wal"))
    if let log, log.byteCount > logBytes ?? limits.logBytes { try checkpoint() }
    return value
  }

  /// Changes the limit, in bytes, and evicts down to it.
  func trim(toBytes bytes: Int) throws {
    state.withLock { ($0.limits, $0.prepared) = (DiskCacheLimits(byteLimit: bytes), nil) }
    try shrink(toBytes: bytes)
    try recovering {
      let eviction = Eviction(limits: limits)
      while try !transaction({ try eviction.trimStep(in: $0) }) {}
      try checkpoint()
    }
  }

  /// Replaces the file by a copy of the thumbnails used last, up to this many bytes, if they are few enough. If there
  /// is no disk space for a copy, or if others write for too long, keeps the file.
  private func shrink(toBytes bytes: Int) throws(DiskCacheError) {
    let start = try recovering {
      try connection().unsafeRead { try Eviction.startOfFewSurvivors(bytes: bytes, in: $0) }
    }
    guard let start else { return }
    do throws(DiskCacheError) {
      state.withLock { $0.prepared = nil }
      if let problem = try database.replaceByCopy(since: start) { problems.report(problem) }
    } catch {
      problems.report(error)
    }
  }

  /// Copies the log into the database and truncates it, unless a reader blocks this for more than 100 ms.
  func checkpoint() throws {
    try connection().writeWithoutTransaction { db in
      let patience = try db.integer("PRAGMA busy_timeout")
      try db.execute(sql: "PRAGMA busy_timeout = 100")
      defer { try? db.execute(sql: "PRAGMA busy_timeout = \(patience)") }
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }
}
