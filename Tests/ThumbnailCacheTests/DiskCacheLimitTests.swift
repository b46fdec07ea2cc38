@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// The limits of the disk cache: scenario 62, and what limits do when they change.
@Suite(.timeLimit(.minutes(5))) struct DiskCacheLimitTests {
  private let directory: CacheDirectory

  init() throws { directory = try CacheDirectory() }

  @Test(arguments: Thoroughness.cases([500, 40_000], of: [500, 4_000, 12_000, 40_000]))
  func payloadAndFilesStayWithinTheirLimitsDuringALongRun(bytes: Int) async throws {
    let limit = 8 << 20
    let cache = try DiskCache(directory: directory.url, byteLimit: limit)
    let total = 18 << 20
    let count = min(total / bytes, 2_000)
    var largestFile = 0
    for number in 0..<count {
      try await cache.store(number, bytes: bytes + number % 7 * bytes / 10)
      if number.isMultiple(of: 50) {
        try await cache.flush()
        #expect(try cache.statistics().payloadBytes <= limit)
        largestFile = max(largestFile, directory.fileBytes)
      }
    }
    try await cache.flush()
    #expect(largestFile <= limit * 11 / 10)
    let statistics = try cache.statistics()
    if bytes * count > 2 * limit {
      // Evicts what it must and no more.
      #expect(statistics.payloadBytes > limit * 3 / 4)
    }
    let sum = try cache.sumOfLengths()
    #expect(statistics.payloadBytes == sum)
  }

  @Test func thumbnailsLeaveInTheOrderOfTheirUse() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 1 << 20)
    for number in 0..<10 { try await cache.store(number, bytes: 100_000) }
    try await cache.flush()
    _ = try cache.thumbnail(for: Sample.key(1))
    try await cache.flush()
    _ = try cache.thumbnail(for: Sample.key(0))
    for number in 10..<17 { try await cache.store(number, bytes: 100_000) }
    try await cache.flush()
    let survivors = try (0..<10).filter { try cache.thumbnail(for: Sample.key($0)) != nil }
    #expect(survivors == [0, 1, 9])
  }

  @Test func anOversizedThumbnailIsNotKeptAndNeitherIsTheOneItReplaces() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 50_000)
    try await cache.store(1)
    try await cache.store(2)
    try await cache.flush()
    try await cache.store(1, bytes: 50_001)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(1)) == nil)
    #expect(try cache.thumbnail(for: Sample.key(2)) != nil)
    #expect(try cache.statistics().sources == 1)
  }

  @Test(arguments: [14 << 20, 8 << 20, 1 << 20])
  func loweringTheLimitKeepsTheLastUsedAndShrinksTheFileBeforeItReturns(limit: Int) async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    for number in 0..<1500 { try await cache.store(number) }
    try await cache.flush()
    _ = try cache.thumbnail(for: Sample.key(7))
    let before = try FileState(of: RawPath(directory.database)).inode
    try await cache.setByteLimit(limit)
    #expect((try FileState(of: RawPath(directory.database)).inode == before) == (limit > 9_000_000))
    let statistics = try cache.statistics()
    #expect(statistics.payloadBytes <= limit && statistics.payloadBytes > limit * 3 / 4)
    #expect(statistics.thumbnails == statistics.sources)
    #expect(directory.fileBytes <= limit * 11 / 10 + (limit < 8 << 20 ? 1 << 20 : 0))
    #expect(try cache.thumbnail(for: Sample.key(7)) == Sample.thumbnail(7))
    #expect(try cache.thumbnail(for: Sample.key(1499)) == Sample.thumbnail(1499))
    #expect(try cache.thumbnail(for: Sample.key(0)) == nil)
    #expect(try cache.onWriter { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
    // The order of use is kept as well.
    try await cache.setByteLimit(24_000)
    #expect(try cache.thumbnail(for: Sample.key(1499)) != nil)
  }

  @Test func openingWithALowerLimitTrims() async throws {
    do {
      let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
      for number in 0..<500 { try await cache.store(number) }
      cache.close()
    }
    let cache = try DiskCache(directory: directory.url, byteLimit: 1 << 20)
    #expect(try await eventually { try cache.statistics().payloadBytes <= 1 << 20 })
  }

  @Test func clearingMakesTheFileSmall() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    for number in 0..<1000 { try await cache.store(number) }
    try await cache.removeAll()
    let statistics = try cache.statistics()
    #expect(statistics.thumbnails == 0 && statistics.sources == 0 && statistics.payloadBytes == 0)
    #expect(directory.fileBytes < 300_000)
    try await cache.store(1)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(1)) != nil)
  }

  @Test func aLimitOfZeroKeepsNothing() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 0)
    try await cache.store(1)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(1)) == nil)
    #expect(try cache.statistics().payloadBytes == 0)
  }

  @Test func storingWaitsWhileTooMuchIsStaged() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    let big = Sample.thumbnail(1, bytes: 3 << 20)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<12 {
        group.addTask {
          try await cache.store([CacheEntry(variant: Sample.variant(), thumbnail: big)], of: Sample.record(number))
          #expect(cache.commits.room.used <= 8 << 20)
        }
      }
      try await group.waitForAll()
    }
    try await cache.flush()
    #expect(cache.commits.room.used == 0)
    #expect(try cache.statistics().thumbnails == 12)
  }
}
