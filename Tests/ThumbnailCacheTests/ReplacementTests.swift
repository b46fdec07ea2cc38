@testable import HTTPSemantics
@testable import TestSupport
@testable import ThumbnailCache
@testable import ThumbnailCore

/// What happens to the stored thumbnails of an image whose server sends another version.
@Suite(.timeLimit(.minutes(5))) struct ReplacementTests {
  private let directory: CacheDirectory
  private let clock = WallClock()
  private let rule: ReuseRule
  private let source = Sample.source(1).key
  private let reports = Recorder<SourceKey>()

  init() throws {
    directory = try CacheDirectory()
    rule = ReuseRule(now: { [clock] in clock.now })
  }

  private func tiers() throws -> ThumbnailCache {
    ThumbnailCache(
      memory: MemoryCache(byteLimit: 1 << 20),
      disk: try DiskCache(directory: directory.url, byteLimit: 64 << 20), rule: rule)
  }

  /// A response of five seconds ago that is fresh for a minute; `later` moves it, in seconds.
  private func response(_ etag: String?, url: Int = 1, later: Double = 0) -> StoredResponse {
    var metadata = ResponseMetadata()
    metadata.etag = etag
    let confirmed = clock.now.addingTimeInterval(later - 5 + 0.123_456_7)
    return StoredResponse(
      url: Sample.source(url).key, address: Sample.source(url).key, metadata: metadata, length: 7,
      freshness: Freshness(confirmed: confirmed, expires: confirmed.addingTimeInterval(60)))
  }

  private func record(_ response: StoredResponse) -> SourceRecord {
    var record = Sample.record(1)
    (record.response, record.freshness) = (response, response.freshness)
    return record
  }

  /// Stores one thumbnail, whose look-up had found nothing.
  private func store(_ side: Int, _ response: StoredResponse, in cache: ThumbnailCache) {
    cache.store(
      [Sample.entry(side, side: side)], of: record(response),
      replacing: .ifOutdated(by: rule) { [reports, source] in reports.append(source) })
  }

  private func sides(in cache: ThumbnailCache) throws -> Set<Int> {
    Set(try #require(cache.disk).variants(of: source).map(\.size.width))
  }

  @Test func anEarlierVersionStoredByAnotherProcessIsReplacedWhenTheNewOneIsStored() async throws {
    let (cache, other) = (try tiers(), try tiers())
    store(100, response("\"a\""), in: other)
    await other.flush()
    // Read meanwhile, so that it is in memory as well.
    _ = await cache.lookUp([Sample.variant(100)], of: source)
    #expect(cache.memoryThumbnail(for: Sample.key(1, side: 100)) != nil)
    store(200, response("\"b\"", later: 1), in: cache)
    await cache.flush()
    #expect(try sides(in: cache) == [200] && reports.values == [source])
    #expect(cache.memoryThumbnail(for: Sample.key(1, side: 100)) == nil)
    #expect(cache.memoryThumbnail(for: Sample.key(1, side: 200)) != nil)
    #expect(try cache.disk?.history(of: source).responses.map(\.metadata.etag) == ["\"b\""])
  }

  @Test func anEarlierVersionStoredByAnotherJobIsReplacedBeforeItIsWritten() async throws {
    let cache = try tiers()
    store(100, response("\"a\""), in: cache)
    store(200, response("\"b\"", later: 1), in: cache)
    #expect(try sides(in: cache) == [200] && reports.values == [source])
    #expect(cache.memoryThumbnail(for: Sample.key(1, side: 100)) == nil)
    await cache.flush()
    #expect(try sides(in: cache) == [200] && reports.values == [source])
  }

  @Test(arguments: [true, false]) func thumbnailsOfOneVersionStayTogether(_ isSameProcess: Bool) async throws {
    for etag in ["\"a\"", nil] {
      let response = response(etag)
      // A second one from the same body counts as of this version however late it is stored.
      clock.advance(by: 3600)
      let cache = try tiers()
      store(100, response, in: cache)
      await cache.flush()
      let second = isSameProcess ? cache : try tiers()
      store(200, response, in: second)
      await second.flush()
      #expect(try sides(in: second) == [100, 200] && reports.values.isEmpty)
      try await second.disk?.removeAll()
    }
  }

  @Test func withoutAValidatorTheDatesDecide() {
    let (first, again, elsewhere) = (response(nil), response(nil, later: 1), response("\"b\"", url: 2, later: 1))
    let history = SourceHistory(responses: [first])
    #expect(!SourceHistory().isOutdated(by: again, rule: rule) && !history.isOutdated(by: nil, rule: rule))
    clock.advance(by: 1)
    for other in [again, elsewhere] { #expect(!history.isOutdated(by: other, rule: rule)) }
    #expect(history.isOutdated(by: response("\"b\""), rule: rule))
    clock.advance(by: 60)
    for other in [again, elsewhere] { #expect(history.isOutdated(by: other, rule: rule)) }
    #expect(!history.isOutdated(by: first, rule: rule))
  }
}
