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

  @Test func aCacheThatIsGoneHasNothing() throws {
    try FileManager.default.removeItem(at: directory.url)
    #expect(try cache.statistics().thumbnails == 0)
  }
}
