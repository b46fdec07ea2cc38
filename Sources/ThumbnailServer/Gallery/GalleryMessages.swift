import Foundation
import PhotoSources
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// What a page is told about a gallery.
struct GalleryDescription: Encodable {
  enum Kind: String, Encodable { case folder, search }

  let title: String
  let kind: Kind
  let provider: String
  /// For the empty search field.
  let hint: String
  /// Whether an empty query shows random photos.
  let picksRandom: Bool
  /// To be sent back with whatever changes anything: only pages of this server can read it.
  let token: String

  init(_ source: GallerySource, token: String) {
    self.token = token
    switch source {
    case .folder(let index):
      title = URL(fileURLWithPath: index.path).lastPathComponent
      (kind, provider, picksRandom) = (.folder, FolderIndex.provider, false)
      hint = "Search in \(title)"
    case .search(let source, _):
      let name = Self.names[source.name] ?? source.name
      (title, kind, provider, picksRandom) = (name, .search, source.name, source.capabilities.picksRandom)
      hint = source.capabilities.searches ? "Search \(name)" : name
    }
  }

  /// The names of services as they write them.
  private static let names = [
    "unsplash": "Unsplash", "pexels": "Pexels", "commons": "Wikimedia Commons", "openverse": "Openverse",
    "picsum": "Lorem Picsum", "auto": "Photos",
  ]
}

/// Where an item is in a list.
struct PositionMessage: Encodable {
  /// Nil if it is not there.
  let position: Int?
}

/// A part of a list.
struct ItemsMessage: Encodable {
  let version: Int
  let from: Int
  let items: [ItemMessage]
}

/// An image of a list.
struct ItemMessage: Encodable {
  let id: String
  /// Names the image in the addresses of its thumbnails.
  let key: String
  let name: String
  /// The source image's size in pixels, if it is known.
  let width: Int?
  let height: Int?
  /// Its ThumbHash in Base64, and its main colour, if they are known.
  let hash: String?
  let color: String?
  let description: String?
  let author: String?
  let authorURL: URL?
  let page: URL?
  let licence: String?
  let licenceURL: URL?
  /// The day on which it was taken, `2026-11-20`, and where that is known from: `camera`, `xmp`, `name` or `file`.
  let date: String?
  let dateSource: String?
  /// Where it can be downloaded as it is.
  let download: String?

  /// - Parameter stored: What the cache has to show before the thumbnail.
  init(_ listed: ListedPhoto, key: SourceKey, stored: StoredPlaceholder?) {
    let photo = listed.photo
    (id, self.key) = (listed.id, key.hex)
    let isFile = photo.provider == FolderIndex.provider
    name = isFile ? photo.id : photo.title ?? photo.id
    description = isFile ? nil : photo.title
    let size = photo.size ?? stored?.size
    (width, height) = (size?.width, size?.height)
    hash = stored?.placeholder.thumbHash.base64EncodedString()
    color = stored.map { "#\($0.placeholder.colour.hex)" }
    (author, authorURL) = (photo.author, photo.authorURL)
    page = photo.pageURL
    (licence, licenceURL) = (photo.licence?.name, photo.licence?.url)
    (date, dateSource) = (listed.date?.day, listed.date.map { "\($0.source)" })
    download = isFile ? "/picture/\(key.hex)/original" : nil
  }
}
