import GRDB
package import ThumbnailCore

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
    let found = await read { disk in
      try disk.read { db in
        var found: [SourceKey: StoredPlaceholder] = [:]
        for source in sources { found[source] = try PlaceholderTable.placeholder(of: source, in: db) }
        return found
      }
    }
    return found ?? [:]
  }
}
