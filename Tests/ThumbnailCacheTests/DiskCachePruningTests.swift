@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// Removing part of a cache.
@Suite(.timeLimit(.minutes(5))) struct DiskCachePruningTests {
  private let directory: CacheDirectory
  private let cache: DiskCache

  init() throws {
    directory = try CacheDirectory()
    cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
  }

  /// Fills it with pictures of two hosts by turns, each a day older than the one before.
  private func fill(_ count: Int, bytes: Int = 1000) async throws {
    for number in 0..<count {
      let url = try #require(URL(string: "https://host\(number % 2).example.org/\(number).jpg"))
      let record = SourceRecord(
        ImageSource(url), description: Sample.description,
        fetchedAt: date(days: Double(number)) - 60)
      try await cache.store(
        [Sample.entry(number, bytes: bytes), Sample.entry(number, bytes: bytes, side: 20)], of: record)
    }
    try await cache.flush()
  }

  private func date(days: Double) -> Date { Date(timeIntervalSince1970: 1e9 - days * 86_400) }

  /// Prunes, and expects that the totals are right.
  private func prune(olderThan days: Double) async throws -> [Int] {
    let before = try cache.statistics()
    let removed = try await cache.prune(fetchedBefore: date(days: days))
    let after = try cache.statistics()
    #expect(before.thumbnails - after.thumbnails == removed.count)
    #expect(before.payloadBytes - after.payloadBytes == removed.reduce(0, +))
    #expect(try cache.faults() == [])
    return removed
  }

  @Test func whatWasFetchedLongAgoLeaves() async throws {
    try await fill(20)
    #expect(try await prune(olderThan: 15) == Array(repeating: 1000, count: 10))
    #expect(try cache.statistics().sources == 15)
    #expect(try await prune(olderThan: 15) == [])
  }

  @Test func whatOthersStoreWhileTheRestIsCopiedStays() async throws {
    let other = try DiskCache(directory: directory.url, byteLimit: 64 << 20, lockTimeout: .seconds(120))
    for round in 0..<5 {
      try await fill(200, bytes: 10_000)
      let file = try FileState(of: RawPath(directory.database)).inode
      async let trimming: Void = cache.setByteLimit(1_000_000)
      let stored = (0..<20).map { 1000 * (round + 1) + $0 }
      for number in stored {
        try await other.store(number)
        try await other.flush()
      }
      try await trimming
      try await cache.setByteLimit(64 << 20)
      #expect(try FileState(of: RawPath(directory.database)).inode != file, "it was copied")
      for number in stored {
        #expect(try other.thumbnail(for: Sample.key(number)) == Sample.thumbnail(number))
        #expect(try cache.thumbnail(for: Sample.key(number)) == Sample.thumbnail(number))
      }
      #expect(try other.faults() == [])
    }
  }

  @Test func whatAKilledCopyHasLeftIsRemovedLater() async throws {
    let left = directory.database + ".new"
    for (age, isKept) in [(0.0, true), (700, false)] {
      try Data([1]).write(to: URL(fileURLWithPath: left))
      // Real time: what the program compares the time of a file with. Ten minutes are the limit.
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: left)
      _ = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
      #expect(FileManager.default.fileExists(atPath: left) == isKept)
    }
  }

  @Test func manyLeaveInSmallTransactions() async throws {
    try await fill(1500, bytes: 50)
    #expect(try await prune(olderThan: 100).count == 2800)
    #expect(try cache.statistics().sources == 100)
  }

  @Test func theFileBecomesSmaller() async throws {
    try await fill(300, bytes: 12_000)
    let before = directory.fileBytes
    _ = try await cache.prune(fetchedBefore: date(days: 150))
    #expect(directory.fileBytes < before * 6 / 10)
  }

  @Test func timesInTheFutureAreNotLongAgo() async throws {
    let record = SourceRecord(Sample.source(1), description: Sample.description, fetchedAt: date(days: -1000))
    try await cache.store([Sample.entry(1)], of: record)
    try await cache.flush()
    #expect(try await prune(olderThan: 0) == [])
  }
}
