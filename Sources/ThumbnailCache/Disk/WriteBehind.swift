import Synchronization

/// Writes batches to the database, and recreates the database when it was deleted or damaged. Used by the commit
/// thread.
final class WriteBehind: Sendable {
  private let database: CacheDatabase
  private let problems: CacheProblems
  /// The limits since the last trim.
  private let limits: Mutex<DiskCacheLimits>
  private let current = Mutex<CacheWriter?>(nil)
  private let lost = Atomic(0)
  private let hasFailed = Atomic(false)

  /// The bytes of thumbnails that could not be written.
  var lostBytes: Int { lost.load(ordering: .relaxed) }

  /// Whether the last batch with thumbnails could not be written.
  var isFailing: Bool { hasFailed.load(ordering: .relaxed) }

  init(database: CacheDatabase, limits: DiskCacheLimits, problems: CacheProblems) {
    self.database = database
    self.problems = problems
    self.limits = Mutex(limits)
  }

  /// Checkpoints the log and releases the connections.
  func finish() {
    // What cannot be checkpointed now stays in the log, for the next to open it.
    if let writer = current.withLock({ $0 }) { try? writer.checkpoint() }
    current.withLock { $0 = nil }
  }

  /// Commits a batch. A failure is reported and loses only this batch.
  func commit(_ batch: PendingWrites.Batch) -> Result<Void, DiskCacheError> {
    let payload = batch.operations.reduce(0) { $0 + $1.payloadBytes(limit: .max) }
    do {
      switch batch.operations.last {
      case .removeAll:
        // Deleting 100,000 rows and shrinking the file takes a minute; a new file takes a moment, and other processes
        // notice. On a full disk the old file's space is free only once no process has it open, hence the second
        // attempt.
        do { try reopen(.empty) } catch { try reopen(.empty) }
      case .trim(let bytes):
        limits.withLock { $0 = DiskCacheLimits(byteLimit: bytes) }
        try copy(bytes: bytes)
        try recovering { try $0.trim() }
      case .copy(let bytes, let removing): try copy(bytes: bytes, removing: removing)
      case .work(let body): try recovering(body)
      case .replaceDamaged: try reopen(.damaged)
      // Recency updates alone do not recreate a directory that was deleted.
      case nil: if try database.connections()?.isInPlace == true { try recovering { try $0.commit(batch) } }
      default: try recovering { try $0.commit(batch) }
      }
      if payload > 0 { hasFailed.store(false, ordering: .relaxed) }
      return .success(())
    } catch {
      if batch.isHint, database.isReadOnly { return .success(()) }
      if payload > 0 { hasFailed.store(true, ordering: .relaxed) }
      lost.add(payload, ordering: .relaxed)
      problems.report(error)
      return .failure(error)
    }
  }

  /// Replaces the file by a copy of what takes so many bytes, if that is little. Without space for one, or while others
  /// write for long, it stays.
  private func copy(
    bytes: Int, removing: @escaping @Sendable (CachePruning.Outcome) -> Void = { _ in }
  ) throws(DiskCacheError) {
    var start: Int64?
    try recovering { start = try $0.startOfFewSurvivors(bytes: bytes) }
    guard let start else { return }
    do { try reopen(.copy(since: start, removing: removing)) } catch { problems.report(error) }
  }

  /// Runs the work; again with a new file, if the old one turns out to be damaged, also when it is opened anew, or was
  /// deleted meanwhile.
  private func recovering(_ work: (CacheWriter) throws -> Void) throws(DiskCacheError) {
    if try database.connections()?.isInPlace != true { try reopen() }
    do throws(DiskCacheError) {
      return try attempt(work)
    } catch {
      if error.isDamage {
        try reopen()
        do throws(DiskCacheError) { return try attempt(work) } catch { if !error.isDamage { throw error } }
        problems.report(error)
        try reopen(.damaged)
      } else if try database.connections()?.isInPlace != true {
        try reopen()
      } else {
        throw error
      }
    }
    try attempt(work)
  }

  private func attempt(_ work: (CacheWriter) throws -> Void) throws(DiskCacheError) {
    do { try work(writer()) } catch { throw DiskCacheError(error, path: database.path) }
  }

  private func reopen(_ opening: CacheDatabase.Opening = .asItIs) throws(DiskCacheError) {
    current.withLock { $0 = nil }
    if let problem = try database.open(opening) { problems.report(problem) }
  }

  private func writer() throws -> CacheWriter {
    guard let connections = try database.connections() else { throw DiskCacheError.closed }
    guard let queue = connections.writer else { throw DiskCacheError.notWritable(path: database.path) }
    let limits = limits.withLock { $0 }
    if let known = current.withLock({ $0 }), known.connections === connections, known.limits == limits { return known }
    let writer = try CacheWriter(queue: queue, of: connections, limits: limits, path: database.path)
    current.withLock { $0 = writer }
    return writer
  }
}
