import Foundation
package import HTTPTransport
package import ThumbnailCache
import ThumbnailCore

/// A provider that stores every page of another one for use without a network.
///
/// A page is stored before it is returned. Failures to store are ignored.
struct StoringProvider: PhotoProvider {
  /// The name of the underlying provider.
  var name: String { base.name }
  /// The capabilities of the underlying provider.
  var capabilities: ProviderCapabilities { base.capabilities }

  let base: any PhotoProvider
  let store: ThumbnailCache
  /// The request headers of the images: they are part of the thumbnails' keys.
  let headers: HostHeaders

  /// One page of the underlying provider.
  func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let page = try await base.search(query, at: cursor)
    await store.store(
      StoredPage(
        place: PagePlace(query, provider: base.name, cursor: cursor), next: page.next?.token, total: page.total,
        photos: page.photos.compactMap { $0.stored(headers: headers) }))
    return page
  }

  /// Random photos. They are stored as well, for offline use.
  func random(count: Int) async throws(ProviderError) -> [Photo] {
    let photos = try await base.random(count: count)
    if !photos.isEmpty {
      let place = PagePlace(
        provider: base.name, query: PagePlace.chance, pageSize: photos.count, cursor: UUID().uuidString)
      await store.store(
        StoredPage(place: place, next: nil, total: nil, photos: photos.compactMap { $0.stored(headers: headers) }))
    }
    return photos
  }

  /// Forwarded to the underlying provider.
  func reportUse(of photo: Photo) async throws(ProviderError) { try await base.reportUse(of: photo) }
}

extension PhotoProvider {
  /// Whether its pages come over a network. Those of folders, of lists and of the store do not.
  var isRemote: Bool { !(self is FolderProvider || self is URLListProvider || self is OfflineProvider) }

  /// The provider with its pages stored. Folders and lists are returned unchanged, and so is any provider if there is
  /// no store.
  package func storingPages(in store: ThumbnailCache?, headers: HostHeaders = HostHeaders()) -> any PhotoProvider {
    guard let store, isRemote else { return self }
    return StoringProvider(base: self, store: store, headers: headers)
  }
}

extension PagePlace {
  /// The query that random photos are stored under. No search can have it.
  static let chance = " "

  /// The key of a stored page. Queries that differ only in white space and case share it.
  init(_ query: PhotoQuery, provider: String, cursor: PageCursor?) {
    self.init(
      provider: provider, query: Self.folded(query.text), pageSize: query.pageSize, cursor: cursor?.token)
  }

  /// The query as it is compared.
  static func folded(_ text: String) -> String {
    text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

extension Photo {
  /// The photo as it is stored: its metadata and the key of its thumbnails. Nil if it cannot be encoded.
  func stored(headers: HostHeaders) -> StoredPhoto? {
    guard let payload = try? JSONEncoder().encode(self) else { return nil }
    // All sizes of a photo have the same key.
    return StoredPhoto(source: source(for: PixelSize(1, 1), fit: .cover).adding(headers).key, payload: payload)
  }

  /// Decodes a stored photo. Nil if a later version wrote it in another format.
  init?(_ stored: StoredPhoto) {
    guard let photo = try? JSONDecoder().decode(Photo.self, from: stored.payload) else { return nil }
    self = photo
  }
}
