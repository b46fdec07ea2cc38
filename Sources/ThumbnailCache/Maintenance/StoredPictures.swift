package import Foundation
import GRDB
package import ThumbnailCore

/// A source image with thumbnails in a disk cache.
package struct StoredPicture: Sendable, Equatable {
  let row: Int64
  /// The key of the image.
  package let key: SourceKey
  /// Its address without user, password, query and fragment, cut off after 1024 characters.
  package let location: String
  /// Its host; empty for a local file.
  package let host: String
  /// When it was fetched.
  package let fetchedAt: Date
  /// Its size in pixels, its format, and the length of its file.
  package let description: SourceDescription
  /// Its thumbnails, largest boxes first. Never empty.
  package internal(set) var thumbnails: [StoredThumbnail] = []

  /// The total length of its thumbnails in bytes.
  package var bytes: Int { thumbnails.reduce(0) { $0 + $1.bytes } }
}

/// A thumbnail in a disk cache, without its bytes.
package struct StoredThumbnail: Sendable, Equatable {
  /// The requested variant. Nil for a thumbnail of another version of the library, which this version makes again.
  package let variant: Variant?
  /// Its size in pixels.
  package let size: PixelSize
  /// The format.
  package let format: ImageFormat
  /// Its length in bytes.
  package let bytes: Int
  /// Its row id. Another thumbnail may get the same id once it is gone.
  let row: Int64
}

/// Selects images of a disk cache.
package enum CacheSelection: Sendable {
  /// All images.
  case all
  /// All images of one address: a URL without query, user and password, or a file's path. If the URL has a query and
  /// exactly this URL is stored, only this image.
  case picture(ImageSource)
  /// Images whose address contains all words of a text, in any order, ignoring case and accents.
  case words(String)
  /// Images of a host, by its whole name without a port.
  case host(String)
  /// Images whose address begins with a text: a URL without user, password and query, or the absolute path of files.
  case prefix(String)
}

/// Iterates over the source images of a disk cache, ordered by host and fetch time.
///
///     var pictures = try cache.pictures(.words("lake"))
///     while let picture = try pictures.next() { print(picture.location) }
///
/// Pending writes are not listed. A few hundred images are held at a time, and no transaction stays open between them.
package struct StoredPictures {
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
  package mutating func next() throws(DiskCacheError) -> StoredPicture? {
    while page.isEmpty, !pages.isAtEnd {
      let next = try cache.read { db in
        try pages.next(Self.pageLength, in: db).compactMap { try Self.whole($0, in: db) }
      }
      guard let next else { return nil }
      page = next.reversed()
    }
    return page.popLast()
  }

  /// The image with its thumbnails; nil if it no longer has any.
  private static func whole(_ picture: StoredPicture, in db: Database) throws -> StoredPicture? {
    var picture = picture
    let rows = try db.rows(
      """
      SELECT v.token, t.width, t.height, t.format, t.bytes, t.id
      FROM thumbnail t LEFT JOIN variant v ON v.id = t.variant WHERE t.source = ?
      """, [picture.row])
    while let row = try rows.next() {
      if let thumbnail = try? thumbnail(row) { picture.thumbnails.append(thumbnail) }
    }
    picture.thumbnails.sort { one, other in
      (one.variant?.size.pixelCount ?? 0, one.row) > (other.variant?.size.pixelCount ?? 0, other.row)
    }
    return picture.thumbnails.isEmpty ? nil : picture
  }

  private static func thumbnail(_ row: Row) throws -> StoredThumbnail {
    StoredThumbnail(
      variant: try row.decode(String?.self, atIndex: 0).flatMap { Variant(token: $0) }, size: try row.size(at: 1),
      format: try row.format(at: 3), bytes: try row.decode(atIndex: 4), row: try row.decode(atIndex: 5))
  }
}

extension DiskCache {
  /// Iterates over the images in the cache.
  package func pictures(_ selection: CacheSelection = .all) throws(DiskCacheError) -> StoredPictures {
    StoredPictures(self, try filter(selection))
  }

  /// Removes the selected images with all their thumbnails. Returns their number when the removal is written.
  @discardableResult
  package func remove(_ selection: CacheSelection) async throws(DiskCacheError) -> Int {
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
