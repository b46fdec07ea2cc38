/// Rows with values that nobody has stored. They cost the image that they belong to, never another one.
@Suite(.timeLimit(.minutes(5))) struct DamagedRowTests {
  private let directory: CacheDirectory
  private let problems = ProblemLog()

  init() throws { directory = try CacheDirectory() }

  /// A cache with two images, after `sql` has changed what is stored of the first.
  private func cache(damagedBy sql: String) async throws -> DiskCache {
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    for number in 1...2 {
      try await cache.store(number)
      await pages(of: cache).store(page(number))
    }
    try await cache.flush()
    try directory.execute(sql)
    return cache
  }

  private func pages(of cache: DiskCache) -> ThumbnailCache {
    ThumbnailCache(memory: MemoryCache(byteLimit: 0), disk: cache) { [problems] in problems.add($0) }
  }

  private func page(_ number: Int) -> StoredPage {
    let place = PagePlace(provider: "test", query: "\(number)", pageSize: 30, cursor: nil)
    let photo = StoredPhoto(source: Sample.source(number).key, payload: Data("\(number)".utf8))
    return StoredPage(
      place: place, next: "2", total: 77, fetchedAt: Date(timeIntervalSince1970: 1_700_000_000), photos: [photo])
  }

  @Test(arguments: [
    "recency SET bytes = -9223372036854775808", "recency SET bytes = 9223372036854775807",
    "recency SET bytes = 'many'", "listing_page SET bytes = 9223372036854775807", "listing_page SET bytes = x'ff'",
    "total SET payload = -1e300",
  ])
  func noLengthThatIsStoredFailsEviction(change: String) async throws {
    let cache = try await cache(damagedBy: "UPDATE \(change)")
    _ = try? cache.statistics()
    try await cache.setByteLimit(0)
    try await cache.setByteLimit(1 << 20)
    try await cache.store(3)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(3)) == Sample.thumbnail(3))
  }

  @Test(arguments: ["9223372036854775807", "1e300", "1 << 60"])
  func aTotalThatCannotBeEvictsNothing(total: String) async throws {
    let cache = try await cache(damagedBy: "UPDATE total SET payload = \(total)")
    try await cache.store(3)
    try await cache.flush()
    for number in 1...3 { #expect(try cache.thumbnail(for: Sample.key(number)) == Sample.thumbnail(number)) }
    #expect(try cache.statistics().payloadBytes == 36_000)
  }

  @Test(arguments: ["source_width = -1", "source_height = 0", "source_bytes = 'x'", "format = 'bmpp'"])
  func aThumbnailWithAnImpossibleSourceIsAMiss(change: String) async throws {
    let cache = try await cache(damagedBy: "UPDATE thumbnail SET \(change) WHERE id = 1")
    #expect(try cache.thumbnail(for: Sample.key(1)) == nil)
    #expect(try cache.thumbnail(for: Sample.key(2)) == Sample.thumbnail(2))
  }

  @Test func aPageOfAnImpossibleTimeIsNotStored() async throws {
    let cache = pages(of: try await cache(damagedBy: "UPDATE listing_page SET fetched_at = 9e999 WHERE id = 1"))
    #expect(await cache.page(at: page(1).place) == nil)
    #expect(await cache.page(at: page(2).place) == page(2))
    #expect(problems.all.isEmpty)
  }

  @Test(arguments: ["next = x'ff'", "total = 'many'", "fetched_at = 'now'", "page_size = 'x'", "used = 1e300"])
  func aDamagedPageFailsNothing(change: String) async throws {
    let cache = pages(of: try await cache(damagedBy: "UPDATE listing_page SET \(change) WHERE id = 1"))
    _ = await cache.page(at: page(1).place)
    #expect(await cache.pageSizes(provider: "test", query: "2") == [30])
    #expect(await cache.page(at: page(2).place) == page(2))
    #expect(problems.all.isEmpty)
  }

  @Test(arguments: ["source = 'x'", "source = x'00'", "source = 5"])
  func aDamagedPhotoCostsItselfAlone(change: String) async throws {
    let cache = pages(of: try await cache(damagedBy: "UPDATE listing_photo SET \(change) WHERE id = 1"))
    #expect(await cache.page(at: page(1).place)?.photos == [])
    #expect(await cache.cachedPhotos(after: nil, count: 10).photos == page(2).photos)
    #expect(problems.all.isEmpty)
  }
}
