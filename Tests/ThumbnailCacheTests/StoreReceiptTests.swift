@testable import TestSupport
@testable import ThumbnailCache
@testable import ThumbnailCore

/// What whoever stores without waiting hears of the disk afterwards.
@Suite(.timeLimit(.minutes(5))) struct StoreReceiptTests {
  private let directory: CacheDirectory

  init() throws { directory = try CacheDirectory() }

  private func store(_ cache: DiskCache, bytes: Int) throws -> StoreReceipt {
    try cache.commits.store([Sample.entry(1, bytes: bytes)], of: Sample.record(1))
  }

  @Test func itIsSettledOnceForAllWhoWait() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    let receipt = try store(cache, bytes: 1000)
    #expect(receipt.isLikely)
    let waiters = (0..<3).map { _ in Task { await receipt.isWritten() } }
    cache.commits.writeSoon()
    for waiter in waiters { #expect(await waiter.value) }
    #expect(try cache.statistics().thumbnails == 1)
  }

  @Test func closingTheCacheSettlesIt() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    let receipt = try store(cache, bytes: 1000)
    cache.close()
    #expect(await receipt.isWritten())
    #expect(try DiskCache(directory: directory.url, byteLimit: nil).statistics().thumbnails == 1)
  }

  @Test func whatIsLargerThanTheCacheIsNotWritten() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 1 << 20)
    let receipt = try store(cache, bytes: 2 << 20)
    cache.commits.writeSoon()
    #expect(await !receipt.isWritten())
  }
}
