import GRDB
import Synchronization
import ThumbnailCore

/// The damage that a check of a disk cache found. It was repaired, if the cache can be written.
package struct CacheVerification: Sendable, Equatable {
  /// The number of thumbnails read.
  package var thumbnails = 0
  /// Their total length in bytes.
  package var bytes = 0
  /// The number of damaged thumbnails, which were removed.
  package var damaged = 0
  /// The number of orphaned rows, and of rows that were missing for a thumbnail.
  package var strays = 0
  /// Whether stored totals were wrong.
  package var hadWrongTotals = false
  /// SQLite's messages about damage to the file's structure, at most about 20 lines. The file was replaced by an empty
  /// one.
  package var structure: [String] = []

  /// The result for an empty cache.
  package init() {}

  /// Whether no damage was found.
  package var isSound: Bool { damaged == 0 && strays == 0 && !hadWrongTotals && structure.isEmpty }
}

extension DiskCache {
  /// The number of thumbnails read in one transaction.
  private static let verifiedAtOnce = 256

  /// Checks all written data and repairs damaged thumbnails, orphaned rows and wrong totals. A file with a damaged
  /// structure is replaced by an empty one. If a file had to be replaced when this cache was opened, the first check
  /// reports it as damaged.
  ///
  /// Other threads and processes can read and write meanwhile, and their changes may or may not be checked. One thread
  /// reads. Repairs are queued with other changes, and check the damage again first. Cancelling the task ends it early,
  /// but repairs are kept.
  ///
  /// - Parameter progress: Called occasionally with the bytes of thumbnails read so far, on any thread.
  package func verify(
    progress: (@Sendable (Int) -> Void)? = nil
  ) async throws(DiskCacheError) -> CacheVerification {
    let pool = WorkerPool(name: "thumbnailer.cache.verify", threads: 1)
    var result = CacheVerification()
    result.structure = try await structure(on: pool)
    // A read error of the disk looks like damage, too, so the check is repeated.
    if !result.structure.isEmpty { result.structure = try await structure(on: pool) }
    if !result.structure.isEmpty {
      if database.isReadOnly { return result }
      try await commits.stageAndWait(.work { try $0.reopen(.damaged) })
    }
    let damage = unverifiedDamage.withLock { $0.take() }
    if let damage { result.structure.insert(damage, at: 0) }
    var start = Int64.min
    while let part = try await look(
      on: pool, { [start] in try CacheCheck.part(Self.verifiedAtOnce, after: start, in: $0) }) ?? nil
    {
      start = part.end
      result.thumbnails += part.thumbnails
      result.bytes += part.bytes
      progress?(result.bytes)
      if part.isSound { continue }
      let repaired = try await repair(part.found) { try part.repair(in: $0) }
      result.damaged += repaired.damaged
      result.strays += repaired.strays
    }
    if try await look(on: pool, { try CacheCheck.hasStrays(in: $0) }) == true {
      result.strays += try await repair(1) { try CacheCheck.repairStrays(in: $0) }
    }
    if try await look(on: pool, { try CacheTotals.areWrong(in: $0) }) == true {
      result.hadWrongTotals = try await repair(true) { try CacheTotals.repair(in: $0) }
    }
    return result
  }

  private func structure(on pool: WorkerPool) async throws(DiskCacheError) -> [String] {
    do throws(DiskCacheError) {
      return try await look(on: pool) { try CacheCheck.structure($0) } ?? []
    } catch {
      // Too damaged to be checked.
      guard let reason = error.damage else { throw error }
      return [reason]
    }
  }

  /// Runs a query on a thread of the pool. Nil if there is no file.
  private func look<Value: Sendable>(
    on pool: WorkerPool, _ query: @escaping @Sendable (Database) throws -> Value
  ) async throws(DiskCacheError) -> Value? {
    do {
      return try await pool.run(priority: PriorityControl(.prefetch)) { [self] _ in
        Result { () throws(DiskCacheError) in try read(inSnapshot: true, query) }
      }.get()
    } catch is CancellationError {
      throw .cancelled
    } catch {
      let problem = DiskCacheError(error, path: database.path)
      problems.report(problem)
      throw problem
    }
  }

  /// Runs a repair in a transaction, queued with other changes, and returns what it found when it is committed. In a
  /// cache that can only be read, returns `found`.
  private func repair<Value: Sendable>(
    _ found: Value, _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(DiskCacheError) -> Value {
    database.isReadOnly ? found : try await maintain { try $0.transaction(body) }
  }
}
