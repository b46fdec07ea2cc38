@testable import TestSupport
@testable import ThumbnailCache
@testable import ThumbnailCore

/// Placeholders are stored with thumbnails, and found without them.
@Suite(.timeLimit(.minutes(5))) struct PlaceholderTableTests {
  private let directory: CacheDirectory
  private let placeholder = Placeholder(thumbHash: Data(1...20), colour: RGBColor(red: 7, green: 8, blue: 9))

  init() throws { directory = try CacheDirectory() }

  private func open() throws -> ThumbnailCache {
    ThumbnailCache(
      memory: MemoryCache(byteLimit: 1 << 20),
      disk: try DiskCache(directory: directory.url, byteLimit: 64 << 20))
  }

  private func entry(_ number: Int) -> CacheEntry {
    var thumbnail = Sample.thumbnail(number)
    thumbnail.placeholder = placeholder
    return CacheEntry(variant: Sample.variant(), thumbnail: thumbnail)
  }

  @Test func placeholdersOfManyImagesAreFoundAtOnce() async throws {
    let cache = try open()
    for number in 1...3 { cache.store([entry(number)], of: Sample.record(number)) }
    await cache.flush()
    let keys = (1...4).map { Sample.source($0).key }
    let found = await cache.placeholders(of: keys)
    #expect(keys.map { found[$0]?.placeholder } == [placeholder, placeholder, placeholder, nil])
    #expect(found[keys[0]]?.size == Sample.record(1).description.size)
  }

  @Test func aFileOfAnEarlierProgramGetsTheColumnAndKeepsItsThumbnails() async throws {
    let first = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    try await first.store(1)
    try await first.flush()
    first.close()
    let path = CacheDatabase.path(in: directory.url.path)
    try await DatabaseQueue(path: path).write { db in
      try db.execute(sql: "ALTER TABLE thumbnail DROP COLUMN placeholder")
    }
    let cache = try open()
    #expect(try cache.disk?.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    cache.store([entry(2)], of: Sample.record(2))
    await cache.flush()
    let found = await cache.placeholders(of: [Sample.source(1).key, Sample.source(2).key])
    #expect(found[Sample.source(1).key] == nil)
    #expect(found[Sample.source(2).key]?.placeholder == placeholder)
  }

  @Test func damagedPlaceholdersCostNothingElse() async throws {
    let cache = try open()
    cache.store([entry(1)], of: Sample.record(1))
    await cache.flush()
    let path = CacheDatabase.path(in: directory.url.path)
    var configuration = Configuration()
    // The cache may be writing its counts.
    configuration.busyMode = .timeout(240)
    for value in ["'text'", "7", "x'00'", "zeroblob(4000)"] {
      try await DatabaseQueue(path: path, configuration: configuration).write { db in
        try db.execute(sql: "UPDATE thumbnail SET placeholder = \(value)")
      }
      #expect(await cache.placeholders(of: [Sample.source(1).key]).isEmpty)
      #expect(try cache.disk?.thumbnail(for: Sample.key(1))?.data == Sample.thumbnail(1).data)
    }
  }
}
