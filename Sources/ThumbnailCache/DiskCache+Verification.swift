import GRDB
import Synchronization
import ThumbnailCore

extension DiskCache {
  /// The number of thumbnails read in one transaction.
  private static let verifiedAtOnce = 256

  /// Checks everything that is written and repairs what is wrong: damaged thumbnails, orphaned rows, wrong totals, and
  /// a damaged file structure. A file that had to be replaced when this cache was opened is reported as damaged by the
  /// first check.
  ///
  /// Others can read and write meanwhile; what they write may or may not be checked. One thread reads, repairs are
  /// queued with other changes. Cancelling the task ends it early, with what was repaired so far.
  ///
  /// - Parameter progress: Called with the bytes of thumbnails read so far, now and then, on any thread.
  public func verify(
    progress: (@Sendable (Int) -> Void)? = nil
  ) async throws(DiskCacheError) -> CacheVerification {
    let pool = WorkerPool(name: "thumbnailer.cache.verify", threads: 1)
    var result = CacheVerification()
    result.structure = try await structure(on: pool)
    if !result.structure.isEmpty { try await commits.stageAndWait(.rebuild) }
    let damage = unverifiedDamage.withLock { damage in
      defer { damage = nil }
      return damage
    }
    if let damage { result.structure.insert(damage, at: 0) }
    var start = Int64.min
    while let findings = try await look(
      on: pool,
      { [start] in
        try CacheVerifier.check(Self.verifiedAtOnce, after: start, in: $0)
      }) ?? nil
    {
      start = findings.end
      result.thumbnails += findings.thumbnails
      result.bytes += findings.bytes
      progress?(result.bytes)
      if findings.isEmpty { continue }
      let repaired = try await write { try CacheVerifier.repair(findings, in: $0) }
      result.damaged += repaired.damaged
      result.strays += repaired.strays
    }
    if try await look(on: pool, { try CacheVerifier.hasStrays($0) }) == true {
      result.strays += try await write { try CacheVerifier.removeStrays(in: $0) }
    }
    if try await look(on: pool, { try CacheVerifier.hasWrongTotals($0) }) == true {
      result.hadWrongTotals = try await write { try CacheVerifier.repairTotals(in: $0) }
    }
    return result
  }

  private func structure(on pool: WorkerPool) async throws(DiskCacheError) -> [String] {
    do throws(DiskCacheError) {
      return try await look(on: pool) { try CacheVerifier.structure($0) } ?? []
    } catch {
      // Too damaged to be checked.
      guard let reason = error.damage else { throw error }
      return [reason]
    }
  }

  /// Runs a query on a thread of the pool. Nil when there is no file.
  private func look<Value: Sendable>(
    on pool: WorkerPool, _ query: @escaping @Sendable (Database) throws -> Value
  ) async throws(DiskCacheError) -> Value? {
    do {
      return try await pool.run(priority: PriorityControl(.prefetch)) { [self] _ in
        Result { try connectionsInPlace()?.read(query) }
      }.get()
    } catch is CancellationError {
      throw .cancelled
    } catch {
      let problem = DiskCacheError(error, path: database.path)
      problems.report(problem)
      throw problem
    }
  }

  /// Queues `body` as a transaction among other changes, and returns its result once that is committed.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(DiskCacheError) -> Value {
    try await maintain { writer in
      var value: Value?
      try writer.transaction { value = try body($0) }
      return value
    }
  }

  /// Queues `body` on the write connection among other changes, and returns its result. It may run twice, the second
  /// time with a new file that replaced a damaged one.
  func maintain<Value: Sendable>(
    _ body: @escaping @Sendable (CacheWriter) throws -> Value?
  ) async throws(DiskCacheError) -> Value {
    let slot = Slot<Value>()
    try await commits.stageAndWait(
      .work { writer in
        let value = try body(writer)
        slot.value.withLock { $0 = value }
      })
    guard let value = slot.value.withLock({ $0 }) else { throw .closed }
    return value
  }
}

/// Holds the result of queued work.
private final class Slot<Value: Sendable>: Sendable {
  let value = Mutex<Value?>(nil)
}
