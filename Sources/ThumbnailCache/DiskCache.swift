public import Foundation
import GRDB
import Synchronization
public import ThumbnailCore

/// Keeps thumbnails on the disk, in one SQLite file.
///
/// Several caches, in one process or in many, may share a directory, each with its own limit. The directory must not be
/// on a network file system: SQLite's write-ahead log needs memory that all its users share.
///
/// What is stored can be read at once and is written soon after, together with other changes: `flush` and `close` make
/// sure of it. A process that is killed loses at most what it stored in its last moments; the file stays whole. When the
/// limit is reached, the thumbnails that were not used for longest leave. Damage is noticed as a thumbnail is read: it
/// then counts as not there, and is removed.
///
/// The cache's own clock is a sequence number, so clocks that jump do not disturb it.
public final class DiskCache: Sendable {
  let database: CacheDatabase
  private let committer: WriteBehind
  let commits: GroupCommit
  let problems: CacheProblems
  private let limit: Atomic<Int>
  private let staging = ByteSemaphore(capacity: 8 << 20)
  /// Why the file was begun anew when it was opened, until a check has told it.
  let unverifiedDamage: Mutex<String?>

  /// That other users may enter or read the cache's directory, which was there before, and what to do about it; nil when
  /// they may not.
  public let exposure: String?

  /// Whether somebody has made a cache in the directory.
  public static func exists(in directory: URL) -> Bool {
    FileManager.default.fileExists(
      atPath: CacheDatabase.path(in: directory.path, majorVersion: DiskCacheSchema.majorVersion))
  }

  /// Opens the cache in a directory, which is made for the user alone where it is missing.
  ///
  /// A file that turns out to be damaged or no cache of ours is replaced by an empty one.
  ///
  /// - Parameters:
  ///   - directory: On a local disk, for the cache's files alone.
  ///   - byteLimit: The most all thumbnails together may take, in bytes. The files take up to a tenth more, or 1 MiB more
  ///     where the limit is below 8 MiB. What is there beyond it is evicted, the longest unused first. Nil evicts
  ///     nothing, to look at a cache without changing it.
  ///   - onProblem: Called with what goes wrong while nobody waits for it, on a thread of the cache: a file that was
  ///     replaced, a change that could not be written.
  /// - Throws: `directoryUnusable`, `notWritable`, `diskFull` or `busy`.
  public convenience init(
    directory: URL, byteLimit: Int?, onProblem: (@Sendable (DiskCacheError) -> Void)? = nil
  ) throws(DiskCacheError) {
    try self.init(
      directory: directory, byteLimit: byteLimit, onProblem: onProblem, majorVersion: DiskCacheSchema.majorVersion)
  }

  init(
    directory: URL, byteLimit: Int?, onProblem: (@Sendable (DiskCacheError) -> Void)? = nil,
    majorVersion: Int = DiskCacheSchema.majorVersion, lockTimeout: Duration = .seconds(5),
    policy: GroupCommit.Policy = .init()
  ) throws(DiskCacheError) {
    var limits = DiskCacheLimits(byteLimit: byteLimit ?? 0)
    let problems = CacheProblems()
    if let onProblem { problems.listen(onProblem) }
    let database = CacheDatabase(directory: directory.path, majorVersion: majorVersion, lockTimeout: lockTimeout)
    var damage = try database.open()
    if let damage { problems.report(damage) }
    var payload = 0
    do {
      payload = try Self.payloadBytes(in: database)
    } catch {
      guard error.isDamage else { throw error }
      damage = error
      problems.report(error)
      if let problem = try database.open(.damaged) { problems.report(problem) }
    }
    unverifiedDamage = Mutex(damage?.damage)
    exposure = CachePrivacy.exposure(of: directory.path)
    if byteLimit == nil { limits = DiskCacheLimits(byteLimit: max(payload, 1 << 30)) }
    let committer = WriteBehind(
      database: database, limits: DiskCacheLimits(byteLimit: max(payload, limits.byteLimit)), problems: problems)
    limit = Atomic(limits.byteLimit)
    self.problems = problems
    self.database = database
    self.committer = committer
    commits = GroupCommit(batchBytes: limits.batchBytes, policy: policy) { committer.commit($0) }
    // A file that is larger than its new limit shrinks without anybody waiting for it.
    if payload > limits.byteLimit { try commits.stage(.trim(toBytes: limits.byteLimit)) }
  }

  deinit { close(waits: false) }

  /// The thumbnail of that key. Nil when it is not there, or was damaged.
  ///
  /// Blocks for tens of microseconds; can be called from any thread.
  public func thumbnail(for key: CacheKey) throws(DiskCacheError) -> Thumbnail? {
    let found = try find(key)
    commits.count(isHit: found != nil)
    return found
  }

  private func find(_ key: CacheKey) throws(DiskCacheError) -> Thumbnail? {
    switch commits.lookup(key) {
    case .staged(let thumbnail): return thumbnail
    case .removed: return nil
    case .unknown: break
    }
    guard let connections = try connectionsInPlace() else { return nil }
    do {
      switch try connections.reading({ try $0.thumbnail(for: key) }) {
      case .hit(let thumbnail, let row):
        commits.touch(row)
        return thumbnail
      case .miss:
        return nil
      case .damaged(let row):
        try commits.stage(.drop(key, row: row))
        return nil
      }
    } catch {
      let problem = DiskCacheError(error, path: database.path)
      guard problem.isDamage else { throw problem }
      try commits.stage(.drop(key, row: nil))
      return nil
    }
  }

  /// The variants that are there of a picture, in no particular order. Blocks for tens of microseconds.
  public func variants(of source: SourceKey) throws(DiskCacheError) -> [Variant] {
    let (staged, databaseCounts) = commits.variants(of: source)
    guard databaseCounts, let connections = try connectionsInPlace() else { return staged }
    do {
      return Array(Set(staged).union(try connections.reading { try $0.variants(of: source) }))
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }

  /// Keeps thumbnails of one picture, in place of earlier ones, and what is known of the picture.
  ///
  /// Returns once they can be read; they are written within 50 ms. Waits while 8 MiB wait to be written. A thumbnail
  /// larger than the whole limit is not kept.
  ///
  /// - Throws: `cancelled` when the task was, with nothing stored; `closed`. What goes wrong later is thrown by `flush`.
  public func store(_ entries: [CacheEntry], of record: SourceRecord) async throws(DiskCacheError) {
    try await store(entries, of: record, replacing: false)
  }

  /// The same; with `replacing`, all other thumbnails of the picture are removed, which are of what it was before. Returns
  /// whether the permit, where there is one, has lasted until they could be read.
  @discardableResult
  func store(
    _ entries: [CacheEntry], of record: SourceRecord, replacing: Bool, permit: StorePermit? = nil
  ) async throws(DiskCacheError) -> Bool {
    let bytes = entries.reduce(0) { $0 + $1.thumbnail.data.count }
    let reservation: ByteSemaphore.Reservation
    do {
      reservation = try await staging.reserve(min(bytes, staging.capacity), priority: PriorityControl(.visible))
    } catch {
      throw .cancelled
    }
    let stage = { () throws(DiskCacheError) in
      if replacing { try self.commits.stage(.remove(record.key)) }
      try self.commits.stage(.store(record, entries, reservation))
    }
    guard let permit else {
      try stage()
      return true
    }
    let isPermitted = try permit.perform(stage)
    if !isPermitted { reservation.release() }
    return isPermitted
  }

  /// Waits until everything stored and removed so far is written, and which thumbnails were used.
  ///
  /// - Throws: Why something stored since the last time was not written; it is lost then, and everything else is not.
  public func flush() async throws(DiskCacheError) {
    try await commits.stageAndWait(.barrier)
  }

  /// Forgets a picture with all its thumbnails; returns when that is written.
  public func remove(_ source: SourceKey) async throws(DiskCacheError) {
    try await commits.stageAndWait(.remove(source))
  }

  /// Forgets everything and begins a new file; returns when that is done. Other caches on the directory notice, and lose
  /// what they were about to write.
  public func removeAll() async throws(DiskCacheError) {
    try await commits.stageAndWait(.removeAll)
  }

  /// The most all thumbnails together may take, in bytes.
  public var byteLimit: Int { limit.load(ordering: .relaxed) }

  /// Changes the limit, and returns when it holds.
  public func setByteLimit(_ limit: Int) async throws(DiskCacheError) {
    let limits = DiskCacheLimits(byteLimit: limit)
    self.limit.store(limits.byteLimit, ordering: .relaxed)
    commits.setBatchBytes(limits.batchBytes)
    try await commits.stageAndWait(.trim(toBytes: limits.byteLimit))
  }

  /// Counts what is written. Takes milliseconds, more with hundreds of thousands of thumbnails.
  public func statistics() throws(DiskCacheError) -> DiskCacheStatistics {
    guard let connections = try connectionsInPlace() else {
      return DiskCacheStatistics(
        thumbnails: 0, sources: 0, payloadBytes: 0, fileBytes: 0, byteLimit: byteLimit, oldest: nil)
    }
    do {
      return try connections.read { db in
        DiskCacheStatistics(
          thumbnails: try Int.fetchOne(db, sql: "SELECT count(*) FROM recency") ?? 0,
          sources: try Int.fetchOne(db, sql: "SELECT count(*) FROM source") ?? 0,
          payloadBytes: try Int.fetchOne(db, sql: "SELECT payload FROM total") ?? 0,
          fileBytes: database.fileBytes, byteLimit: byteLimit,
          oldest: try Double.fetchOne(db, sql: "SELECT min(fetched_at) FROM source").map {
            Date(timeIntervalSince1970: $0)
          })
      }
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }

  private static func payloadBytes(in database: CacheDatabase) throws(DiskCacheError) -> Int {
    do {
      return try database.connections()?.read { try Int.fetchOne($0, sql: "SELECT payload FROM total") } ?? 0
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }

  /// Writes everything that waits and closes the file. Blocks until done; every later call throws `closed`.
  public func close() {
    close(waits: true)
  }

  private func close(waits: Bool) {
    commits.close(waits: waits) { [database, committer] in
      committer.finish()
      database.close()
    }
  }

  /// The bytes that wait to be written.
  var stagedBytes: Int { staging.used }

  /// The bytes of thumbnails that were to be stored and could not be.
  package var lostBytes: Int { committer.lostBytes }

  /// Whether the thumbnails that were to be written last could not be, so that those stored now are likely to be lost, too.
  package var isFailing: Bool { committer.isFailing }

  /// Calls `listener` with what goes wrong while nobody waits for it, beginning with what nobody heard so far.
  func onProblem(_ listener: @escaping @Sendable (DiskCacheError) -> Void) {
    problems.listen(listener)
  }

  /// Nil when the file was deleted; a new one is begun.
  func connectionsInPlace() throws(DiskCacheError) -> CacheConnections? {
    guard let connections = try database.connections() else { return nil }
    if connections.isInPlace { return connections }
    commits.requestRun()
    return nil
  }
}
