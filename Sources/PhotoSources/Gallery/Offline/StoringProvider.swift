import Foundation
public import HTTPTransport
public import ThumbnailCore

/// A provider that keeps every page another one gives, so that they are there without a network.
///
/// A page is written before it is handed on. What cannot be written is handed on all the same.
struct StoringProvider: PhotoProvider {
  /// The name of the provider that is asked.
  var name: String { base.name }
  /// What the provider that is asked can do.
  var capabilities: ProviderCapabilities { base.capabilities }

  private let base: any PhotoProvider
  private let store: any PageStore
  private let headers: HostHeaders

  /// Keeps the pages of `base` in `store`: of one provider, not of several that stand in for each other.
  ///
  /// - Parameter headers: What the pictures are asked for with: they are part of what tells a picture's thumbnails.
  init(_ base: any PhotoProvider, store: any PageStore, headers: HostHeaders = HostHeaders()) {
    self.base = base
    self.store = store
    self.headers = headers
  }

  /// One page of the provider that is asked.
  func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let page = try await base.search(query, at: cursor)
    await store.store(
      StoredPage(
        place: PagePlace(query, provider: base.name, cursor: cursor), next: page.next?.token, total: page.total,
        photos: page.photos.compactMap { $0.stored(headers: headers) }))
    return page
  }

  /// Photos by chance. They are kept as well, for whoever takes any picture.
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

  /// Tells the provider that is asked.
  func reportUse(of photo: Photo) async throws(ProviderError) { try await base.reportUse(of: photo) }
}

extension PhotoProvider {
  /// Whether its pages come over a network, other than those of folders and lists, and those that are stored already.
  var isRemote: Bool { !(self is FolderProvider || self is URLListProvider || self is OfflineProvider) }

  /// The provider with its pages kept in a store. Folders and lists stay as they are, and so does every provider where
  /// there is no store. Of several that stand in for each other, each keeps its own.
  public func storingPages(in store: (any PageStore)?, headers: HostHeaders = HostHeaders()) -> any PhotoProvider {
    guard let store, isRemote else { return self }
    if let auto = self as? AutoProvider { return auto.mapping { $0.storingPages(in: store, headers: headers) } }
    return StoringProvider(self, store: store, headers: headers)
  }
}
