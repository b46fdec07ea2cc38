@testable import ThumbnailCache
@testable import TestSupport

/// Whether the room on a page is what SQLite finds there.
@Suite(.timeLimit(.minutes(5))) struct PageSpaceTests {
  private let directory: CacheDirectory

  init() throws { directory = try CacheDirectory() }

  private func isNew(_ length: Int, _ row: Int64, in db: Database) throws -> Bool {
    let before = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
    try db.execute(sql: "INSERT INTO piece VALUES (?, zeroblob(?))", arguments: [row, length])
    return try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0 > before
  }

  private func withTable(_ body: (Database) throws -> Void) throws {
    let queue = try DatabaseQueue(path: directory.database)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA page_size = \(DiskCacheLimits.pageSize)")
      try db.execute(sql: "CREATE TABLE piece (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
      // So that the tree has a page above its leaves, as any but the smallest.
      for row in Int64(1)...3 { _ = try isNew(3000, row, in: db) }
      try body(db)
    }
  }

  @Test(arguments: [200, 500, 1000, 2000, 3500], [Int64(4), 100, 20_000, 3_000_000])
  func aPieceIsCutToTheByteThatFits(first: Int, row: Int64) throws {
    try withTable { db in
      // Fills a page, so that what comes next begins one.
      #expect(try isNew(3900, row, in: db))
      #expect(try isNew(first, row + 1, in: db))
      var space = PageSpace()
      space.wrote(first, row: row + 1, pages: 1)
      let cut = try #require(space.cut(4000, row: row + 2))
      #expect(try !isNew(cut, row + 2, in: db))
      space.wrote(cut, row: row + 2, pages: 0)
      // A byte more would not have fitted.
      #expect(space.bytes.map { $0 <= 1 } == true, "\(String(describing: space.bytes))")
      #expect(space.cut(4000, row: row + 3) == nil)
      #expect(try isNew(64, row + 3, in: db))
    }
  }

  @Test func whatFitsOrWouldLeaveAlmostNothingIsNotCut() {
    var space = PageSpace()
    #expect(space.cut(2000, row: 1) == nil)
    space.wrote(2000, row: 1, pages: 1)
    #expect(space.cut(1000, row: 2) == nil)
    #expect(space.cut(3000, row: 2) != nil)
    space.wrote(2010, row: 2, pages: 0)
    #expect(space.cut(3000, row: 3) == nil)
  }

  @Test func aWrongGuessEndsWhenAPageIsBegun() {
    var space = PageSpace()
    space.wrote(1000, row: 1, pages: 1)
    let known = space
    // Others have deleted rows, or written some: more has gone in than there was room for.
    space.wrote(2000, row: 2, pages: 0)
    space.wrote(2000, row: 3, pages: 0)
    #expect(space.bytes == nil)
    space.wrote(1000, row: 4, pages: 1)
    #expect(space == known)
  }

  @Test func overflowPagesAreCountedAsSQLiteTakesThem() throws {
    try withTable { db in
      for (index, length) in stride(from: 4050, through: 60_000, by: 977).enumerated() {
        let row = Int64(10 + index * 2)
        // Fills a page, so that what comes next begins one.
        _ = try isNew(4000, row, in: db)
        let before = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        _ = try isNew(length, row + 1, in: db)
        let taken = try (Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0) - before
        #expect(taken == PageSpace.cell(length, row: row + 1).pages + 1, "\(length)")
      }
    }
  }
}
