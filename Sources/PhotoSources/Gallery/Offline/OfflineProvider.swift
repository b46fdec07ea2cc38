import Synchronization
package import ThumbnailCache
import ThumbnailCore

extension PhotoProvider {
  /// The offline form of the provider: folders and lists as they are, of all others the stored pages.
  ///
  /// - Throws: `ProviderError.unreachable` without a store.
  package func offline(in store: ThumbnailCache?) throws(ProviderError) -> any PhotoProvider {
    guard isRemote else { return self }
    return OfflineProvider(of: name, store: try OfflineProvider.existing(store, for: name))
  }
}

/// Serves the stored pages of a provider without using the network.
///
/// A search whose first page is stored returns its stored pages, up to the first missing one. Any other search, and an
/// empty query, returns all photos with cached thumbnails, of all providers. Photos keep the metadata that was stored
/// with them, such as author and licence.
package final class OfflineProvider: PhotoProvider {
  /// The name of the provider whose pages are stored.
  package let name: String
  /// Searches; reports no total.
  package let capabilities = ProviderCapabilities()

  private let store: ThumbnailCache
  private let isSubstituting = Atomic(false)

  /// Whether the latest search is not stored, so that unrelated photos were returned.
  package var givesOtherPhotos: Bool { isSubstituting.load(ordering: .relaxed) }

  /// Reads the stored pages of the provider with this name.
  package init(of name: String, store: ThumbnailCache) { (self.name, self.store) = (name, store) }

  /// The store, if there is one.
  static func existing(_ store: ThumbnailCache?, for name: String) throws(ProviderError) -> ThumbnailCache {
    guard let store else {
      throw .unreachable(provider: name, reason: "without a disk cache nothing is stored for use without a network")
    }
    return store
  }

  /// One page of stored photos.
  ///
  /// - Throws: `ProviderError.unreachable` if nothing at all is stored.
  package func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    guard let cursor else { return try await firstPage(of: query) }
    // `query:PAGESIZE:CURSOR` is a page of a search, by the provider's own cursor; `cached:MARK` is a page of all
    // cached photos.
    let parts = cursor.token.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    if parts.count == 3, parts[0] == "query", let pageSize = Int(parts[1]) {
      let query = PhotoQuery(query.text, pageSize: pageSize)
      guard let page = await storedPage(of: query, at: PageCursor(String(parts[2]))) else {
        return PhotoPage(photos: [], next: nil)
      }
      return await ending(page, of: query)
    }
    guard parts.count == 2, parts[0] == "cached", let mark = Int64(parts[1]) else {
      throw .badRequest(provider: name, reason: "this page cursor is not one of the store")
    }
    return await cachedPage(after: mark, count: query.pageSize)
  }

  private func firstPage(of query: PhotoQuery) async throws(ProviderError) -> PhotoPage {
    if let (first, pageSize) = await storedFirstPage(of: query) {
      isSubstituting.store(false, ordering: .relaxed)
      return await ending(first, of: PhotoQuery(query.text, pageSize: pageSize))
    }
    let page = await cachedPage(after: nil, count: query.pageSize)
    if page.photos.isEmpty {
      throw .unreachable(provider: name, reason: "no picture of it is stored for use without a network")
    }
    isSubstituting.store(!query.text.isEmpty, ordering: .relaxed)
    return page
  }

  /// Not possible without a network.
  package func reportUse(of photo: Photo) async throws(ProviderError) {
    guard photo.downloadLocation != nil else { return }
    throw .unsupported(provider: name, reason: "the use cannot be reported without a network; export again with one")
  }

  /// The first page of a search and the page size it is stored with, which its cursors refer to: the requested size if
  /// stored, else the one used last. Nil if the search is not stored.
  func storedFirstPage(of query: PhotoQuery) async -> (page: PhotoPage, pageSize: Int)? {
    let text = PagePlace.folded(query.text)
    guard !text.isEmpty else { return nil }
    let sizes = await store.pageSizes(provider: name, query: text)
    guard let last = sizes.first else { return nil }
    let pageSize = sizes.contains(query.pageSize) ? query.pageSize : last
    return await storedPage(of: PhotoQuery(text, pageSize: pageSize), at: nil).map { ($0, pageSize) }
  }

  /// A stored page with the provider's own cursors. Pages that have lost all their photos are skipped rather than ending
  /// the search. Nil if the page is not stored.
  func storedPage(of query: PhotoQuery, at cursor: PageCursor?) async -> PhotoPage? {
    var cursor = cursor
    var seen: Set<PageCursor> = []
    while let stored = await store.page(at: PagePlace(query, provider: name, cursor: cursor)) {
      let next = stored.next.map { PageCursor($0) }
      let photos = stored.photos.compactMap { Photo($0) }
      guard photos.isEmpty, let next, seen.insert(next).inserted else {
        return PhotoPage(photos: photos, next: next, total: stored.total)
      }
      cursor = next
    }
    return nil
  }

  /// Photos with cached thumbnails, of all searches, and the cursor of the next ones.
  func cachedPhotos(after mark: Int64?, count: Int) async -> (photos: [Photo], next: Int64?) {
    let cached = await store.cachedPhotos(after: mark, count: count)
    return (cached.photos.compactMap { Photo($0) }, cached.next)
  }

  /// The page, marked as the last one if the next is not stored.
  private func ending(_ page: PhotoPage, of query: PhotoQuery) async -> PhotoPage {
    var page = page
    if let next = page.next {
      let isStored = await storedPage(of: query, at: next) != nil
      page.next = isStored ? PageCursor("query:\(query.pageSize):\(next.token)") : nil
    }
    return page
  }

  private func cachedPage(after mark: Int64?, count: Int) async -> PhotoPage {
    let (photos, next) = await cachedPhotos(after: mark, count: count)
    return PhotoPage(photos: photos, next: next.map { PageCursor("cached:\($0)") })
  }
}
