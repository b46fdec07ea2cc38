import Foundation
import GRDB
import Testing

@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// What a cache tells about itself: its totals and its look-ups.
@Suite(.timeLimit(.minutes(5)))
struct DiskCacheStatisticsTests {
  private let directory: CacheDirectory
  private let cache: DiskCache

  init() throws {
    directory = try CacheDirectory()
    cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
  }

  @Test func totalsFollowWhatIsReplacedRemovedEvictedAndMoved() async throws {
    for number in 0..<200 { try await cache.store(number) }
    try await cache.store(1, bytes: 500)
    try await cache.remove(Sample.source(2).key)
    let held = try cache.statistics()
    #expect(held.thumbnails == 199 && held.sources == 199 && held.payloadBytes == 198 * 12_000 + 500)
    // Moves the survivors into a new file.
    try await cache.setByteLimit(1 << 20)
    #expect(try cache.sumOfLengths() == cache.statistics().payloadBytes && cache.faults() == [])
    try await cache.removeAll()
    #expect(try cache.statistics().thumbnails == 0)
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
    #expect(try (cache.statistics().hits, cache.statistics().misses) == (4, 2))
    // They survive a move into a new file, and are gone when the cache is cleared.
    for number in 10..<60 { try await cache.store(number) }
    try await cache.setByteLimit(50_000)
    #expect(try (cache.statistics().hits, cache.statistics().misses) == (4, 2))
    try await cache.removeAll()
    #expect(try (cache.statistics().hits, cache.statistics().misses) == (0, 0))
  }

  @Test func lookUpsAloneAreWrittenWhenTheCacheIsClosed() async throws {
    let other = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    _ = try other.thumbnail(for: Sample.key(1))
    other.close()
    #expect(try cache.statistics().misses == 1)
  }

  @Test func aCacheThatIsGoneHasNothing() throws {
    try FileManager.default.removeItem(at: directory.url)
    #expect(try cache.statistics().thumbnails == 0)
  }
}
