import GRDB
import Synchronization
import ThumbnailCore

extension DiskCache {
  /// How many thumbnails are read in one transaction.
  private static let verifiedAtOnce = 256

  /// Reads everything that is written and repairs what is wrong: thumbnails whose bytes are not those that were stored,
  /// rows that belong to nothing, wrong totals, and a file whose structure is damaged. A file that had to be begun anew
  /// when this cache was opened counts as damaged at the first check.
  ///
  /// Others read and write meanwhile; what they write is checked or not. One thread reads, the rest takes turns with other
  /// changes. Cancelling the task ends it early, with what was repaired so far.
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
      // What is too damaged to be looked at.
      guard let reason = error.damage else { throw error }
      return [reason]
    }
  }

  /// Reads on a thread of the pool. Nil when there is no file.
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

  /// Runs `body` in a transaction between other changes, and returns what it returns when that is written.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(DiskCacheError) -> Value {
    try await maintain { writer in
      var value: Value?
      try writer.transaction { value = try body($0) }
      return value
    }
  }

  /// Runs `body` on the connection that writes, between other changes, and returns what it returns. It may be run twice,
  /// with a new file in place of a damaged one the second time.
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

/// Where work leaves what it returns.
private final class Slot<Value: Sendable>: Sendable {
  let value = Mutex<Value?>(nil)
}
