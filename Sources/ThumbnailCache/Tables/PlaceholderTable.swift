import Foundation
import GRDB
package import ThumbnailCore

/// What is stored to show before a thumbnail of an image, and the image's size.
package struct StoredPlaceholder: Sendable {
  /// The placeholder of one of its thumbnails.
  package let placeholder: Placeholder
  /// The size of the source image in pixels, upright.
  package let size: PixelSize
}

/// The placeholders that are stored with thumbnails.
enum PlaceholderTable {
  /// The placeholder of any thumbnail of an image; that of the largest box, if it has several.
  static func placeholder(of source: SourceKey, in db: Database) throws -> StoredPlaceholder? {
    let statement = try db.cachedStatement(
      sql: """
        SELECT t.placeholder, s.width, s.height FROM source s JOIN thumbnail t ON t.source = s.id
        WHERE s.key = ? AND t.placeholder IS NOT NULL ORDER BY t.width * t.height DESC LIMIT 1
        """)
    guard let row = try Row.fetchOne(statement, arguments: [source.bytes]),
      let placeholder = row.decodePlaceholder(atIndex: 0), let width = try? row.decode(Int.self, atIndex: 1),
      let height = try? row.decode(Int.self, atIndex: 2), width > 0, height > 0
    else { return nil }
    return StoredPlaceholder(placeholder: placeholder, size: PixelSize(width, height))
  }
}

extension Row {
  /// A placeholder; nil if there is none, or it is damaged, which costs nothing but the placeholder.
  func decodePlaceholder(atIndex index: Int) -> Placeholder? {
    (try? decode(Data?.self, atIndex: index)).flatMap { $0 }.flatMap { Placeholder(bytes: $0) }
  }
}

extension ThumbnailCache {
  /// What is stored to show of images before their thumbnails, in one visit of a reader thread: microseconds for each.
  package func placeholders(of sources: [SourceKey]) async -> [SourceKey: StoredPlaceholder] {
    let found = await read(priority: PriorityControl(.visible)) { disk throws(DiskCacheError) in
      try disk.read { db in
        var found: [SourceKey: StoredPlaceholder] = [:]
        for source in sources { found[source] = try PlaceholderTable.placeholder(of: source, in: db) }
        return found
      }
    }
    return found.flatMap { $0 } ?? [:]
  }
}
