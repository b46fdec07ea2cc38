public import HTTPTransport
public import ThumbnailCore
public import Thumbnailer

/// Feeds a prefetcher with the pages of a photo search, as it asks for items. The short way for whoever shows nothing but
/// the photos themselves; a `Gallery` does more.
public struct PageFeed: Sendable {
  private let provider: any PhotoProvider
  private let query: PhotoQuery
  private let headers: HostHeaders
  private let original: Bool
  private let pages: Int
  private let photos: Int

  /// A feed from the first page of a search on.
  ///
  /// - Parameters:
  ///   - headers: What the pictures are asked for with, by their hosts.
  ///   - original: Whether they are fetched as they were uploaded instead of in the smallest form that is large enough.
  ///   - pages: The most pages to ask for; nil for as many as there are.
  ///   - photos: The most photos; nil for as many as there are.
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

  /// Adds page after page to the prefetcher's items while it asks for more, and returns with the last page.
  ///
  /// - Parameter onPage: Gets what is added of each page, in the order of the items, and what on it is no picture.
  /// - Throws: Why the source gave no more pages.
  public func run(
    into prefetcher: Prefetcher, onPage: @Sendable ([ImageSource], [SkippedItem]) -> Void = { _, _ in }
  ) async throws(ProviderError) {
    // Knows which photos have come before, and a source that leads in a circle.
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
