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
  private var pages: SourcePages
  /// The rest of the current page, in reverse order.
  private var page: [StoredPicture] = []

  init(_ cache: DiskCache, _ filter: SourceFilter) {
    self.cache = cache
    pages = SourcePages(filter)
  }

  /// The next image; nil at the end. Blocks for milliseconds at the beginning of each page.
  public mutating func next() throws(DiskCacheError) -> StoredPicture? {
    while page.isEmpty, !pages.isAtEnd {
      let next = try cache.read { db in
        try pages.next(Self.pageLength, in: db).compactMap { try Self.picture($0, in: db) }
      }
      guard let next else { return nil }
      page = next.reversed()
    }
    return page.popLast()
  }

  /// The image with its thumbnails; nil when it no longer has any.
  private static func picture(_ entry: SourcePages.Entry, in db: Database) throws -> StoredPicture? {
    let rows = try Row.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT v.token, t.width, t.height, t.format, t.bytes, t.id
          FROM thumbnail t LEFT JOIN variant v ON v.id = t.variant WHERE t.source = ?
          """), arguments: [entry.row])
    let thumbnails = rows.compactMap { try? thumbnail($0) }.sorted { one, other in
      (one.variant?.size.pixelCount ?? 0, one.row) > (other.variant?.size.pixelCount ?? 0, other.row)
    }
    if thumbnails.isEmpty { return nil }
    return StoredPicture(
      key: entry.key, location: entry.location, host: entry.host,
      fetchedAt: Date(timeIntervalSince1970: entry.fetchedAt), description: entry.description, thumbnails: thumbnails)
  }

  private static func thumbnail(_ row: Row) throws -> StoredThumbnail {
    StoredThumbnail(
      variant: try row.decode(String?.self, atIndex: 0).flatMap { Variant(token: $0) }, size: try row.size(at: 1),
      format: try row.format(at: 3), bytes: try row.decode(atIndex: 4), row: try row.decode(atIndex: 5))
  }
}

extension DiskCache {
  /// Iterates over the images in the cache.
  public func pictures(_ selection: CacheSelection = .all) throws(DiskCacheError) -> StoredPictures {
    StoredPictures(self, try filter(selection))
  }

  /// Removes the selected images with all their thumbnails; returns their number when that is written.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(DiskCacheError) -> Int {
    try await flush()
    var selected = try pictures(selection)
    var count = 0
    while let picture = try selected.next() {
      try commits.stage(.remove(picture.key))
      count += 1
    }
    try await flush()
    return count
  }

  /// Reads a listed thumbnail. Nil when it is gone or damaged. Counts neither as a look-up nor as a use.
  ///
  /// Blocks for tens of microseconds; can be called from any thread.
  public func contents(
    of thumbnail: StoredThumbnail, _ picture: StoredPicture
  ) throws(DiskCacheError) -> Thumbnail? {
    let outcome = try read { try ThumbnailTable.thumbnail(row: thumbnail.row, source: picture.key, in: $0) }
    guard case .hit(let found, _) = outcome, found.size == thumbnail.size else { return nil }
    return found
  }

  private func filter(_ selection: CacheSelection) throws(DiskCacheError) -> SourceFilter {
    switch selection {
    case .all: return SourceFilter()
    case .words(let text): return SourceFilter(words: SearchText.words(of: text))
    case .host(let name): return SourceFilter(host: name.lowercased())
    case .prefix(let text):
      let isPath = text.hasPrefix("/")
      return SourceFilter(prefix: isPath ? URL(filePath: text).absoluteString : text)
    case .picture(let source):
      let address = SourceRecord(
        source, description: SourceDescription(size: PixelSize(1, 1), format: .jpeg, byteCount: 0))
      let byKey = SourceFilter(key: source.key)
      if source.url.query != nil {
        var exact = StoredPictures(self, byKey)
        if try exact.next() != nil { return byKey }
      }
      return SourceFilter(host: address.host, location: address.location)
    }
  }
}
