import Foundation
import GRDB
import ThumbnailCore

/// Reads complete thumbnails one after the other and detects damaged ones.
struct ThumbnailReading {
  /// The state of one thumbnail.
  struct State {
    let row: Int64
    /// The number of bytes present.
    var length = 0
    var isDamaged = false
    /// Whether its `recency` row exists, with the right length.
    var isTraced = false
  }

  /// The columns to select: one row per piece, those of one thumbnail adjacent.
  static let columns = """
    t.id, s.key, v.token, t.width, t.height, t.format, t.source_width, t.source_height, t.source_format, t.source_bytes,
    t.checksum, t.bytes, r.bytes, p.data
    """
  static let tables = """
    FROM thumbnail t LEFT JOIN source s ON s.id = t.source LEFT JOIN variant v ON v.id = t.variant
    LEFT JOIN recency r ON r.id = t.id LEFT JOIN piece p ON \(CachePieces.ofThumbnail)
    """
  private static let dataColumn = 13

  private let rows: RowCursor
  /// The first row of the next thumbnail. It is in SQLite's memory until the cursor advances.
  private var current: Row?
  /// The bytes of a thumbnail in several pieces.
  private var joined: [UInt8] = []

  init(_ rows: RowCursor) throws {
    self.rows = rows
    current = try rows.next()
  }

  /// The next thumbnail; nil at the end.
  mutating func next() throws -> State? {
    guard let row = current else { return nil }
    var state = State(row: try row.decode(atIndex: 0))
    let stored = try? Stored(row)
    state.isTraced = (try? row.decode(Int.self, atIndex: 12)) == stored?.length
    // A single piece is checked in place, without a copy.
    let isSingle = try length(of: row) == stored?.length
    var isRight = false
    if isSingle {
      isRight = try withBytes(of: row) { stored?.isOf($0) } == true
      state.length += try length(of: row)
    }
    joined.removeAll(keepingCapacity: true)
    var pieces = 0
    while let piece = current, try piece.decode(Int64.self, atIndex: 0) == state.row {
      pieces += 1
      if !isSingle { try withBytes(of: piece) { joined.append(contentsOf: $0) } }
      current = try rows.next()
    }
    if !isSingle {
      isRight = joined.withUnsafeBytes { stored?.isOf($0) } == true
      state.length = joined.count
    }
    state.isDamaged = !isRight || isSingle && pieces > 1
    return state
  }

  private func length(of row: Row) throws -> Int { try withBytes(of: row) { $0.count } }

  private func withBytes<Value>(of row: Row, _ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value {
    try row.withUnsafeData(atIndex: Self.dataColumn) { data in
      try data.map { try $0.withUnsafeBytes(body) } ?? body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }

  /// The stored metadata of a thumbnail.
  private struct Stored {
    let length: Int
    private let checksum: Int64
    private let size: PixelSize
    /// Nil if the source row is missing; then the checksum cannot be verified.
    private let source: SourceKey?

    /// Throws if a value is invalid.
    init(_ row: Row) throws {
      let key = try row.decode(Data?.self, atIndex: 1)
      let token = try row.decode(String.self, atIndex: 2)
      let isOurs = token.hasPrefix("\(Variant.encoderVersion);")
      size = PixelSize(try row.decode(atIndex: 3), try row.decode(atIndex: 4))
      source = key.flatMap { $0.count == 16 ? SourceKey(bytes: $0) : nil }
      checksum = try row.decode(atIndex: 10)
      length = try row.decode(atIndex: 11)
      guard key == nil || source != nil, size.isValidThumbnailSize, !isOurs || Variant(token: token) != nil,
        ImageFormat(rawValue: try row.decode(atIndex: 5)) != nil,
        ImageFormat(rawValue: try row.decode(atIndex: 8)) != nil
      else { throw DatabaseError(resultCode: .SQLITE_MISMATCH) }
      // Text is decoded as 0.
      for index in [6, 7, 9] where try row.decode(Int.self, atIndex: index) < 1 {
        throw DatabaseError(resultCode: .SQLITE_MISMATCH)
      }
    }

    /// Whether the bytes match the stored length and checksum.
    func isOf(_ bytes: UnsafeRawBufferPointer) -> Bool {
      guard bytes.count == length else { return false }
      return source.map { CacheReader.checksum(of: bytes, size: size, source: $0) == checksum } ?? true
    }
  }
}
