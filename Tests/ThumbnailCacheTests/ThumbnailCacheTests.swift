@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// The two tiers together: the fallback of scenario 61, the hit without a network of 75, and shrinking.
@Suite(.timeLimit(.minutes(5))) struct ThumbnailCacheTests {
  private let directory: CacheDirectory

  init() throws { directory = try CacheDirectory() }

  private func tiers(memoryLimit: Int = 1 << 20) throws -> ThumbnailCache {
    ThumbnailCache(
      memory: MemoryCache(byteLimit: memoryLimit),
      disk: try DiskCache(directory: directory.url, byteLimit: 64 << 20))
  }

  @Test func aHitOnTheDiskComesIntoMemory() async throws {
    let first = try tiers()
    first.store([Sample.entry(1)], of: Sample.record(1))
    first.disk?.close()
    let second = try tiers()
    #expect(second.memoryThumbnail(for: Sample.key(1)) == nil)
    #expect(await second.storedThumbnail(for: Sample.key(1))?.thumbnail == Sample.thumbnail(1))
    #expect(second.memoryThumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    #expect(await second.storedThumbnail(for: Sample.key(2))?.thumbnail == nil)
  }

  @Test func theSmallestThumbnailThatIsLargeEnoughIsShrunk() async throws {
    let cache = try tiers(memoryLimit: 0)
    cache.store([100, 400, 800].map { Sample.entry($0, side: $0) }, of: Sample.record(1))
    await cache.flush()
    #expect(await cache.shrinkable(for: Sample.key(1, side: 200)) == Sample.thumbnail(400, side: 400))
    #expect(await cache.shrinkable(for: Sample.key(1, side: 150)) == Sample.thumbnail(400, side: 400))
    #expect(await cache.shrinkable(for: Sample.key(1, side: 401)) == nil)
    let contained = CacheKey(source: Sample.source(1).key, variant: Variant(size: PixelSize(200, 200), fit: .contain))
    #expect(await cache.shrinkable(for: contained) == nil)
  }

  @Test func shrinkingWorksFromMemoryAlone() async {
    let cache = ThumbnailCache(memory: MemoryCache(byteLimit: 1 << 20), disk: nil)
    cache.store([Sample.entry(8, side: 800)], of: Sample.record(1))
    #expect(await cache.shrinkable(for: Sample.key(1)) == Sample.thumbnail(8, side: 800))
  }

  @Test func withoutADiskTheMemoryServes() async {
    let cache = ThumbnailCache(memory: MemoryCache(byteLimit: 1 << 20), disk: nil)
    cache.store([Sample.entry(1)], of: Sample.record(1))
    #expect(cache.memoryThumbnail(for: Sample.key(1)) != nil)
    #expect(await cache.storedThumbnail(for: Sample.key(1))?.thumbnail == Sample.thumbnail(1))
    #expect(await cache.storedThumbnail(for: Sample.key(2))?.thumbnail == nil)
    #expect(await cache.flush())
    cache.forgetAll()
    await cache.flush()
    #expect(cache.memoryThumbnail(for: Sample.key(1)) == nil)
  }

  @Test func whatWasWrongWhenTheDiskCacheWasOpenedIsHeard() throws {
    try String(repeating: "garbage", count: 1000).write(toFile: directory.database, atomically: false, encoding: .utf8)
    let cache = try tiers()
    #expect(cache.diskReplacement?.isDamage == true)
    #expect(cache.diskProblem == nil)
  }

  @Test func removingForgetsBothTiers() async throws {
    let cache = try tiers()
    for number in 0..<3 { cache.store([Sample.entry(number)], of: Sample.record(number)) }
    cache.forget(Sample.source(0).key)
    await cache.flush()
    #expect(cache.memoryThumbnail(for: Sample.key(0)) == nil)
    #expect(await cache.storedThumbnail(for: Sample.key(0))?.thumbnail == nil)
    #expect(await cache.storedThumbnail(for: Sample.key(1)) != nil)
    cache.forgetAll()
    await cache.flush()
    #expect(await cache.storedThumbnail(for: Sample.key(1))?.thumbnail == nil)
    #expect(cache.memory.totalBytes == 0)
  }

  @Test func aCancelledTaskFindsNothing() async throws {
    let cache = try tiers(memoryLimit: 0)
    cache.store([Sample.entry(1)], of: Sample.record(1))
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await cache.storedThumbnail(for: Sample.key(1))?.thumbnail
    }
    #expect(await task.value == nil)
    #expect(cache.diskProblem == nil)
  }
}

extension ThumbnailCache {
  /// What is found of one variant itself.
  fileprivate func storedThumbnail(for key: CacheKey) async -> DatedThumbnail? {
    guard case .exact(let thumbnail)? = await lookUp([key.variant], of: key.source).hits[0] else { return nil }
    return thumbnail
  }

  /// What it can be shrunk from.
  fileprivate func shrinkable(for key: CacheKey) async -> Thumbnail? {
    guard case .larger(let larger)? = await lookUp([key.variant], of: key.source).hits[0] else { return nil }
    return larger.thumbnail
  }
}
