import Foundation
import GRDB

extension DiskCache {
  /// The number of images or thumbnails removed in one transaction.
  private static let prunedAtOnce = 128

  /// Removes what `pruning` selects and shrinks the file accordingly.
  ///
  /// Uses small transactions, between which other threads and processes can write. Cancelling the task ends it early;
  /// what was removed stays removed.
  public func prune(_ pruning: CachePruning) async throws(DiskCacheError) -> CachePruning.Outcome {
    var outcome = CachePruning.Outcome()
    if let filter = pruning.filter {
      var pages = PicturePages(filter)
      while !pages.isAtEnd {
        let (part, next) = try await inTurn { [pages] writer in
          var pages = pages
          let part = try writer.removePictures(&pages, atMost: Self.prunedAtOnce)
          return (part, pages)
        }
        outcome += part
        pages = next
      }
    }
    if let limit = pruning.byteLimit {
      var part = CachePruning.Outcome(thumbnails: 1, bytes: 0)
      while part.thumbnails > 0 {
        part = try await inTurn { try $0.removeUnused(toBytes: max(0, limit), atMost: Self.prunedAtOnce) }
        outcome += part
      }
    }
    if outcome.thumbnails > 0 {
      while try await !inTurn({ try $0.giveBackPages(atMost: $0.limits.vacuumPages) }) {}
      // What other processes are still reading is checkpointed later.
      let _: Bool = try await maintain {
        try $0.checkpoint()
        return true
      }
    }
    return outcome
  }

  /// Runs one transaction, then sleeps as long as it took (25 ms at most), since other processes only poll for the
  /// write lock.
  private func inTurn<Value: Sendable>(
    _ body: @escaping @Sendable (CacheWriter) throws -> Value
  ) async throws(DiskCacheError) -> Value {
    let start = ContinuousClock.now
    let value = try await maintain { try body($0) }
    do {
      try await Task.sleep(for: min(.now - start, .milliseconds(25)))
    } catch {
      throw .cancelled
    }
    return value
  }

  /// What `prune` would remove now. Blocks for up to a second with 100,000 thumbnails.
  public func pruned(by pruning: CachePruning) throws(DiskCacheError) -> CachePruning.Outcome {
    guard let connections = try connectionsInPlace() else { return CachePruning.Outcome() }
    do {
      return try connections.read { db in
        var outcome = CachePruning.Outcome()
        try db.inTransaction(.deferred) {
          outcome = try pruning.outcome(in: db)
          return .commit
        }
        return outcome
      }
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }
}

extension CachePruning {
  /// Simulates the pruning, in the order of eviction.
  fileprivate func outcome(in db: Database) throws -> Outcome {
    var leaving = Outcome()
    var excess = try byteLimit.map { (try Int.fetchOne(db, sql: "SELECT payload FROM total") ?? 0) - max(0, $0) } ?? 0
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT r.bytes, s.host, s.fetched_at FROM recency r JOIN thumbnail t ON t.id = r.id
        LEFT JOIN source s ON s.id = t.source ORDER BY r.used
        """)
    var kept: [Int] = []
    while let row = try rows.next() {
      let bytes = try row.decode(Int.self, atIndex: 0)
      if try filter != nil && isMeant(row) {
        leaving += Outcome(thumbnails: 1, bytes: bytes)
        excess -= bytes
      } else if byteLimit != nil {
        kept.append(bytes)
      }
    }
    for bytes in kept {
      if excess <= 0 { break }
      leaving += Outcome(thumbnails: 1, bytes: bytes)
      excess -= bytes
    }
    return leaving
  }

  private func isMeant(_ row: Row) throws -> Bool {
    guard let host = try row.decode(String?.self, atIndex: 1) else { return false }
    let fetchedAt = try row.decode(Double.self, atIndex: 2)
    return (self.host ?? host) == host && fetchedAt < fetchedBefore?.timeIntervalSince1970 ?? .infinity
  }
}
