import Foundation
import GRDB
public import ThumbnailCore

/// Iterates over the source images of a disk cache, ordered by host and fetch time.
///
///     var pictures = try cache.pictures(.words("lake"))
///     while let picture = try pictures.next() { print(picture.location) }
///
/// Pending writes are not seen. However large the cache, a few hundred images are held at a time, and no transaction is
/// kept open between them.
public struct StoredPictures {
  private static let pageLength = 256

  private let cache: DiskCache
  private var pages: PicturePages
  /// The rest of the current page, in reverse order.
  private var page: [StoredPicture] = []

  init(_ cache: DiskCache, _ filter: PictureFilter) {
    self.cache = cache
    pages = PicturePages(filter)
  }

  /// The next image; nil at the end. Blocks for milliseconds at the beginning of each page.
  public mutating func next() throws(DiskCacheError) -> StoredPicture? {
    while page.isEmpty, !pages.isAtEnd {
      guard let connections = try cache.connectionsInPlace() else { return nil }
      do {
        page = try connections.read { db in
          try pages.next(Self.pageLength, in: db).compactMap { try Self.picture($0, in: db) }.reversed()
        }
      } catch {
        throw DiskCacheError(error, path: cache.database.path)
      }
    }
    return page.popLast()
  }

  /// The image with its thumbnails; nil when it no longer has any.
  private static func picture(_ entry: PicturePages.Entry, in db: Database) throws -> StoredPicture? {
    let statement = try db.cachedStatement(
      sql: """
        SELECT v.token, t.width, t.height, t.format, t.bytes, t.id
        FROM thumbnail t LEFT JOIN variant v ON v.id = t.variant WHERE t.source = ?
        """)
    let rows = try Row.fetchAll(statement, arguments: [entry.row])
    let thumbnails = rows.compactMap { try? thumbnail($0) }.sorted { one, other in
      (one.variant?.size.pixelCount ?? 0, one.row) > (other.variant?.size.pixelCount ?? 0, other.row)
    }
    if thumbnails.isEmpty { return nil }
    return StoredPicture(
      key: entry.key, location: entry.location, host: entry.host,
      fetchedAt: Date(timeIntervalSince1970: entry.fetchedAt), description: entry.description, thumbnails: thumbnails)
  }

  private static func thumbnail(_ row: Row) throws -> StoredThumbnail? {
    guard let format = ImageFormat(rawValue: try row.decode(atIndex: 3)) else { return nil }
    return StoredThumbnail(
      variant: try row.decode(String?.self, atIndex: 0).flatMap { Variant(token: $0) },
      size: PixelSize(try row.decode(atIndex: 1), try row.decode(atIndex: 2)), format: format,
      bytes: try row.decode(atIndex: 4), row: try row.decode(atIndex: 5))
  }
}

extension DiskCache {
  /// Iterates over the images in the cache.
  public func pictures(_ selection: CacheSelection = .all) throws(DiskCacheError) -> StoredPictures {
    StoredPictures(self, try filter(selection))
  }

  /// Reads a listed thumbnail. Nil when it is gone or damaged. Counts neither as a look-up nor as a use.
  ///
  /// Blocks for tens of microseconds; can be called from any thread.
  public func contents(
    of thumbnail: StoredThumbnail, _ picture: StoredPicture
  ) throws(DiskCacheError) -> Thumbnail? {
    guard let connections = try connectionsInPlace() else { return nil }
    do {
      let outcome = try connections.reading { try $0.thumbnail(row: thumbnail.row, source: picture.key) }
      guard case .hit(let found, _) = outcome, found.size == thumbnail.size else { return nil }
      return found
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }

  private func filter(_ selection: CacheSelection) throws(DiskCacheError) -> PictureFilter {
    switch selection {
    case .all: return PictureFilter()
    case .words(let text): return PictureFilter(words: SearchText.words(of: text))
    case .picture(let source):
      let address = SourceRecord(
        source, description: SourceDescription(size: PixelSize(1, 1), format: .jpeg, byteCount: 0))
      let byKey = PictureFilter(key: source.key)
      if source.url.query != nil {
        var exact = StoredPictures(self, byKey)
        if try exact.next() != nil { return byKey }
      }
      return PictureFilter(host: address.host, location: address.location)
    }
  }
}
