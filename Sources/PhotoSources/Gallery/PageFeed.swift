public import HTTPTransport
public import ThumbnailCore
public import Thumbnailer

/// Feeds a prefetcher with the pages of a photo search, as it asks for items. For those who need only the photos
/// themselves; a `Gallery` does more.
public struct PageFeed: Sendable {
  private let provider: any PhotoProvider
  private let query: PhotoQuery
  private let headers: HostHeaders
  private let original: Bool
  private let pages: Int
  private let photos: Int

  /// A feed that starts at the first page of a search.
  ///
  /// - Parameters:
  ///   - headers: Request headers for the images, by host.
  ///   - original: Whether to fetch the photos as uploaded instead of the smallest form that is large enough.
  ///   - pages: The most pages to request; nil for no limit.
  ///   - photos: The most photos; nil for no limit.
  public init(
    provider: any PhotoProvider, query: PhotoQuery, headers: HostHeaders = HostHeaders(), original: Bool = false,
    pages: Int? = nil, photos: Int? = nil
  ) {
    self.provider = provider
    self.query = query
    self.headers = headers
    self.original = original
    self.pages = pages ?? .max
    self.photos = photos ?? .max
  }

  /// Appends pages to the prefetcher's items as it asks for more, and returns after the last page.
  ///
  /// - Parameter onPage: Called for each page with the items added, in their order, and with the page's unusable items.
  /// - Throws: The error that ended the search early.
  public func run(
    into prefetcher: Prefetcher, onPage: @Sendable ([ImageSource], [SkippedItem]) -> Void = { _, _ in }
  ) async throws(ProviderError) {
    // Detects repeated photos and sources that return the same pages over and over.
    var listing = SearchResults(next: .page(nil), pageSize: query.pageSize)
    var hasMore: Bool { listing.next != .ended && listing.pages < pages && listing.items.count < photos }
    guard hasMore else { return }
    for await wanted in prefetcher.itemsWanted {
      while prefetcher.itemCount < wanted, case .page(let cursor) = listing.next {
        let page = try await provider.search(query, at: cursor)
        let added = listing.append(page)
        let sources = listing.items.suffix(added).prefix(photos - (listing.items.count - added)).map { item in
          item.photo.source(for: [prefetcher.variant], original: original).adding(headers)
        }
        onPage(sources, page.skipped)
        prefetcher.append(contentsOf: sources)
        guard hasMore else { return }
      }
    }
  }
}
