import Foundation
import GRDB
import TestOrigin
import Testing

@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// Checking a whole cache, and repairing it.
@Suite(.timeLimit(.minutes(5)))
struct DiskCacheVerificationTests {
  private let directory: CacheDirectory
  private let cache: DiskCache
  private let problems = ProblemLog()

  init() throws {
    directory = try CacheDirectory()
    cache = try DiskCache(
      directory: directory.url, byteLimit: 64 << 20, onProblem: { [problems] in problems.add($0) })
  }

  private func fill(_ count: Int, bytes: Int = 2000) async throws {
    for number in 0..<count { try await cache.store(number, bytes: bytes) }
    try await cache.flush()
  }

  /// Expects nothing to be left to repair, and the totals to be those of the rows.
  private func expectSound(thumbnails: Int) async throws {
    let result = try await cache.verify()
    #expect(result.isSound && result.thumbnails == thumbnails, "\(result)")
    #expect(try cache.sumOfLengths() == cache.statistics().payloadBytes)
    #expect(try cache.overview().totals == cache.statistics())
    #expect(try cache.onWriter { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
  }

  @Test func aWholeCacheIsSoundAndReadFromEndToEnd() async throws {
    try await fill(600)
    var expected = CacheVerification()
    (expected.thumbnails, expected.bytes) = (600, 1_200_000)
    #expect(try await cache.verify() == expected)
    #expect(problems.all.isEmpty)
  }

  @Test func anEmptyCacheAndOneThatIsGoneAreSound() async throws {
    #expect(try await cache.verify().isSound)
    try FileManager.default.removeItem(at: directory.url)
    #expect(try await cache.verify().isSound)
  }

  @Test(arguments: [
    "thumbnail SET width = 401", "thumbnail SET width = 0", "thumbnail SET width = 'wide'",
    "thumbnail SET format = 'jpog'", "thumbnail SET source_format = 'x'", "thumbnail SET source_bytes = 'many'",
    "thumbnail SET checksum = checksum + 1", "thumbnail SET checksum = 'none'", "thumbnail SET bytes = 1",
    "thumbnail SET bytes = 'x'", "thumbnail SET variant = 77", "thumbnail SET variant = 'x'",
    "source SET key = substr(key, 1, 9)", "piece SET data = zeroblob(length(data))",
    "piece SET data = substr(data, 1, 10)", "piece SET data = x''", "piece SET data = 'text'",
    "piece SET id = id + 70000",
  ])
  func damagedThumbnailsAreDroppedAndTheOthersStay(damage: String) async throws {
    try await fill(300)
    let row = damage.hasPrefix("piece") ? "id / 2" : "id"
    try directory.execute("UPDATE \(damage) WHERE \(row) IN (5, 290)")
    let result = try await cache.verify()
    #expect(
      result.damaged == 2 && !result.isSound && result.thumbnails == 300 && result.structure.isEmpty, "\(result)")
    try await expectSound(thumbnails: 298)
    #expect(try cache.statistics().thumbnails == 298 && cache.statistics().sources == 298)
    #expect(try cache.thumbnail(for: Sample.key(100)) == Sample.thumbnail(100, bytes: 2000))
    #expect(problems.all.isEmpty)
  }

  @Test func thumbnailsOfAnotherVersionAreNoDamage() async throws {
    try await fill(3)
    try directory.execute(
      "INSERT INTO variant VALUES (9, '9;some;thing'); UPDATE thumbnail SET variant = 9 WHERE id = 2")
    // The totals counted it as one of this version.
    let result = try await cache.verify()
    #expect(result.damaged == 0 && result.hadWrongTotals)
    try await expectSound(thumbnails: 3)
  }

  @Test(arguments: [
    ("INSERT INTO recency VALUES (9000, 9000, 12000)", 1), ("INSERT INTO recency VALUES (-3, 9000, 12000)", 1),
    ("DELETE FROM recency WHERE id = 2", 1), ("UPDATE recency SET bytes = 7 WHERE id IN (1, 3)", 2),
    ("INSERT INTO piece VALUES (9000, x'00'), (-3, x'00')", 2),
    (
      "INSERT INTO source SELECT 99, x'000102030405060708090a0b0c0d0e0f', location, host, fetched_at, width, height, "
        + "format, bytes FROM source LIMIT 1", 1
    ),
  ])
  func rowsThatBelongToNothingAreRemovedAndMissingOnesAdded(change: String, strays: Int) async throws {
    try await fill(4)
    try directory.execute(change)
    let result = try await cache.verify()
    #expect(result.strays == strays && result.damaged == 0, "\(result)")
    try await expectSound(thumbnails: 4)
  }

  @Test func aThumbnailOfAPictureThatNothingIsKnownOfIsDropped() async throws {
    try await fill(4)
    try directory.execute("DELETE FROM source WHERE id = (SELECT source FROM thumbnail WHERE id = 3)")
    #expect(try await cache.verify().strays == 1)
    try await expectSound(thumbnails: 3)
  }

  @Test(arguments: [
    "UPDATE total SET payload = payload + 1", "UPDATE census SET bytes = 0", "DELETE FROM census",
    "INSERT INTO census VALUES ('x', 'y', 1, 1)", "UPDATE census SET thumbnails = 'many'",
  ])
  func wrongTotalsAreCountedAnew(change: String) async throws {
    try await fill(4)
    try directory.execute(change)
    let result = try await cache.verify()
    #expect(result.hadWrongTotals && result.damaged == 0 && result.strays == 0)
    try await expectSound(thumbnails: 4)
  }

  @Test func aFileWhoseStructureIsDamagedIsBegunAnew() async throws {
    try await fill(400)
    try directory.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.database))
    let pages = try file.seekToEnd() / 4096
    // A page somewhere in the middle, and so on: the tree leads nowhere there.
    for page in [pages / 3, pages / 2] {
      try file.seek(toOffset: page * 4096)
      try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
    }
    try file.close()
    // Whoever has the page in its memory does not see it.
    let other = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
    let result = try await other.verify()
    #expect(!result.isSound && !result.structure.isEmpty)
    let again = try await other.verify()
    #expect(again.isSound && again.thumbnails == 0, "\(again)")
    try await other.store(1000)
    try await other.flush()
    #expect(try other.thumbnail(for: Sample.key(1000)) == Sample.thumbnail(1000))
    #expect(try await eventually { try cache.thumbnail(for: Sample.key(1000)) == Sample.thumbnail(1000) })
  }

  @Test func aFileThatHadToBeBegunAnewIsFoundByTheFirstCheck() async throws {
    cache.close()
    // The log beside it would still have the pages.
    for suffix in ["-wal", "-shm"] { unlink(directory.database + suffix) }
    try Data(repeating: 7, count: 9000).write(to: URL(fileURLWithPath: directory.database))
    let other = try DiskCache(directory: directory.url, byteLimit: nil)
    let first = try await other.verify()
    #expect(first.structure.count == 1, "\(first)")
    let second = try await other.verify()
    #expect(second.isSound, "\(second)")
  }

  @Test func checkingGoesOnWhileOthersWriteAndKeepsNobodyFromIt() async throws {
    try await fill(500)
    try directory.execute("UPDATE thumbnail SET checksum = 1 WHERE id = 77")
    let other = try DiskCache(directory: directory.url, byteLimit: 64 << 20, lockTimeout: .seconds(60))
    async let result = cache.verify()
    for number in 500..<1500 { try await other.store(number, bytes: 2000) }
    for number in 0..<50 { try await other.remove(Sample.source(number).key) }
    try await other.flush()
    #expect(try await result.damaged == 1)
    #expect(try await result.strays == 0)
    try await expectSound(thumbnails: 1449)
    #expect(problems.all.isEmpty)
  }

  @Test func aCheckThatFindsNothingNeverAsksToWrite() async throws {
    try await fill(300)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let holder = try DatabaseQueue(path: directory.database, configuration: configuration)
    try await holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    #expect(try await cache.verify().isSound)
    try await holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    #expect(problems.all.isEmpty)
  }

  @Test func aCancelledCheckEndsEarly() async throws {
    try await fill(10)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await cache.verify()
    }
    await #expect(throws: DiskCacheError.cancelled) { _ = try await task.value }
  }
}
