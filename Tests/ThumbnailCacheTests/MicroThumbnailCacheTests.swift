import Foundation
import GRDB
import Testing

@testable import TestSupport
@testable import ThumbnailCache
@testable import ThumbnailCore

/// Micro thumbnails are stored with thumbnails, and found without them.
@Suite(.timeLimit(.minutes(1)))
struct MicroThumbnailCacheTests {
  private let directory: CacheDirectory

  init() throws { directory = try CacheDirectory() }

  /// A cache with nothing in memory.
  private func open() throws -> ThumbnailCache {
    ThumbnailCache(
      memory: MemoryCache(byteLimit: 1 << 20),
      disk: try DiskCache(directory: directory.url, byteLimit: 64 << 20))
  }

  private func micro(_ number: Int) -> Data { Sample.thumbnail(1000 + number, bytes: 700).data }

  private func entry(_ number: Int) -> CacheEntry {
    var entry = Sample.entry(number)
    entry.thumbnail.microThumbnail = micro(number)
    return entry
  }

  private func fill(_ numbers: ClosedRange<Int>) async throws {
    let cache = try open()
    for number in numbers { cache.store([entry(number)], of: Sample.record(number)) }
    await cache.flush()
    cache.disk?.close()
  }

  private func key(_ number: Int) -> SourceKey { Sample.source(number).key }

  @Test func thoseOfManyImagesAreReadAtOnceAndComeIntoMemory() async throws {
    try await fill(1...3)
    let cache = try open()
    #expect(cache.memoryMicroThumbnail(of: key(1)) == nil)
    let found = await cache.microThumbnails(of: (1...4).map(key))
    #expect(found == [key(1): micro(1), key(2): micro(2), key(3): micro(3)])
    #expect(cache.memoryMicroThumbnail(of: key(3)) == micro(3))
    // The thumbnail itself does not carry it about.
    #expect(try cache.disk?.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
  }

  @Test func oneIsInMemoryAsSoonAsItsThumbnailIsStored() async throws {
    let cache = try open()
    cache.store([entry(1)], of: Sample.record(1), inMemory: [])
    #expect(cache.memoryMicroThumbnail(of: key(1)) == micro(1))
  }

  @Test func theyGoWithTheirThumbnails() async throws {
    try await fill(1...2)
    let cache = try open()
    _ = await cache.microThumbnails(of: [key(1), key(2)])
    cache.forget(key(1))
    // Hidden at once, though it is not written yet.
    #expect(await cache.microThumbnails(of: [key(1), key(2)]) == [key(2): micro(2)])
    await cache.flush()
    #expect(await cache.microThumbnails(of: [key(1)]).isEmpty)
    try directory.execute("DELETE FROM thumbnail")
    let left = try await DatabaseQueue(path: directory.database).read {
      try ($0.integer("SELECT count(*) FROM micro"), $0.integer("SELECT payload FROM total"))
    }
    #expect(left == (0, 0))
  }

  @Test func anotherVersionOfTheImageReplacesIt() async throws {
    let cache = try open()
    cache.store([entry(1)], of: Sample.record(1))
    cache.store([Sample.entry(1)], of: Sample.record(1), replacing: .all)
    #expect(cache.memoryMicroThumbnail(of: key(1)) == nil)
    await cache.flush()
    #expect(await cache.microThumbnails(of: [key(1)]).isEmpty)
  }

  @Test func theTotalThatEarlierProgramsCheckDoesWithoutThem() async throws {
    try await fill(1...2)
    let disk = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    #expect(try disk.overview().totals.payloadBytes == 2 * 12_000)
    #expect(try await disk.verify().isSound)
  }

  @Test func whatWasReadBeforeARemovalOrAChangeIsNotKept() {
    let memory = MicroMemory()
    let before = memory.removals
    memory.insert(micro(2), for: key(1))
    memory.insertRead(micro(1), for: key(1), after: before)
    #expect(memory.data(of: key(1)) == micro(2))
    memory.remove(key(1))
    memory.insertRead(micro(1), for: key(1), after: before)
    #expect(memory.data(of: key(1)) == nil)
    memory.insertRead(micro(1), for: key(1), after: memory.removals)
    #expect(memory.data(of: key(1)) == micro(1))
  }

  @Test func damagedOnesCostNothingElseAndAreRemovedByACheck() async throws {
    try await fill(1...1)
    for value in ["'text'", "x'00'", "zeroblob(4000)", "CAST(substr(data, 1, 99) || x'00' AS BLOB)"] {
      try directory.execute("UPDATE micro SET data = \(value)")
      let cache = try open()
      #expect(await cache.microThumbnails(of: [key(1)]).isEmpty)
      #expect(try cache.disk?.thumbnail(for: Sample.key(1))?.data == Sample.thumbnail(1).data)
      cache.disk?.close()
    }
    let disk = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    let found = try await disk.verify()
    #expect(found.strays == 1 && found.damaged == 0)
    #expect(try await disk.verify().isSound)
  }

  @Test func aRowThatLeadsToAnotherImageIsNotShown() async throws {
    try await fill(1...2)
    try directory.execute(
      "UPDATE micro SET (data, checksum) = (SELECT data, checksum FROM micro WHERE id = 1) WHERE id = 2")
    #expect(await (try open()).microThumbnails(of: [key(1), key(2)]) == [key(1): micro(1)])
  }

  @Test func aFileOfAnEarlierProgramGetsTheTableAndKeepsItsThumbnails() async throws {
    try await fill(1...1)
    try directory.execute("DROP TRIGGER micro_thumbnail_deleted; DROP TABLE micro")
    let cache = try open()
    #expect(try cache.disk?.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    #expect(await cache.microThumbnails(of: [key(1)]).isEmpty)
    cache.store([entry(2)], of: Sample.record(2))
    await cache.flush()
    cache.disk?.close()
    #expect(await (try open()).microThumbnails(of: [key(1), key(2)]) == [key(2): micro(2)])
  }

  @Test func aLoweredLimitKeepsThoseOfTheThumbnailsThatAreLeft() async throws {
    try await fill(1...60)
    let disk = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    // Few survive, so they are copied to a new file.
    try await disk.setByteLimit(200_000)
    disk.close()
    let cache = try open()
    let found = await cache.microThumbnails(of: (1...60).map(key))
    #expect(found[key(60)] == micro(60) && found[key(1)] == nil)
    #expect(try await cache.disk?.verify().isSound == true)
  }

  @Test func memoryKeepsTheLastHalfOfItsLimitAtLeast() {
    let memory = MicroMemory(byteLimit: 40_000)
    for number in 1...100 { memory.insert(micro(number), for: key(number)) }
    // To look one up is to use it: the newest first.
    let kept = (1...100).reversed().filter { memory.data(of: key($0)) != nil }
    #expect(Set(76...100).isSubset(of: kept) && kept.count <= 52)
    #expect(memory.drops > 0)
    memory.removeAll()
    #expect((1...100).allSatisfy { memory.data(of: key($0)) == nil })
  }
}
