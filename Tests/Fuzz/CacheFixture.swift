import Foundation
import GRDB

@testable import HTTPSemantics
@testable import ThumbnailCache
@testable import ThumbnailCore

/// A cache in memory with two images. Inputs change the rows of the first, the victim; the changes are undone after
/// each.
///
/// One for the process, used by one thread.
struct CacheFixture {
  /// All that is stored of an image.
  struct Image {
    let key: CacheKey
    let row: Int64
    let thumbnail: Thumbnail
    let page: StoredPage
  }

  let victim: Image
  let sound: Image
  /// The sound image's.
  private(set) var history = SourceHistory()
  private let queue: DatabaseQueue
  /// The columns that are changed: all but those by which rows are found.
  private let columns: [(table: String, column: String, rows: String)]

  static let shared: CacheFixture = {
    do { return try CacheFixture() } catch { failFuzzing("no cache: \(error)") }
  }()

  /// The time of all rows, in seconds since 1970: 1 January 2026.
  static let now = 1_767_225_600.0

  private init() throws {
    (victim, sound) = (Self.image(1), Self.image(2))
    queue = try DatabaseQueue()
    columns = try queue.writeWithoutTransaction { [victim, sound] db in
      try DiskCacheSchema.create(in: db)
      for image in [victim, sound] { try Self.insert(image, in: db) }
      // Damage knows no constraints.
      try db.execute(sql: "PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON")
      try db.execute(sql: "UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table'")
      let version = try Int.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
      try db.execute(sql: "PRAGMA schema_version = \(version + 1); PRAGMA writable_schema = OFF")
      return try Self.columns(of: victim, in: db)
    }
    history = try queue.read { [sound] in try HistoryTable.history(of: sound.key.source, in: $0) }
    require(history.responses.count == 1 && history.failures.count == 1, "the fixture has no history")
  }

  /// Applies an input and calls `body`, which sees the changes; then undoes all.
  func damaged(by input: [UInt8], _ body: (Database, CacheFixture) throws -> Void) throws {
    try queue.writeWithoutTransaction { db in
      try db.inTransaction {
        var rest = input[...]
        while let change = RowChange(&rest) {
          let place = columns[change.column % columns.count]
          // A value that is taken, such as another row's key, is refused.
          let value = change.isText ? "CAST(? AS TEXT)" : "?"
          try? db.execute(
            sql: "UPDATE \(place.table) SET \(place.column) = \(value) WHERE \(place.rows)",
            arguments: [change.value])
        }
        try body(db, self)
        return .rollback
      }
    }
  }

  private static func image(_ number: Int64) -> Image {
    let source = SourceKey(identity: "https://example.org/\(number).jpg", headers: [])
    let size = PixelSize(40 * Int(number), 30)
    let thumbnail = Thumbnail(
      data: Data((0..<100).map { UInt8($0) ^ UInt8(number) }), size: size, format: .jpeg,
      source: SourceDescription(size: PixelSize(4000, 3000), format: .jpeg, byteCount: 2_000_000))
    let place = PagePlace(provider: "fuzz", query: "query \(number)", pageSize: 10, cursor: nil)
    let photo = StoredPhoto(source: source, payload: Data("photo \(number)".utf8))
    return Image(
      key: CacheKey(source: source, variant: Variant(size: size)), row: number, thumbnail: thumbnail,
      page: StoredPage(
        place: place, next: "2", total: 100, fetchedAt: Date(timeIntervalSince1970: now), photos: [photo]))
  }

  private static func insert(_ image: Image, in db: Database) throws {
    let url = image.key.source
    guard let address = URL(string: "https://example.org/\(image.row).jpg") else { return }
    let record = SourceRecord(
      ImageSource(address), description: image.thumbnail.source, fetchedAt: Date(timeIntervalSince1970: now))
    require(record.key == url, "the fixture's keys differ")
    let id = try ThumbnailTable.put(record, in: db)
    require(id == image.row, "the fixture's rows differ")
    var space = PageSpace()
    try ThumbnailTable.insert(
      CacheEntry(variant: image.key.variant, thumbnail: image.thumbnail), of: url, row: id,
      &space, in: db)
    let headers = [HTTPHeader("ETag", "\"\(id)\""), HTTPHeader("Cache-Control", "max-age=60")]
    let metadata = ResponseMetadata(headers)
    let (date, limits) = (Date(timeIntervalSince1970: now), DiskCacheLimits(byteLimit: 1 << 20))
    try HistoryTable.put(
      StoredResponse(
        url: url, address: url, metadata: metadata, length: 2_000_000,
        freshness: metadata.freshness(headers, receivedAt: date, delay: 0)), of: url, in: db)
    let failure = RememberedFailure(
      url: url, code: "not-found", reason: "it is gone", limits: .init(bytes: 1, pixels: 2, memory: 3), noted: date,
      until: date.addingTimeInterval(60))
    try HistoryTable.put(failure, of: url, limits, in: db)
    try PageTable.store(image.page, limits, in: db)
  }

  /// The victim's rows by table.
  private static func columns(
    of victim: Image, in db: Database
  ) throws -> [(table: String, column: String, rows: String)] {
    let key = "x'\(victim.key.source.hex)'"
    let tables = [
      ("source", "id = 1"), ("variant", "id = 1"), ("thumbnail", "id = 1"), ("piece", "id BETWEEN 2 AND 3"),
      ("recency", "id = 1"), ("freshness", "source = 1"), ("failure", "source = \(key)"), ("total", "1"),
      ("listing_page", "id = 1"), ("listing_photo", "id = 1"),
    ]
    return try tables.flatMap { table, rows in
      try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('\(table)')")
        .filter { $0 != "id" }.map { (table, $0, rows) }
    }
  }
}

/// One change: a byte for the column, one for the type, and the value.
private struct RowChange {
  let column: Int
  let value: DatabaseValue
  /// Whether the bytes of the value are stored as text, which need not be UTF-8.
  let isText: Bool

  /// Values at which arithmetic overflows.
  private static let integers: [Int64] = [.min, .max, -1, 0, 1, 1 << 31, 1 << 62, -(1 << 62), 1 << 53, 16384]
  private static let numbers: [Double] = [
    .infinity, -.infinity, .greatestFiniteMagnitude, 9.3e18, -9.3e18, .leastNonzeroMagnitude, 0.5, 1e15,
  ]

  /// Takes a change from the beginning of the input; nil at its end.
  init?(_ rest: inout ArraySlice<UInt8>) {
    guard let column = rest.popFirst(), let type = rest.popFirst() else { return nil }
    self.column = Int(column)
    isText = type & 7 == 5
    let choice = Int(type >> 3)
    switch type & 7 {
    case 0: value = .null
    case 1: value = Self.integers[choice % Self.integers.count].databaseValue
    case 2: value = Self.numbers[choice % Self.numbers.count].databaseValue
    case 3: value = Int64(bitPattern: Self.word(&rest)).databaseValue
    case 4: value = Double(bitPattern: Self.word(&rest)).databaseValue
    default: value = Data(Self.bytes(&rest)).databaseValue
    }
  }

  private static func word(_ rest: inout ArraySlice<UInt8>) -> UInt64 {
    let word = rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    rest = rest.dropFirst(8)
    return word
  }

  private static func bytes(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let count = Int(rest.popFirst() ?? 0)
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
