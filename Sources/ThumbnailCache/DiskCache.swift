public import Foundation
import GRDB
import Synchronization
public import ThumbnailCore

/// Stores thumbnails on disk, in one SQLite file.
///
/// Several caches, in one process or in many, may share a directory, each with its own limit. The directory must not be
/// on a network file system: SQLite's write-ahead log needs memory shared by all its users.
///
/// Stored thumbnails can be read at once and are written shortly after, together with other changes (write-behind);
/// `flush` and `close` wait for that. A process that is killed loses at most what it stored in its last moments; the
/// file stays consistent. When the limit is reached, the least recently used thumbnails are evicted. Damage is detected
/// when a thumbnail is read: it counts as a miss, and is removed.
///
/// Recency is a sequence number, so clock changes do not affect it.
public final class DiskCache: Sendable {
  let database: CacheDatabase
  private let committer: WriteBehind
  let commits: GroupCommit
  let problems: CacheProblems
  private let limit: Atomic<Int>
  /// The bytes of thumbnails that may wait to be written.
  let staging = WeightedSemaphore(capacity: 8 << 20)
  /// Why the file was replaced when it was opened, until a check has reported it.
  let unverifiedDamage: Mutex<String?>

  /// A warning that other users can access the cache's directory, which existed before, and what to do about it; nil
  /// when they cannot.
  public let exposure: String?

  /// Whether the directory contains a cache.
  public static func exists(in directory: URL) -> Bool {
    FileManager.default.fileExists(
      atPath: CacheDatabase.path(in: directory.path, majorVersion: DiskCacheSchema.majorVersion))
  }

  /// Opens the cache in a directory, which is created with access for the user only if it does not exist.
  ///
  /// A file that turns out to be damaged, or not to be a cache, is replaced by an empty one.
  ///
  /// - Parameters:
  ///   - directory: On a local disk, for the cache's files alone.
  ///   - byteLimit: The most all thumbnails together may take, in bytes. The files take up to a tenth more, or 1 MiB
  ///     more where the limit is below 8 MiB. What exceeds it is evicted, least recently used first. Nil evicts
  ///     nothing, for examining a cache without changing it.
  ///   - onProblem: Called with errors of background work, on a thread of the cache: a file that was replaced, a change
  ///     that could not be written.
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
    // A file larger than its new limit shrinks in the background.
    if payload > limits.byteLimit { try commits.stage(.trim(toBytes: limits.byteLimit)) }
  }

  deinit { close(waits: false) }

  /// The thumbnail for a key. Nil on a miss, or when it was damaged.
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

  /// The stored variants of an image, in no particular order. Blocks for tens of microseconds.
  public func variants(of source: SourceKey) throws(DiskCacheError) -> [Variant] {
    let (staged, databaseCounts) = commits.variants(of: source)
    guard databaseCounts, let connections = try connectionsInPlace() else { return staged }
    do {
      return Array(Set(staged).union(try connections.reading { try $0.variants(of: source) }))
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }

  /// Stores thumbnails of one image, replacing earlier ones, and what is known of the image.
  ///
  /// Returns once they can be read; they are written within 50 ms. Waits while 8 MiB are pending. A thumbnail larger
  /// than the whole limit is not stored.
  ///
  /// - Throws: `cancelled` when the task was, with nothing stored; `closed`. Later failures are thrown by `flush`.
  public func store(_ entries: [CacheEntry], of record: SourceRecord) async throws(DiskCacheError) {
    try await store(entries, of: record, replacing: .none)
  }

  /// The same with a choice of what happens to the image's other thumbnails. Returns whether the permit, if any, was
  /// valid when the new ones became readable.
  @discardableResult
  func store(
    _ entries: [CacheEntry], of record: SourceRecord, replacing: Replacement, permit: StorePermit? = nil
  ) async throws(DiskCacheError) -> Bool {
    let reservation: WeightedSemaphore.Reservation
    do {
      reservation = try await staging.reserve(pendingBytes(of: entries), priority: PriorityControl(.visible))
    } catch {
      throw .cancelled
    }
    return try store(entries, of: record, replacing: replacing, permit: permit, in: reservation)
  }

  /// What the entries take of the bytes that may be pending.
  private func pendingBytes(of entries: [CacheEntry]) -> Int {
    min(entries.reduce(0) { $0 + $1.thumbnail.data.count }, staging.capacity)
  }

  /// Whether no more than 8 MiB are pending.
  var hasRoom: Bool { staging.reserveNow(0) != nil }

  /// Waits until no more than 8 MiB are pending, or the task is cancelled.
  func waitForRoom(priority: PriorityControl) async { _ = try? await staging.reserve(0, priority: priority) }

  /// Stores without waiting, however much is pending. Callers see to it that this stays bounded (`waitForRoom`).
  func storeNow(
    _ entries: [CacheEntry], of record: SourceRecord, replacing: Replacement, permit: StorePermit?
  ) throws(DiskCacheError) -> Bool {
    let room = staging.overdraw(pendingBytes(of: entries))
    return try store(entries, of: record, replacing: replacing, permit: permit, in: room)
  }

  /// Stores without waiting, in room that was reserved.
  private func store(
    _ entries: [CacheEntry], of record: SourceRecord, replacing replacement: Replacement, permit: StorePermit?,
    in reservation: WeightedSemaphore.Reservation
  ) throws(DiskCacheError) -> Bool {
    let stage = { () throws(DiskCacheError) in
      if case .all = replacement { try self.commits.stage(.remove(record.key)) }
      try self.commits.stage(.store(record, entries, replacement, reservation))
    }
    guard let permit else {
      try stage()
      return true
    }
    let isPermitted = try permit.perform(stage)
    if !isPermitted { reservation.release() }
    return isPermitted
  }

  /// Waits until all changes so far are written, including recency.
  ///
  /// - Throws: Why something stored since the last flush was not written; only that is lost.
  public func flush() async throws(DiskCacheError) {
    try await commits.stageAndWait(.barrier)
  }

  /// Removes an image with all its thumbnails; returns when that is written.
  public func remove(_ source: SourceKey) async throws(DiskCacheError) {
    try await commits.stageAndWait(.remove(source))
  }

  /// Removes everything by starting a new file; returns when that is done. Other caches in the directory notice, and
  /// lose their pending writes.
  public func removeAll() async throws(DiskCacheError) {
    try await commits.stageAndWait(.removeAll)
  }

  /// The most all thumbnails together may take, in bytes.
  public var byteLimit: Int { limit.load(ordering: .relaxed) }

  /// Changes the limit, and returns once it holds.
  public func setByteLimit(_ limit: Int) async throws(DiskCacheError) {
    let limits = DiskCacheLimits(byteLimit: limit)
    self.limit.store(limits.byteLimit, ordering: .relaxed)
    commits.setBatchBytes(limits.batchBytes)
    try await commits.stageAndWait(.trim(toBytes: limits.byteLimit))
  }

  /// Statistics of what is written. Takes milliseconds, more with hundreds of thousands of thumbnails.
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

  /// Writes everything pending and closes the file. Blocks until done; every later call throws `closed`.
  public func close() {
    close(waits: true)
  }

  private func close(waits: Bool) {
    commits.close(waits: waits) { [database, committer] in
      committer.finish()
      database.close()
    }
  }

  /// The bytes of pending writes.
  var stagedBytes: Int { staging.used }

  /// The bytes of thumbnails that could not be written.
  package var lostBytes: Int { committer.lostBytes }

  /// Whether the last write of thumbnails failed, so that the next ones are likely to be lost as well.
  package var isFailing: Bool { committer.isFailing }

  /// Calls `listener` with errors of background work, beginning with those that no listener has received.
  func onProblem(_ listener: @escaping @Sendable (DiskCacheError) -> Void) {
    problems.listen(listener)
  }

  /// The connections; nil when the file was deleted, in which case a new one is requested.
  func connectionsInPlace() throws(DiskCacheError) -> CacheConnections? {
    guard let connections = try database.connections() else { return nil }
    if connections.isInPlace { return connections }
    commits.requestRun()
    return nil
  }
}
