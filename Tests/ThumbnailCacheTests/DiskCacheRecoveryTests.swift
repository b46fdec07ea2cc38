@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// What survives kills, damage, other versions, vanished files and full disks: scenarios 55 to 57, 59 and 61.
@Suite(.timeLimit(.minutes(5))) struct DiskCacheRecoveryTests {
  private let directory: CacheDirectory
  private let problems = ProblemLog()

  init() throws { directory = try CacheDirectory() }

  private func open(_ limit: Int = 64 << 20) throws -> DiskCache {
    try DiskCache(directory: directory.url, byteLimit: limit, onProblem: { [problems] in problems.add($0) })
  }

  /// The files as a kill at this moment would leave them.
  private func copyOfFiles() throws -> CacheDirectory {
    let copy = try CacheDirectory()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: directory.database + suffix, toPath: copy.database + suffix)
    }
    return copy
  }

  @Test func aLogThatBreaksOffAnywhereLosesOnlyItsEnd() async throws {
    let cache = try open()
    for number in 0..<20 {
      try await cache.store(number)
      try await cache.flush()
    }
    let whole = try FileManager.default.attributesOfItem(atPath: directory.database + "-wal")[.size] as? Int ?? 0
    #expect(whole > 100_000)
    var kept: [Int] = []
    for length in [0, 31, 5_000, whole / 3, whole / 2 + 17, whole - 1, whole] {
      let copy = try copyOfFiles()
      let log = try FileHandle(forWritingTo: URL(fileURLWithPath: copy.database + "-wal"))
      try log.truncate(atOffset: UInt64(length))
      try log.close()
      let recovered = try DiskCache(directory: copy.url, byteLimit: 64 << 20)
      let present = try (0..<20).filter { try recovered.thumbnail(for: Sample.key($0)) != nil }
      // A beginning of what was stored, each thumbnail whole.
      #expect(present == Array(0..<present.count))
      #expect(try present.allSatisfy { try recovered.thumbnail(for: Sample.key($0)) == Sample.thumbnail($0) })
      kept.append(present.count)
      try await recovered.store(100)
      try await recovered.flush()
    }
    #expect(kept == kept.sorted())
    #expect(kept.last == 20)
  }

  @Test(.enabled(if: Python.isAvailable)) func aProcessKilledInTheMiddleOfAWriteLeavesTheOldOrTheNew() async throws {
    let cache = try open()
    for number in 0..<5 { try await cache.store(number) }
    try await cache.flush()
    let writer = try Python(
      """
      import sqlite3, sys, os
      db = sqlite3.connect(sys.argv[1], isolation_level=None)
      db.execute("PRAGMA cache_size = 10")
      db.execute("BEGIN IMMEDIATE")
      db.execute("UPDATE piece SET data = randomblob(12000)")
      for i in range(200):
          db.execute("INSERT INTO piece VALUES (NULL, randomblob(12000))")
      print("ready", flush=True)
      sys.stdin.readline()
      """, directory.database)
    try writer.waitUntilReady()
    writer.kill()
    for number in 0..<5 { #expect(try cache.thumbnail(for: Sample.key(number)) == Sample.thumbnail(number)) }
    try await cache.store(6)
    try await cache.flush()
    #expect(try cache.statistics().thumbnails == 6)
    #expect(problems.all.isEmpty)
  }

  @Test func whatALaterVersionHasAddedToTheTablesIsNoReasonToLoseThem() async throws {
    let first = try open()
    for number in 0..<100 { try await first.store(number) }
    try first.note(
      RememberedFailure(
        url: Sample.source(1).key, code: "not-found", reason: "gone", limits: .init(bytes: 1, pixels: 2, memory: 3),
        noted: Date(timeIntervalSince1970: 1e9), until: Date(timeIntervalSince1970: 1e11)), of: Sample.source(1).key)
    first.close()
    let tables = [
      "source", "thumbnail", "piece", "variant", "failure", "freshness", "listing_page", "listing_photo",
    ]
    try directory.execute(
      tables.map { "ALTER TABLE \($0) ADD COLUMN later TEXT;" }.joined() + "PRAGMA user_version = 99")
    let cache = try open()
    // So few are left that they move into a new file.
    try await cache.setByteLimit(120_000)
    #expect(try cache.thumbnail(for: Sample.key(99)) == Sample.thumbnail(99))
    #expect(try cache.statistics().thumbnails == 10 && cache.statistics().sources == 10)
    #expect(try cache.history(of: Sample.source(1).key).failures.count == 1)
    #expect(try cache.faults() == [])
    #expect(problems.all.isEmpty)
  }

  @Test(arguments: ["", String(repeating: "garbage ", count: 5000)])
  func garbageIsSetAsideAndReported(text: String) async throws {
    try text.write(toFile: directory.database, atomically: false, encoding: .utf8)
    let cache = try open()
    try await cache.store(1)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(1)) != nil)
    if text.isEmpty {
      #expect(problems.all.isEmpty)
    } else {
      #expect(problems.all.count == 1 && problems.all.allSatisfy(\.isDamage))
      #expect(try String(contentsOfFile: directory.database + ".damaged", encoding: .utf8) == text)
    }
  }

  @Test func aFileWhoseCreationWasInterruptedIsBegunAnewInSilence() async throws {
    let other = try DatabaseQueue(path: directory.database)
    try await other.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
    try other.close()
    #expect(CacheExamination(directory: directory.url).problem == nil)
    let cache = try open()
    #expect(try cache.faults() == [])
    try await cache.store(1)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    #expect(problems.all.isEmpty)
  }

  @Test func anotherProgramsDatabaseIsSetAside() async throws {
    try "of before".write(toFile: directory.database + ".damaged", atomically: false, encoding: .utf8)
    let other = try DatabaseQueue(path: directory.database)
    try await other.write { try $0.execute(sql: "CREATE TABLE letters (id); INSERT INTO letters VALUES (1)") }
    try other.close()
    let cache = try open()
    try await cache.store(1)
    try await cache.flush()
    #expect(problems.all.count == 1)
    #expect(try String(contentsOfFile: directory.database + ".damaged", encoding: .utf8) == "of before")
    let kept = try DatabaseQueue(path: directory.database + ".damaged-1")
    #expect(try await kept.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM letters") } == 1)
  }

  @Test func aCutOrIncompleteFileOfOursIsReplaced() async throws {
    let first = try open()
    for number in 0..<50 { try await first.store(number) }
    first.close()
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.database))
    try file.truncate(atOffset: 100_000)
    try file.close()
    let second = try open()
    #expect(try second.thumbnail(for: Sample.key(1)) == nil)
    try await second.store(1)
    second.close()
    try directory.execute("DROP TABLE total")
    let third = try open()
    try await third.store(2)
    try await third.flush()
    #expect(try third.thumbnail(for: Sample.key(2)) != nil)
    #expect(problems.all.count == 2 && problems.all.allSatisfy(\.isDamage))
  }

  @Test func damageThatShowsWhileWritingBeginsTheFileAnew() async throws {
    let cache = try open()
    for number in 0..<200 { try await cache.store(number) }
    try await cache.flush()
    // Everything but the first page, log included.
    try directory.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.database))
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0xA5, count: 2 << 20))
    try file.close()
    for number in 0..<200 {
      let found = try? cache.thumbnail(for: Sample.key(number))
      #expect(found == nil || found == Sample.thumbnail(number))
    }
    try await cache.store(1000)
    try? await cache.flush()
    try await cache.store(1001)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(1001)) == Sample.thumbnail(1001))
    #expect(problems.all.contains { $0.isDamage })
  }

  @Test func whatAKillWhileShrinkingLeavesIsRemoved() async throws {
    let cache = try open()
    for number in 0..<100 { try await cache.store(number) }
    try await cache.flush()
    try "half a copy".write(toFile: directory.database + ".new", atomically: false, encoding: .utf8)
    try await cache.setByteLimit(120_000)
    #expect(try cache.thumbnail(for: Sample.key(99)) == Sample.thumbnail(99))
    #expect(!FileManager.default.fileExists(atPath: directory.database + ".new"))
    #expect(problems.all.isEmpty)
  }

  @Test func aDamagedCopyIsReplacedByAnEmptyFileAndReported() async throws {
    try await open().store(1)
    let database = CacheDatabase(
      directory: directory.url.path, lockTimeout: .seconds(120))
    #expect(try database.open() == nil)
    try "no database".write(toFile: directory.database + ".new", atomically: false, encoding: .utf8)
    #expect(try database.moveCopyIntoPlace()?.isDamage == true)
    let connections = try #require(try database.connections())
    #expect(try connections.read { try $0.integer("SELECT count(*) FROM thumbnail") } == 0)
  }

  @Test func aDirectoryDeletedWhileRunningIsMadeAgain() async throws {
    let cache = try open()
    try await cache.store(1)
    try await cache.flush()
    try FileManager.default.removeItem(at: directory.url)
    #expect(try cache.thumbnail(for: Sample.key(1)) == nil)
    try await cache.store(2)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(2)) == Sample.thumbnail(2))
    #expect(FileManager.default.fileExists(atPath: directory.database))
    #expect(try cache.statistics().thumbnails == 1)
  }

  @Test func aDirectoryDeletedAfterTheLastWriteStaysDeleted() async throws {
    let cache = try open()
    try await cache.store(1)
    try await cache.flush()
    _ = try cache.thumbnail(for: Sample.key(1))
    try FileManager.default.removeItem(at: directory.url)
    cache.close()
    #expect(!FileManager.default.fileExists(atPath: directory.url.path))
  }

  @Test func aFileDeletedWhileRunningIsMadeAgainWithoutAWrite() async throws {
    let cache = try open()
    try await cache.store(1)
    try await cache.flush()
    for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: directory.database + suffix) }
    #expect(try cache.thumbnail(for: Sample.key(1)) == nil)
    #expect(await eventually { FileManager.default.fileExists(atPath: directory.database) })
    #expect(problems.all.isEmpty)
  }

  @Test func aFullDiskIsReportedAndKeepsWhatIsStored() async throws {
    let cache = try open()
    try await cache.store(1)
    try await cache.flush()
    try cache.onWriter { db in
      let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      try db.execute(sql: "PRAGMA max_page_count = \(pages + 2)")
    }
    try await cache.store(2)
    #expect(try cache.thumbnail(for: Sample.key(2)) != nil)
    await #expect(throws: DiskCacheError.diskFull(path: directory.database)) { try await cache.flush() }
    #expect(try cache.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
    #expect(try cache.thumbnail(for: Sample.key(2)) == nil)
    #expect(problems.all == [.diskFull(path: directory.database)])
    try cache.onWriter { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
    try await cache.store(2)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(2)) == Sample.thumbnail(2))
  }

  @Test func aFileThatMayNotBeWrittenIsReportedAndStillRead() async throws {
    let cache = try open()
    try await cache.store(1)
    try await cache.flush()
    try cache.onWriter { try $0.execute(sql: "PRAGMA query_only = 1") }
    try await cache.store(2)
    await #expect(throws: DiskCacheError.notWritable(path: directory.database)) { try await cache.flush() }
    #expect(try cache.thumbnail(for: Sample.key(1)) == Sample.thumbnail(1))
  }

  @Test func aDirectoryThatCannotBeMadeIsNamed() throws {
    let file = directory.url.appendingPathComponent("file")
    try Data().write(to: file)
    let error = #expect(throws: DiskCacheError.self) {
      try DiskCache(directory: file.appendingPathComponent("cache"), byteLimit: 1 << 20)
    }
    #expect("\(error ?? .cancelled)".contains(file.path))
  }
}
