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
        fetchedAt: Date(timeIntervalSinceNow: Double(-number) * 86_400 - 60))
      try await cache.store(
        [Sample.entry(number, bytes: bytes), Sample.entry(number, bytes: bytes, side: 20)], of: record)
    }
    try await cache.flush()
  }

  private func date(days: Double) -> Date { Date(timeIntervalSinceNow: -days * 86_400) }

  /// Prunes, and expects that the totals are right.
  private func prune(_ pruning: CachePruning) async throws -> CachePruning.Outcome {
    let before = try cache.statistics()
    let outcome = try await cache.prune(pruning)
    let after = try cache.statistics()
    #expect(before.thumbnails - after.thumbnails == outcome.thumbnails)
    #expect(before.payloadBytes - after.payloadBytes == outcome.bytes)
    #expect(try cache.faults() == [])
    return outcome
  }

  @Test func whatWasFetchedLongAgoLeaves() async throws {
    try await fill(20)
    #expect(try await prune(CachePruning(fetchedBefore: date(days: 15))) == .init(thumbnails: 10, bytes: 10_000))
    #expect(try cache.statistics().sources == 15)
    #expect(try await prune(CachePruning(fetchedBefore: date(days: 15))) == .init())
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
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: left)
      _ = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
      #expect(FileManager.default.fileExists(atPath: left) == isKept)
    }
  }

  @Test func picturesOfAHostLeaveInSmallTransactions() async throws {
    try await fill(700, bytes: 50)
    #expect(try await prune(CachePruning(host: "host1.example.org")).thumbnails == 700)
    let hosts = try cache.onWriter { try String.fetchAll($0, sql: "SELECT DISTINCT host FROM source") }
    #expect(hosts == ["host0.example.org"])
    #expect(try await prune(CachePruning(host: "elsewhere.example.org")) == .init())
  }

  @Test func ageAndHostTogetherMustBothBeMet() async throws {
    try await fill(20)
    let outcome = try await prune(CachePruning(fetchedBefore: date(days: 15), host: "host1.example.org"))
    #expect(outcome.thumbnails == 6)
  }

  @Test func thumbnailsOfEarlierPixelsLeaveAndTheOthersOfTheirImagesStay() async throws {
    try await fill(10)
    // Without a version, as in caches of 0.9, but for eight of the ten of 20 pixels.
    try directory.execute("UPDATE thumbnail SET pixels = iif(width = 20 AND id % 10 != 0, 2, NULL)")
    #expect(try await prune(CachePruning(madeBefore: .first)) == .init())
    let later = PixelsVersion(number: 2)
    let outcome = try await prune(CachePruning(host: "host1.example.org", madeBefore: later))
    #expect(outcome == .init(thumbnails: 6, bytes: 6000))
    #expect(try await prune(CachePruning(madeBefore: later)).thumbnails == 6)
    // An image leaves with its last thumbnail.
    #expect(try cache.statistics().sources == 8 && cache.statistics().thumbnails == 8)
  }

  @Test func aThumbnailMadeOfAnotherOneIsAsOldAsThat() async throws {
    try await fill(2)
    try directory.execute("UPDATE thumbnail SET pixels = 0 WHERE source = 1 AND width = 400")
    for number in 0..<2 {
      let url = try #require(URL(string: "https://host\(number % 2).example.org/\(number).jpg"))
      let record = SourceRecord(ImageSource(url), description: Sample.description, fetchedAt: nil)
      try await cache.store([Sample.entry(number, bytes: 1000, side: 100)], of: record)
    }
    try await cache.flush()
    #expect(try await prune(CachePruning(madeBefore: .current)).thumbnails == 2)
    #expect(try cache.statistics().thumbnails == 4)
  }

  @Test func theFileBecomesSmaller() async throws {
    try await fill(300, bytes: 12_000)
    let before = directory.fileBytes
    _ = try await cache.prune(CachePruning(host: "host1.example.org"))
    #expect(directory.fileBytes < before * 6 / 10)
  }

  @Test func timesInTheFutureAreNotLongAgo() async throws {
    let record = SourceRecord(Sample.source(1), description: Sample.description, fetchedAt: date(days: -1000))
    try await cache.store([Sample.entry(1)], of: record)
    try await cache.flush()
    #expect(try await prune(CachePruning(fetchedBefore: Date())) == .init())
  }
}
