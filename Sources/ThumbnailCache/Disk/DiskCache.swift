package import Foundation
import GRDB
import Synchronization
package import ThumbnailCore

/// Stores thumbnails on disk, in one SQLite file.
///
/// Several caches, in one process or in several, may share a directory, each with its own limit. The directory must not
/// be on a network file system, because SQLite's write-ahead log needs memory that all its users share.
///
/// Stored thumbnails can be read at once and are written shortly after, together with other changes (write-behind);
/// `flush` and `close` wait for that. A killed process loses at most the pending changes, and the file stays
/// consistent. When the limit is reached, the least recently used thumbnails are evicted. Damage is detected when a
/// thumbnail is read. A damaged thumbnail counts as a miss and is removed.
///
/// Recency is a sequence number, so clock changes do not affect it.
package final class DiskCache: Sendable {
  let database: CacheDatabase
  let writer: CacheWriter
  let commits: GroupCommit
  let problems = CacheProblems()

  /// A warning that other users can access the cache's directory, and what to do; nil if they cannot.
  package let exposure: String?

  /// The message for a cache that can only be read: it serves thumbnails, but stores none. Nil if the cache can be
  /// written.
  package var restriction: String? {
    guard database.isReadOnly else { return nil }
    return "\(DiskCacheError.notWritable(path: database.directory)); stored thumbnails are used, and none is added"
  }

  /// Whether the directory contains a cache.
  package static func exists(in directory: URL) -> Bool {
    FileManager.default.fileExists(atPath: CacheDatabase.path(in: directory.path))
  }

  /// Opens the cache in a directory. If the directory does not exist, it is created with access for its user only.
  ///
  /// A file that is damaged or not a cache is replaced by an empty one. A cache that cannot be written is only read
  /// (`restriction`).
  ///
  /// - Parameters:
  ///   - directory: On a local disk, for the cache's files alone.
  ///   - byteLimit: The most bytes of all thumbnails together. The files take up to a tenth more, or 1 MiB more if the
  ///     limit is below 8 MiB. Beyond the limit the least recently used thumbnails are evicted. Nil evicts nothing, for
  ///     examining a cache without changing it.
  ///   - onProblem: Called with errors of background work, such as a replaced file or a change that could not be
  ///     written, on a thread of the cache.
  ///   - onCommit: Called with the number of changes in each commit and its duration, on a thread of the cache.
  /// - Throws: `directoryUnusable`, `notWritable`, `diskFull` or `busy`.
  package init(
    directory: URL, byteLimit: Int?, onProblem: (@Sendable (DiskCacheError) -> Void)? = nil,
    onCommit: (@Sendable (_ changes: Int, Duration) -> Void)? = nil, lockTimeout: Duration = .seconds(30),
    policy: CommitPolicy = .init()
  ) throws(DiskCacheError) {
    if let onProblem { problems.listen(onProblem) }
    let database = CacheDatabase(directory: directory.path, lockTimeout: lockTimeout)
    if let damage = try database.open() { problems.report(damage) }
    var payload = 0
    do {
      payload = try database.connections()?.read { try CacheTotals.payload(in: $0) } ?? 0
    } catch {
      guard error.isDamage else { throw error }
      problems.report(error)
      if let problem = try database.open(.damaged) { problems.report(problem) }
    }
    exposure = CachePrivacy.exposure(of: directory.path)
    let limits = DiskCacheLimits(byteLimit: byteLimit ?? max(payload, 1 << 30))
    let writer = CacheWriter(
      database: database, limits: DiskCacheLimits(byteLimit: max(payload, limits.byteLimit)), problems: problems)
    self.database = database
    self.writer = writer
    commits = GroupCommit(batchBytes: limits.batchBytes, policy: policy) { batch in
      let started = ContinuousClock.now
      let result = writer.commit(batch)
      if case .success = result, batch.hasWork { onCommit?(batch.operations.count, .now - started) }
      return result
    }
    // A file larger than its new limit shrinks in the background.
    if payload > limits.byteLimit, !database.isReadOnly {
      try commits.stage(.work { try $0.trim(toBytes: limits.byteLimit) })
    }
  }

  deinit {
    commits.close(waits: false) { [writer] in writer.close() }
  }

  /// The history of an image. Blocks for tens of microseconds.
  func history(of source: SourceKey) throws(DiskCacheError) -> SourceHistory {
    try reading(source) { try $0.history() }
  }

  /// Reads the data of an image through one connection. Each query blocks for tens of microseconds.
  func reading<Value>(
    _ source: SourceKey, _ body: (SourceReading) throws -> Value
  ) throws(DiskCacheError) -> Value {
    let found = try read { try body(SourceReading(source: source, commits: commits, db: $0)) }
    if let found { return found }
    do {
      return try body(SourceReading(source: source, commits: commits, db: nil))
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }

  /// Runs a query on a read connection. If the file was deleted, returns nil and requests a new one.
  @discardableResult
  func read<Value>(_ query: (Database) throws -> Value) throws(DiskCacheError) -> Value? {
    guard let connections = try database.connections() else { return nil }
    guard connections.isInPlace else {
      commits.requestRun()
      return nil
    }
    return try connections.read(query)
  }

  /// Waits until all changes so far are written, including recency.
  ///
  /// - Throws: The reason why a change since the last flush was not written. Only that change is lost.
  package func flush() async throws(DiskCacheError) {
    try await commits.stageAndWait(.barrier)
  }

  /// Removes an image with all its thumbnails. Returns when the removal is written.
  package func remove(_ source: SourceKey) async throws(DiskCacheError) {
    try await commits.stageAndWait(.remove(source))
  }

  /// Removes everything by creating a new file. Returns when this is done. Other caches in the directory notice it, and
  /// lose their pending writes.
  package func removeAll() async throws(DiskCacheError) {
    try await commits.stageAndWait(.removeAll)
  }

  /// The bytes of thumbnails that could not be written.
  package var lostBytes: Int { commits.lostBytes }

  /// Runs `body` on the write connection, queued with other changes, and returns its result. It may run up to three
  /// times, the last time with a new file that has replaced a damaged one.
  func maintain<Value: Sendable>(
    _ body: @escaping @Sendable (CacheWriter) throws -> Value
  ) async throws(DiskCacheError) -> Value {
    let result = Mutex<Value?>(nil)
    try await commits.stageAndWait(
      .work { writer in
        let value = try writer.recovering { try body(writer) }
        result.withLock { $0 = value }
      })
    guard let value = result.withLock({ $0 }) else { throw .closed }
    return value
  }
}

/// The sizes derived from the limit of a disk cache, so that the database and its write-ahead log stay below limit ×
/// 1.1.
///
/// The payload, the total length of all thumbnails, never exceeds the limit. Partly filled pages,
/// indexes and the log take additional space: 5 % and a few megabytes with thumbnails of 12 kB, more with smaller ones.
/// So the pages have a limit as well, and the limit that is reached first causes evictions. A limit below 8 MiB leaves
/// too little space for the log. Then the files may be up to 1 MiB larger than limit × 1.1.
struct DiskCacheLimits: Sendable, Equatable {
  /// The page size of the database in bytes.
  ///
  /// It hardly changes the file's size, because thumbnails are split at page ends. Smaller pages are slower to read: 12
  /// kB take 15 µs from pages of 1 KiB, and 11 µs from 4 KiB. Larger pages cost more when a row changes.
  static let pageSize = 4096

  /// The limit on the payload in bytes.
  var byteLimit: Int

  init(byteLimit: Int) { self.byteLimit = max(0, byteLimit) }

  /// The approximate number of thumbnail bytes in one transaction.
  var batchBytes: Int { min(max(byteLimit / 64, 64 << 10), 2 << 20) }

  /// The length of the log, in pages, at which it is checkpointed.
  var checkpointPages: Int { min(max(byteLimit / 64, 128 << 10), 4 << 20) / Self.pageSize }

  /// The most bytes of the log: the length at which it is checkpointed, one more transaction, and the pages that its
  /// evictions change.
  var logBytes: Int { checkpointPages * Self.pageSize + batchBytes * 5 / 2 }

  /// The most pages of the database.
  var pages: Int {
    let files = byteLimit + byteLimit / 10 + (byteLimit < 8 << 20 ? 1 << 20 : 0)
    return (files - logBytes) / Self.pageSize
  }

  /// The most free pages that one transaction returns to the file system.
  var vacuumPages: Int { batchBytes / Self.pageSize }

  /// Free pages beyond this number are returned to the file system. The others are kept for the next thumbnails.
  var sparePages: Int { 4 * vacuumPages }

  /// The most failures kept: one for each 16 KiB.
  var failures: Int { min(max(byteLimit >> 14, 64), 10_000) }

  /// The most search pages kept, so that finding the least recently used one takes about a millisecond.
  static let listingPages = 16384

  /// The most bytes of all search pages together: some hundred thousand photos with the default limit. They count
  /// towards the limit of the thumbnails.
  var listingBytes: Int { min(byteLimit / 16, 64 << 20) }
}
