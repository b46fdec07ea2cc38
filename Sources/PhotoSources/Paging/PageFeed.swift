public import HTTPTransport
public import ThumbnailCore
public import Thumbnailer

/// Feeds a prefetcher with the pages of a photo search when it requests items. For programs that need only the photos;
/// a `Gallery` does more.
public struct PageFeed: Sendable {
  private let provider: any PhotoProvider
  private let query: PhotoQuery
  private let headers: HostHeaders
  private let original: Bool
  private let rules: PagedSearch.Rules

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
    (self.provider, self.query, self.headers, self.original) = (provider, query, headers, original)
    rules = PagedSearch.Rules(pages: pages ?? .max, photos: photos ?? .max)
  }

  /// Appends pages to the prefetcher's items when it requests more, and returns after the last page.
  ///
  /// - Parameter onPage: Called for each page with the items added, in their order, and with the page's unusable items.
  /// - Throws: The error that ended the search early.
  public func run(
    into prefetcher: Prefetcher, onPage: @Sendable ([ImageSource], [SkippedItem]) -> Void = { _, _ in }
  ) async throws(ProviderError) {
    var search = PagedSearch(rules: rules)
    guard search.next != .ended else { return }
    for await wanted in prefetcher.itemsWanted {
      while prefetcher.itemCount < wanted, case .page(let cursor) = search.next {
        let page = try await provider.search(query, at: cursor)
        let sources = search.append(page).map { photo in
          photo.source(for: [prefetcher.variant], original: original).adding(headers)
        }
        onPage(sources, page.skipped)
        prefetcher.append(contentsOf: sources)
      }
      if search.next == .ended { return }
    }
  }
}
