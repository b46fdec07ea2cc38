@testable import HTTPSemantics
@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// What thumbnails take on the disk, with all that is kept beside them.
@Suite(.timeLimit(.minutes(5))) struct DiskCacheSizeTests {
  private let directory: CacheDirectory

  init() throws { directory = try CacheDirectory() }

  /// As a photo service names its pictures and speaks of them.
  private func record(_ number: Int) throws -> SourceRecord {
    let path = "originals/2024/\(String(number * 7919, radix: 16))/photograph-of-the-lake-at-dawn-\(number).jpg"
    let url = try #require(URL(string: "https://images\(number % 20).example.org/\(path)?w=1080&fit=max"))
    let source = ImageSource(url)
    var record = SourceRecord(source, description: Sample.description)
    let metadata = ResponseMetadata([
      HTTPHeader("ETag", "\"\(String(number &* 0x9E37_79B9, radix: 16))-5f3a\""), HTTPHeader("Vary", "Accept"),
      HTTPHeader("Last-Modified", "Wed, 21 Oct 2020 07:28:00 GMT"),
      HTTPHeader("Cache-Control", "public, max-age=31536000"),
    ])
    record.response = StoredResponse(
      url: source.key, address: source.key, metadata: metadata, length: 4_000_000,
      freshness: metadata.freshness([], receivedAt: Date(timeIntervalSince1970: 1e9), delay: 0))
    return record
  }

  private func store(_ numbers: Range<Int>, of bytes: Int, sizes: Int = 1, in cache: DiskCache) async throws {
    for number in numbers {
      let entries = (0..<sizes).map { size in
        // From 0.7 to 1.3 times the length.
        let length = bytes * (70 + (number * 37 + size * 11) % 61) / 100
        return Sample.entry(number * 10 + size, bytes: length, side: 100 + size)
      }
      try await cache.store(entries, of: record(number))
    }
    try await cache.flush()
  }

  @Test(arguments: [(2_048, 1, 1.3), (2_048, 3, 1.2), (4_096, 1, 1.2), (12_288, 1, 1.1), (40_960, 1, 1.05)])
  func theFileIsHardlyLargerThanItsThumbnails(bytes: Int, sizes: Int, most: Double) async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    try await store(0..<min(1500, (12 << 20) / bytes), of: bytes, sizes: sizes, in: cache)
    let payload = try cache.statistics().payloadBytes
    cache.close()
    let ratio = Double(directory.fileBytes) / Double(payload)
    #expect(ratio <= most, "\(ratio)")
  }

  @Test func smallThumbnailsStayDenseWhileOthersComeAndGo() async throws {
    let limit = 4 << 20
    let cache = try DiskCache(directory: directory.url, byteLimit: limit)
    for step in 0..<12 {
      try await store(step * 500..<(step + 1) * 500, of: 2_048, in: cache)
      // Some are used again, others made anew.
      for number in stride(from: max(0, step - 2) * 500, to: step * 500, by: 7) {
        _ = try cache.thumbnail(for: CacheKey(source: record(number).key, variant: Sample.variant(100)))
      }
      try await store(step * 500..<step * 500 + 50, of: 2_048, in: cache)
      try await cache.setByteLimit(limit)
    }
    let payload = try cache.statistics().payloadBytes
    let pages = try cache.onWriter { db in
      try (Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0) - (Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0)
    }
    let ratio = Double(pages * DiskCacheLimits.pageSize) / Double(payload)
    #expect(ratio <= 1.4, "\(ratio)")
    #expect(try cache.faults() == [])
  }

  @Test func whatMovesIntoANewFileIsAsDense() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    try await store(0..<3000, of: 2_048, in: cache)
    let limit = 2 << 20
    try await cache.setByteLimit(limit)
    let payload = try cache.statistics().payloadBytes
    #expect(payload > limit * 3 / 4)
    let ratio = Double(directory.fileBytes) / Double(payload)
    #expect(ratio <= 1.3, "\(ratio)")
    let last = try record(2999)
    let length = 2_048 * (70 + 2999 * 37 % 61) / 100
    #expect(
      try cache.thumbnail(for: CacheKey(source: last.key, variant: Sample.variant(100)))
        == Sample.thumbnail(29_990, bytes: length, side: 100))
    #expect(try cache.faults() == [])
  }
}
