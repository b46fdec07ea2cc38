@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// The disk cache in use: scenarios 53, 54, 60, 63 to 65, 67, 75 and 79.
///
/// The other scenarios of the disk cache: 62 in `DiskCacheLimitTests`; 55 to 57, 59 and 61 in `DiskCacheRecoveryTests`;
/// 66 in `DiskCacheSharingTests`. Of 56 the single bad line does not apply, since there is no journal of lines; what the
/// torn end of SQLite's log does is tested. 58 (orphaned temporary files) does not apply: there are none, SQLite
/// reuses the space of a transaction that did not end.
@Suite(.timeLimit(.minutes(5))) struct DiskCacheTests {
  private let directory: CacheDirectory
  private let cache: DiskCache

  init() throws {
    directory = try CacheDirectory()
    cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
  }

  @Test func whatIsStoredCanBeReadBeforeItIsWritten() async throws {
    let slow = try DiskCache(directory: directory.url, byteLimit: 64 << 20, policy: .never)
    try await slow.store(1)
    #expect(try slow.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    #expect(try slow.variants(of: Sample.source(1).key) == [Sample.variant()])
    #expect(try slow.statistics().thumbnails == 0)
    try await slow.flush()
    #expect(try slow.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    #expect(try slow.statistics().thumbnails == 1)
  }

  @Test func aThumbnailComesBackWithAllThatIsKnownOfIt() async throws {
    let thumbnail = Thumbnail(
      data: Data([1, 2, 3]), size: PixelSize(3, 4), format: .webp,
      source: SourceDescription(size: PixelSize(50, 60), format: .png, byteCount: 700),
      placeholder: Placeholder(thumbHash: Data(1...20), colour: RGBColor(red: 7, green: 8, blue: 9)))
    let key = Sample.key(1)
    try await cache.store([CacheEntry(variant: key.variant, thumbnail: thumbnail)], of: Sample.record(1))
    try await cache.flush()
    #expect(try cache.thumbnail(for: key) == thumbnail)
  }

  @Test func replacingRemovingAndClearingKeepTheirOrderWhileStaged() async throws {
    let slow = try DiskCache(directory: directory.url, byteLimit: 64 << 20, policy: .never)
    try await slow.store(1)
    try await slow.store([Sample.entry(11)], of: Sample.record(1))
    #expect(try slow.thumbnail(for: Sample.key(1)) == Sample.thumbnail(11))
    async let removal: Void = slow.remove(Sample.source(1).key)
    try await removal
    #expect(try slow.thumbnail(for: Sample.key(1)) == nil)
    try await slow.store(2)
    try await slow.removeAll()
    try await slow.store(3)
    #expect(try slow.thumbnail(for: Sample.key(2)) == nil)
    try await slow.flush()
    #expect(try slow.thumbnail(for: Sample.key(2)) == nil)
    #expect(try slow.thumbnail(for: Sample.key(3)) == Sample.thumbnail(3))
    #expect(try slow.statistics().thumbnails == 1)
    #expect(try slow.statistics().sources == 1)
  }

  @Test func aReplacementCountsOnce() async throws {
    try await cache.store(1, bytes: 12_000)
    try await cache.flush()
    try await cache.store(1, bytes: 5_000)
    try await cache.flush()
    #expect(try cache.statistics().payloadBytes == 5_000)
    #expect(try cache.statistics().thumbnails == 1)
    #expect(try cache.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1, bytes: 5_000))
  }

  @Test func rowsDeletedFromOutsideAreMissesAndTheSizeFollows() async throws {
    try await cache.store(1)
    try await cache.store(2, bytes: 7_000)
    try await cache.flush()
    try directory.execute("DELETE FROM thumbnail WHERE bytes = 12000")
    #expect(try cache.thumbnail(for: Sample.key(1)) == nil)
    #expect(try cache.statistics().payloadBytes == 7_000)
    #expect(try cache.statistics().sources == 1)
  }

  @Test func theOrderOfUseSurvivesARestart() async throws {
    do {
      let first = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
      for number in 0..<10 { try await first.store(number, bytes: 100_000) }
      try await first.flush()
      _ = try first.thumbnail(for: Sample.key(0))
      _ = try first.thumbnail(for: Sample.key(3))
      first.close()
    }
    let second = try DiskCache(directory: directory.url, byteLimit: 1_000_000)
    for number in 10..<18 { try await second.store(number, bytes: 100_000) }
    try await second.flush()
    let survivors = try (0..<10).filter { try second.thumbnail(for: Sample.key($0)) != nil }
    #expect(survivors == [0, 3])
  }

  @Test func timesInTheFutureDoNotDisturbTheOrder() async throws {
    let small = try DiskCache(directory: directory.url, byteLimit: 300_000)
    for number in 0..<5 {
      let future = Date(timeIntervalSince1970: number == 0 ? 1e11 : 1e9 - Double(number) * 1e6)
      let record = SourceRecord(Sample.source(number), description: Sample.description, fetchedAt: future)
      try await small.store([Sample.entry(number, bytes: 100_000)], of: record)
      try await small.flush()
    }
    #expect(try small.thumbnail(for: Sample.key(0)) == nil)
    #expect(try small.thumbnail(for: Sample.key(4)) != nil)
  }

  @Test func readingWhileOthersAreEvictedGivesWholeThumbnailsOrNone() async throws {
    let small = try DiskCache(directory: directory.url, byteLimit: 1 << 20)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<600 { try await small.store(number) }
        try await small.flush()
      }
      for _ in 0..<2 {
        group.addTask {
          for step in 0..<3000 {
            let number = step % 600
            let found = try small.thumbnail(for: Sample.key(number))
            #expect(found == nil || found == Sample.thumbnail(number))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try small.statistics().payloadBytes <= 1 << 20)
  }

  @Test(arguments: [
    "", String(repeating: "k", count: 4096), "žluťoučký 🐎\u{0}\u{202E}", "../../../etc/passwd",
    "'; DROP TABLE thumbnail; --",
  ])
  func anyIdentityIsAKey(identity: String) async throws {
    let url = try #require(URL(string: "https://example.org/a?sig=1"))
    let source = ImageSource(url, identity: identity)
    let key = CacheKey(source: source.key, variant: Sample.variant())
    try await cache.store([Sample.entry(1)], of: SourceRecord(source, description: Sample.description))
    try await cache.store([Sample.entry(2)], of: Sample.record(2))
    try await cache.flush()
    #expect(try cache.thumbnail(for: key) == Sample.thumbnail(1))
    #expect(try cache.thumbnail(for: Sample.key(2)) == Sample.thumbnail(2))
    let files = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    #expect(files.allSatisfy { $0.hasPrefix("thumbnails") })
  }

  @Test(arguments: [
    "UPDATE piece SET data = zeroblob(length(data))", "UPDATE piece SET data = substr(data, 1, 100)",
    "UPDATE thumbnail SET width = 401", "UPDATE thumbnail SET format = 'jpog'",
    "UPDATE piece SET data = 'text'", "DELETE FROM piece", "UPDATE thumbnail SET width = 'wide'",
    "INSERT INTO piece SELECT id + 1, x'00' FROM piece WHERE id % 2 = 0",
  ])
  func aDamagedThumbnailIsAMissAndIsMadeAgain(damage: String) async throws {
    try await cache.store(1)
    try await cache.flush()
    do { try directory.execute(damage) } catch { return }
    #expect(try cache.thumbnail(for: Sample.key(1)) == nil)
    try await cache.store(1)
    #expect(try cache.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    #expect(try cache.statistics().thumbnails == 1)
  }

  @Test func aDamagedThumbnailIsRemovedWhenNobodyMakesItAgain() async throws {
    try await cache.store(1)
    try await cache.flush()
    try directory.execute("UPDATE thumbnail SET checksum = checksum + 1")
    #expect(try cache.thumbnail(for: Sample.key(1)) == nil)
    try await cache.flush()
    #expect(try cache.statistics().thumbnails == 0)
    #expect(try cache.statistics().payloadBytes == 0)
  }

  @Test func closingWritesWhatWaits() async throws {
    let other = try DiskCache(directory: directory.url, byteLimit: 64 << 20, policy: .never)
    try await other.store(1)
    other.close()
    #expect(try cache.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    await #expect(throws: DiskCacheError.closed) { try await other.store(2) }
    #expect(throws: DiskCacheError.closed) { try other.thumbnail(for: Sample.key(1)) }
    other.close()
  }

  @Test func droppingTheCacheWritesWhatWaits() async throws {
    do {
      let other = try DiskCache(directory: directory.url, byteLimit: 64 << 20, policy: .never)
      try await other.store(1)
    }
    #expect(try await eventually { try cache.thumbnail(for: Sample.key(1)) != nil })
  }

  @Test func theDirectoryIsForTheUserAlone() throws {
    let nested = directory.url.appendingPathComponent("a/b")
    _ = try DiskCache(directory: nested, byteLimit: 1 << 20)
    let mode = try FileManager.default.attributesOfItem(atPath: nested.path)[.posixPermissions] as? Int
    #expect(mode == 0o700)
  }
}
