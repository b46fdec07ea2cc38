@testable import ThumbnailCache
@testable import TestSupport

/// Several caches and processes on one directory: scenario 66.
@Suite(.timeLimit(.minutes(5))) struct DiskCacheSharingTests {
  private let directory: CacheDirectory

  /// For how long a cache waits for another here: longer than a busy machine keeps anybody from going on.
  private let patience = Duration.seconds(120)

  init() throws { directory = try CacheDirectory() }

  @Test func twoCachesSeeWhatEachOtherStores() async throws {
    let first = try DiskCache(directory: directory.url, byteLimit: 64 << 20, lockTimeout: patience)
    let second = try DiskCache(directory: directory.url, byteLimit: 64 << 20, lockTimeout: patience)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, cache) in [first, second].enumerated() {
        group.addTask {
          for number in 0..<100 { try await cache.store(1000 * index + number) }
          try await cache.flush()
        }
      }
      try await group.waitForAll()
    }
    for number in 0..<100 {
      #expect(try first.thumbnail(for: Sample.key(1000 + number)) == Sample.thumbnail(1000 + number))
      #expect(try second.thumbnail(for: Sample.key(number)) == Sample.thumbnail(number))
    }
    #expect(try first.statistics().payloadBytes == 200 * 12_000)
  }

  @Test func manyMayCreateTheFileAtOnce() async throws {
    let url = directory.url.appendingPathComponent("new")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let cache = try DiskCache(directory: url, byteLimit: 64 << 20, lockTimeout: patience)
          try await cache.store(number)
          cache.close()
        }
      }
      try await group.waitForAll()
    }
    let cache = try DiskCache(directory: url, byteLimit: 64 << 20)
    #expect(try (0..<8).allSatisfy { try cache.thumbnail(for: Sample.key($0)) != nil })
  }

  @Test func clearingByOneIsSeenByTheOthers() async throws {
    let first = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    let second = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    try await first.store(1)
    try await first.flush()
    #expect(try second.thumbnail(for: Sample.key(1)) != nil)
    try await first.removeAll()
    #expect(try second.thumbnail(for: Sample.key(1)) == nil)
    try await second.store(2)
    try await second.flush()
    #expect(try first.thumbnail(for: Sample.key(2)) == Sample.thumbnail(2))
    #expect(try first.statistics() == second.statistics())
  }

  @Test func theSmallerOfTwoLimitsHolds() async throws {
    let large = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    let small = try DiskCache(directory: directory.url, byteLimit: 200_000)
    for number in 0..<50 { try await large.store(number) }
    try await large.flush()
    try await small.store(100)
    try await small.flush()
    #expect(try small.statistics().payloadBytes <= 200_000)
    #expect(try large.thumbnail(for: Sample.key(100)) != nil)
  }

  /// Another process that writes until it gets a line.
  private func writer() throws -> Python {
    let holder = try Python(
      """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1], isolation_level=None)
      db.execute("BEGIN IMMEDIATE")
      print("ready", flush=True)
      sys.stdin.readline()
      db.execute("COMMIT")
      """, directory.database)
    try holder.waitUntilReady()
    return holder
  }

  @Test(.enabled(if: Python.isAvailable)) func aWriteWaitsForAnotherProcessAndReadsDoNot() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20, lockTimeout: patience)
    try await cache.store(1)
    try await cache.flush()
    let holder = try writer()
    try await cache.store(2)
    async let written: Void = cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    #expect(try cache.thumbnail(for: Sample.key(2)) == Sample.thumbnail(2))
    #expect(holder.finish() == 0)
    try await written
    #expect(try cache.statistics().thumbnails == 2)
  }

  @Test(.enabled(if: Python.isAvailable)) func aLockThatIsNeverGivenBackIsReportedAndCostsOnlyTheWrite() async throws {
    // Real time: SQLite's own; only has to pass.
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20, lockTimeout: .milliseconds(50))
    try await cache.store(1)
    try await cache.flush()
    let holder = try writer()
    try await cache.store(2)
    await #expect(throws: DiskCacheError.busy(path: directory.database)) { try await cache.flush() }
    #expect(try cache.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    holder.kill()
    try await cache.store(2)
    try await cache.flush()
    #expect(try cache.statistics().thumbnails == 2)
  }
}
