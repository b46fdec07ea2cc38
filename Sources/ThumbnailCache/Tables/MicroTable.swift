import Foundation
import GRDB
package import ThumbnailCore

/// The table `micro`: the micro thumbnails of rows of `thumbnail`, by the same ids.
///
/// They are separate, so that a look-up of one kind does not read the other. A trigger removes them with their
/// thumbnails, even in programs that do not know the table. Such programs check the total bytes of thumbnails, so micro
/// thumbnails do not count there. The limit on the file's pages bounds them.
enum MicroTable {
  /// The longest micro thumbnail that is stored or read, in bytes.
  static let longest = 4096

  /// Adds the table to a file that lacks it.
  static let schema = """
    CREATE TABLE IF NOT EXISTS micro (
      id INTEGER PRIMARY KEY,
      checksum INTEGER NOT NULL,
      data BLOB NOT NULL
    );
    CREATE TRIGGER IF NOT EXISTS micro_thumbnail_deleted AFTER DELETE ON thumbnail BEGIN
      DELETE FROM micro WHERE id = old.id;
    END;
    """

  /// Inserts the micro thumbnail of a new row of `thumbnail`.
  static func insert(_ data: Data, row: Int64, of source: SourceKey, in db: Database) throws {
    guard data.count <= longest else { return }
    try db.run(
      "INSERT INTO micro (id, checksum, data) VALUES (?, ?, ?)", [row, checksum(of: data, source: source), data])
  }

  /// The micro thumbnail of an image, from its thumbnail with the largest box that has one. Nil if there is none or it
  /// is damaged.
  static func data(of source: SourceKey, in db: Database) throws -> Data? {
    let row = try db.row(
      """
      SELECT m.data, m.checksum FROM source s JOIN thumbnail t ON t.source = s.id JOIN micro m ON m.id = t.id
      WHERE s.key = ? ORDER BY t.width * t.height DESC LIMIT 1
      """, [source.bytes])
    return row.flatMap { decode($0, of: source) }
  }

  /// Whether the micro thumbnail of a row is damaged.
  static func isDamaged(row: Int64, in db: Database) throws -> Bool {
    let row = try db.row(
      """
      SELECT m.data, m.checksum, s.key FROM micro m JOIN thumbnail t ON t.id = m.id JOIN source s ON s.id = t.source
      WHERE m.id = ?
      """, [row])
    guard let row else { return false }
    return (try? row.key(at: 2)).flatMap { decode(row, of: $0) } == nil
  }

  /// The data if they match their checksum. `decode` throws if a column has another type.
  private static func decode(_ row: Row, of source: SourceKey) -> Data? {
    guard let data = try? row.decode(Data.self, atIndex: 0), let expected = try? row.decode(Int64.self, atIndex: 1),
      data.count <= longest, checksum(of: data, source: source) == expected
    else { return nil }
    return data
  }

  /// The checksum of the bytes and the source. It detects flipped bits, and an index that leads to the wrong row.
  private static func checksum(of data: Data, source: SourceKey) -> Int64 {
    Int64(bitPattern: data.withUnsafeBytes { Checksum.xxh64($0, seed: source.low) })
  }
}

/// The stored placeholder of an image, and the image's size.
package struct StoredPlaceholder: Sendable {
  /// The placeholder of one of its thumbnails.
  package let placeholder: Placeholder
  /// The size of the source image in pixels, upright.
  package let size: PixelSize
}

/// The placeholders that are stored with thumbnails.
enum PlaceholderTable {
  /// The placeholder of an image, from its thumbnail with the largest box that has one.
  static func placeholder(of source: SourceKey, in db: Database) throws -> StoredPlaceholder? {
    let row = try db.row(
      """
      SELECT t.placeholder, s.width, s.height FROM source s JOIN thumbnail t ON t.source = s.id
      WHERE s.key = ? AND t.placeholder IS NOT NULL ORDER BY t.width * t.height DESC LIMIT 1
      """, [source.bytes])
    guard let row, let placeholder = row.placeholder(at: 0), let size = try? row.size(at: 1),
      size.width > 0, size.height > 0
    else { return nil }
    return StoredPlaceholder(placeholder: placeholder, size: size)
  }
}

extension ThumbnailCache {
  /// The stored placeholders of images, in one visit of a reader thread, which takes microseconds for each.
  package func placeholders(of sources: [SourceKey]) async -> [SourceKey: StoredPlaceholder] {
    await read(sources) { source, _, db in try PlaceholderTable.placeholder(of: source, in: db) }
  }
}
