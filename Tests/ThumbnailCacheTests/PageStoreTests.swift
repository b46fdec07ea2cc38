@testable import Thumbnailer

/// The pages of searches in the disk cache.
@Suite(.timeLimit(.minutes(5))) struct PageStoreTests {
  private let directory: CacheDirectory

  init() throws { directory = try CacheDirectory() }

  private func cache(byteLimit: Int? = 64 << 20) throws -> ThumbnailCache {
    ThumbnailCache(
      memory: MemoryCache(byteLimit: 1 << 20), disk: try DiskCache(directory: directory.url, byteLimit: byteLimit))
  }

  private func place(_ query: String = "lake", _ cursor: String? = nil, pageSize: Int = 30) -> PagePlace {
    PagePlace(provider: "test", query: query, pageSize: pageSize, cursor: cursor)
  }

  private func page(
    _ place: PagePlace, photos: some Sequence<Int> = 0..<3, next: String? = nil, payload: Int = 20
  ) -> StoredPage {
    StoredPage(
      place: place, next: next, total: 77, fetchedAt: Date(timeIntervalSince1970: 1_700_000_000),
      photos: photos.map { number in
        StoredPhoto(
          source: Sample.source(number).key,
          payload: Data("\(number)".utf8) + Data(repeating: 32, count: payload))
      })
  }

  private func numbers(_ photos: [StoredPhoto]) -> [Int] {
    photos.compactMap { Int(String(decoding: $0.payload, as: UTF8.self).trimmingCharacters(in: .whitespaces)) }
  }

  @Test func aPageComesBackAsItWasAlsoAfterARestart() async throws {
    let first = page(place(), next: "2")
    let second = page(place("lake", "2"), photos: [])
    do {
      let cache = try cache()
      await cache.store(first)
      await cache.store(second)
      #expect(await cache.page(at: place()) == first)
      cache.disk?.close()
    }
    let cache = try cache()
    #expect(await cache.page(at: place()) == first)
    #expect(await cache.page(at: place("lake", "2")) == second)
    #expect(await cache.page(at: place("lake", "3")) == nil)
    #expect(await cache.page(at: place("lake", "")) == nil)
    #expect(await cache.page(at: place("sea")) == nil)
    #expect(await cache.page(at: place(pageSize: 20)) == nil)
  }

  @Test func aNewerPageTakesThePlaceOfAnOlderOne() async throws {
    let cache = try cache()
    await cache.store(page(place(), photos: 0..<9))
    let newer = page(place(), photos: 4..<6, next: "2")
    await cache.store(newer)
    #expect(await cache.page(at: place()) == newer)
    for number in 0..<9 { try await cache.disk?.store(number) }
    await cache.flush()
    #expect(await numbers(cache.cachedPhotos(after: nil, count: 100).photos) == [5, 4])
  }

  @Test func theSizeUsedLastComesFirst() async throws {
    let cache = try cache()
    for size in [10, 20, 30] { await cache.store(page(place(pageSize: size))) }
    await cache.store(page(place("lake", "2", pageSize: 40)))
    #expect(await cache.pageSizes(provider: "test", query: "lake") == [30, 20, 10])
    _ = await cache.page(at: place(pageSize: 10))
    await cache.flush()
    #expect(await cache.pageSizes(provider: "test", query: "lake") == [10, 30, 20])
    #expect(await cache.pageSizes(provider: "other", query: "lake").isEmpty)
  }

  @Test func onlyPhotosWithThumbnailsAreCachedEachOnceTheNewestFirst() async throws {
    let cache = try cache()
    await cache.store(page(place(), photos: 0..<6))
    await cache.store(page(place("sea"), photos: [2, 9]))
    #expect(await cache.cachedPhotos(after: nil, count: 10).photos.isEmpty)
    for number in [1, 2, 3, 5, 9] { try await cache.disk?.store(number) }
    await cache.flush()
    #expect(await numbers(cache.cachedPhotos(after: nil, count: 10).photos) == [9, 2, 5, 3, 1])
    var portions: [[Int]] = []
    var mark: Int64?
    repeat {
      let portion = await cache.cachedPhotos(after: mark, count: 2)
      portions.append(numbers(portion.photos))
      mark = portion.next
    } while mark != nil
    #expect(portions == [[9, 2], [5, 3], [1]])
    // Who loses the thumbnail leaves the list, and stays on the page.
    try await cache.disk?.remove(Sample.source(5).key)
    #expect(await numbers(cache.cachedPhotos(after: nil, count: 10).photos) == [9, 2, 3, 1])
    #expect(await cache.page(at: place())?.photos.count == 6)
    await cache.removePhoto(Sample.source(2).key)
    #expect(await cache.page(at: place()).map { numbers($0.photos) } == [0, 1, 3, 4, 5])
    #expect(await cache.page(at: place("sea")).map { numbers($0.photos) } == [9])
  }

  @Test func theLongestUnusedPagesLeaveAtTheLimit() async throws {
    // A sixteenth of the limit is for pages: 256 KiB, a good two of these.
    let cache = try cache(byteLimit: 4 << 20)
    for number in 0..<2 { await cache.store(page(place("\(number)"), photos: 0..<1, payload: 110_000)) }
    _ = await cache.page(at: place("0"))
    await cache.flush()
    await cache.store(page(place("2"), photos: 0..<1, payload: 110_000))
    #expect(await cache.page(at: place("0")) != nil)
    #expect(await cache.page(at: place("1")) == nil)
    #expect(await cache.page(at: place("2")) != nil)
    await cache.store(page(place("huge"), photos: 0..<1, payload: 300_000))
    #expect(await cache.page(at: place("huge")) == nil)
  }

  @Test func pagesTakeNoRoomBeyondTheLimit() async throws {
    let limit = 4 << 20
    let cache = try cache(byteLimit: limit)
    var largest = 0
    for number in 0..<400 {
      try await cache.disk?.store(number)
      await cache.store(page(place("\(number)"), photos: number..<number + 30, payload: 600))
      if number.isMultiple(of: 50) { largest = max(largest, directory.fileBytes) }
    }
    #expect(largest <= limit + (1 << 20))
    #expect(try #require(cache.disk).statistics().payloadBytes > limit / 2)
  }

  @Test func aLoweredLimitTakesPagesWithIt() async throws {
    let cache = try cache()
    for number in 0..<200 { try await cache.disk?.store(number) }
    for number in 0..<40 { await cache.store(page(place("\(number)"), photos: number..<number + 30, payload: 400)) }
    // So few thumbnails are left that they are copied into a new file.
    try await cache.disk?.setByteLimit(1 << 20)
    #expect(await cache.page(at: place("0")) == nil)
    #expect(await cache.page(at: place("39"))?.photos.count == 30)
    #expect(directory.fileBytes <= (1 << 20) * 11 / 10 + (1 << 20))
  }

  @Test func clearingTheCacheClearsThePages() async throws {
    let cache = try cache()
    await cache.store(page(place()))
    try await cache.disk?.removeAll()
    #expect(await cache.page(at: place()) == nil)
    await cache.store(page(place()))
    #expect(await cache.page(at: place()) != nil)
  }

  @Test func aFileWithoutTheTablesIsAMissAndNoMore() async throws {
    let cache = try cache()
    try directory.execute("DROP TABLE listing_page")
    #expect(await cache.page(at: place()) == nil)
    #expect(await cache.pageSizes(provider: "test", query: "lake").isEmpty)
    try await cache.disk?.store(1)
    await cache.flush()
    #expect(try cache.disk?.thumbnail(for: Sample.key(1)) != nil)
  }
}
