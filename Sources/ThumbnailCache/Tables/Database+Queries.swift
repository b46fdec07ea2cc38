import Foundation
import GRDB
import ThumbnailCore

/// Queries with cached compiled statements.
extension Database {
  /// Runs a statement.
  func run(_ sql: String, _ arguments: StatementArguments = []) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }

  /// The rows of a query. They stay in SQLite's memory, so that only decoded values are copied.
  func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> RowCursor {
    try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
  }

  /// The first row of a query, copied; nil if there is none.
  func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
    try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
  }

  /// The only value of a query; nil if there is none.
  func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
    _ sql: String, _ arguments: StatementArguments = []
  ) throws -> Value? {
    try Value.fetchOne(cachedStatement(sql: sql), arguments: arguments)
  }

  /// The result of a query or a pragma for one number; 0 if there is none.
  func integer(_ sql: String) throws -> Int { try value(sql) ?? 0 }

  /// The pages of the file that are not free.
  func pagesInUse() throws -> Int { try integer("PRAGMA page_count") - integer("PRAGMA freelist_count") }

  /// Makes SQLite return all free pages to the file system when the current transaction is committed. The time grows
  /// linearly with their number, while `incremental_vacuum` searches the list of free pages for each page.
  ///
  /// This is SQLite's mode FULL. Compiling the pragma changes the mode of this connection until the transaction ends.
  /// Executing it would write the mode into the file as well.
  func returnFreePagesAtCommit() throws { _ = try makeStatement(sql: "PRAGMA auto_vacuum = FULL") }
}

/// Decodes values, and throws if a column has another type. Subscripts of a row would trap.
extension Row {
  /// A key.
  func key(at index: Int) throws -> SourceKey {
    let bytes = try decode(Data.self, atIndex: index)
    guard bytes.count == 16 else { throw DatabaseError(resultCode: .SQLITE_MISMATCH) }
    return SourceKey(bytes: bytes)
  }

  /// A time. A time beyond some ten thousand years is damage, because no calendar could represent it.
  func date(at index: Int) throws -> Date {
    let seconds = try decode(Double.self, atIndex: index)
    guard abs(seconds) < 4e11 else { throw DatabaseError(resultCode: .SQLITE_MISMATCH) }
    return Date(timeIntervalSince1970: seconds)
  }

  /// A size in pixels, in two columns.
  func size(at index: Int) throws -> PixelSize {
    PixelSize(try decode(atIndex: index), try decode(atIndex: index + 1))
  }

  /// The size, the format and the length of a source image, in four columns.
  func sourceDescription(at index: Int) throws -> SourceDescription {
    SourceDescription(
      size: try size(at: index), format: try format(at: index + 2), byteCount: try decode(atIndex: index + 3))
  }

  /// An image format.
  func format(at index: Int) throws -> ImageFormat {
    guard let format = ImageFormat(rawValue: try decode(atIndex: index)) else {
      throw DatabaseError(resultCode: .SQLITE_MISMATCH)
    }
    return format
  }

  /// A placeholder; nil if there is none or it is damaged, which loses only the placeholder.
  func placeholder(at index: Int) -> Placeholder? {
    (try? decode(Data?.self, atIndex: index)).flatMap { $0 }.flatMap { Placeholder(bytes: $0) }
  }
}
