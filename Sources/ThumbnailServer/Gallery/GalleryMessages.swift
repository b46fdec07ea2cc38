import Foundation
import PhotoSources
import ThumbnailCache
import ThumbnailCore

/// The messages to a page about galleries and their images.
extension JSONObject {
  /// The gallery. `hint` is for the empty search field, `picksRandom` is whether an empty query shows random photos,
  /// and requests with effects have to return `token`: only pages of this server can read it. `shares` is whether links
  /// can be made, and `isGuest` whether the page is that of a link.
  init(_ source: GallerySource, token: String, link: ShareLink?, shares: Bool) {
    switch source {
    case .folder where link != nil:
      // The folder's name is not for guests.
      self = [
        "hint": "", "isGuest": true, "kind": "folder", "picksRandom": false, "provider": FolderIndex.provider,
        "title": "Pictures", "token": link?.id,
      ]
    case .folder(let index):
      let title = URL(fileURLWithPath: index.path).lastPathComponent
      self = [
        "hint": "Search in \(title)", "kind": "folder", "picksRandom": false, "provider": FolderIndex.provider,
        "shares": shares, "title": title, "token": token,
      ]
    case .search(let source):
      let name = Self.services[source.name] ?? source.name
      self = [
        "hint": source.capabilities.searches ? "Search \(name)" : name, "kind": "search",
        "picksRandom": source.capabilities.picksRandom, "provider": source.name, "title": name, "token": token,
      ]
    }
  }

  /// The names of services as they write them.
  private static let services = [
    "unsplash": "Unsplash", "pexels": "Pexels", "commons": "Wikimedia Commons",
  ]

  /// An image of a list. `key` names it in the addresses of its thumbnails, `hash` is its ThumbHash in Base64, `color` its
  /// main colour, `date` the day on which it was taken, `dateSource` where that is known from, `download` where it can be
  /// downloaded as it is.
  ///
  /// - Parameters:
  ///   - stored: The cache's placeholder to show before the thumbnail.
  ///   - isGuest: Whether it is for the page of a link, which gets neither the paths of files nor the files.
  init(_ listed: ListedPhoto, key: SourceKey, stored: StoredPlaceholder?, isGuest: Bool) {
    let photo = listed.photo
    let isFile = photo.provider == FolderIndex.provider
    let size = photo.size ?? stored?.size
    self = [
      "author": photo.author, "authorURL": photo.authorURL?.absoluteString,
      "color": stored.map { "#\($0.placeholder.colour.hex)" }, "date": listed.date?.day,
      "dateSource": listed.date.map { "\($0.source)" }, "description": isFile ? nil : photo.title,
      "download": isFile && !isGuest ? "/picture/\(key.hex)/original" : nil,
      "hash": stored?.placeholder.thumbHash.base64EncodedString(), "height": size?.height,
      "id": isGuest ? key.hex : listed.id, "key": key.hex,
      "licence": photo.licence?.name, "licenceURL": photo.licence?.url?.absoluteString,
      "name": isFile && !isGuest ? photo.id : photo.title ?? photo.id, "page": photo.pageURL?.absoluteString,
      "width": size?.width,
    ]
  }
}
