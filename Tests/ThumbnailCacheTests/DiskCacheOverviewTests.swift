import Foundation
import GRDB
import Testing

@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// What a cache tells about itself: its groups and its look-ups.
@Suite(.timeLimit(.minutes(5)))
struct DiskCacheOverviewTests {
  private let directory: CacheDirectory
  private let cache: DiskCache

  init() throws {
    directory = try CacheDirectory()
    cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
  }

  private func store(_ url: String, sides: [Int], bytes: Int = 100, days: Double = 0) async throws {
    let source = ImageSource(try #require(URL(string: url)))
    let record = SourceRecord(
      source, description: Sample.description, fetchedAt: Date(timeIntervalSinceNow: -days * 86_400))
    try await cache.store(sides.map { Sample.entry($0, bytes: bytes, side: $0) }, of: record)
  }

  @Test func thumbnailsAreCountedBySizeFormatHostAndAge() async throws {
    try await store("https://one.example.org/a.jpg", sides: [400, 200], bytes: 100)
    try await store("https://one.example.org/b.jpg", sides: [400], bytes: 50, days: 3)
    try await store("https://Two.example.org/c.jpg", sides: [200, 400], bytes: 10, days: 20)
    try await store("file:///pictures/d.jpg", sides: [20], bytes: 7, days: 90)
    try await store("https://three.example.org/e.jpg", sides: [20], bytes: 7, days: -90)
    let png = Thumbnail(
      data: Data([1, 2, 3]), size: PixelSize(20, 20), format: .png, source: Sample.description)
    try await cache.store([CacheEntry(variant: Sample.variant(20), thumbnail: png)], of: Sample.record(1))
    try await cache.flush()

    let overview = try cache.overview(hosts: 3)
    #expect(overview.totals == (try cache.statistics()))
    #expect(overview.totals.thumbnails == 8 && overview.totals.sources == 6)
    #expect(
      overview.sizes == [
        .init(name: PixelSize(20, 20), thumbnails: 3, bytes: 17),
        .init(name: PixelSize(400, 400), thumbnails: 3, bytes: 160),
        .init(name: PixelSize(200, 200), thumbnails: 2, bytes: 110),
      ])
    #expect(
      overview.formats == [
        .init(name: .jpeg, thumbnails: 7, bytes: 284), .init(name: .png, thumbnails: 1, bytes: 3),
      ])
    #expect(
      overview.hosts == [
        .init(host: "one.example.org", pictures: 2), .init(host: "", pictures: 1),
        .init(host: "images.example.org", pictures: 1),
      ])
    #expect(overview.hostCount == 4)
    #expect((overview.ages.lastDay, overview.ages.lastWeek) == (3, 1))
    #expect((overview.ages.lastMonth, overview.ages.older) == (1, 1))
  }

  @Test func countsFollowWhatIsReplacedRemovedEvictedAndMoved() async throws {
    for number in 0..<200 { try await cache.store(number) }
    try await cache.store(1, bytes: 500)
    try await cache.remove(Sample.source(2).key)
    #expect(
      try cache.overview().sizes == [.init(name: PixelSize(400, 400), thumbnails: 199, bytes: 198 * 12_000 + 500)])
    // Moves the survivors into a new file.
    try await cache.setByteLimit(1 << 20)
    let overview = try cache.overview()
    #expect(overview.totals == (try cache.statistics()))
    #expect(overview.sizes.first?.thumbnails == overview.totals.thumbnails)
    #expect(overview.formats.first?.bytes == overview.totals.payloadBytes)
    #expect(try cache.sumOfLengths() == overview.totals.payloadBytes)
    try await cache.removeAll()
    #expect(try cache.overview().sizes.isEmpty)
  }

  @Test func lookUpsAreCountedOverRunsAndProcesses() async throws {
    for _ in 1...2 {
      let run = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
      try await run.store(1)
      _ = try run.thumbnail(for: Sample.key(1))
      try await run.flush()
      _ = try run.thumbnail(for: Sample.key(1))
      _ = try run.thumbnail(for: Sample.key(2))
      run.close()
    }
    #expect(try (cache.overview().hits, cache.overview().misses) == (4, 2))
    // They survive a move into a new file, and are gone when the cache is cleared.
    for number in 10..<60 { try await cache.store(number) }
    try await cache.setByteLimit(50_000)
    #expect(try (cache.overview().hits, cache.overview().misses) == (4, 2))
    try await cache.removeAll()
    #expect(try (cache.overview().hits, cache.overview().misses) == (0, 0))
  }

  @Test func lookUpsAloneAreWrittenWhenTheCacheIsClosed() async throws {
    let other = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    _ = try other.thumbnail(for: Sample.key(1))
    other.close()
    #expect(try cache.overview().misses == 1)
  }

  @Test func thumbnailsOfAnotherVersionAreOneGroup() async throws {
    try await cache.store(1)
    try await cache.flush()
    try directory.execute(
      """
      INSERT INTO variant VALUES (9, '9;some;thing');
      INSERT INTO thumbnail SELECT NULL, source, 9, width, height, format, source_width, source_height,
        source_format, source_bytes, checksum, bytes, placeholder, source_preview, pixels FROM thumbnail
      """)
    #expect(try cache.overview().sizes.contains(.init(name: nil, thumbnails: 1, bytes: 12_000)))
  }

  @Test func anEmptyCacheAndOneThatIsGoneHaveNothing() async throws {
    #expect(try cache.overview().totals.thumbnails == 0)
    try FileManager.default.removeItem(at: directory.url)
    let overview = try cache.overview()
    #expect(overview.totals.thumbnails == 0 && overview.hosts.isEmpty)
  }
}
