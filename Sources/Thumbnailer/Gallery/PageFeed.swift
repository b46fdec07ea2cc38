/// Feeds a prefetcher with the pages of a photo search, as it asks for items. The short way for whoever shows nothing but
/// the photos themselves; a `Gallery` does more.
public struct PageFeed: Sendable {
  private let provider: any PhotoProvider
  private let query: PhotoQuery
  private let headers: HostHeaders

  /// A feed from the first page of a search on. The pictures are asked for with the `headers` for their hosts.
  public init(provider: any PhotoProvider, query: PhotoQuery, headers: HostHeaders = HostHeaders()) {
    self.provider = provider
    self.query = query
    self.headers = headers
  }

  /// Adds page after page to the prefetcher's items while it asks for more, and returns with the last page.
  ///
  /// - Parameter onPage: Gets what is added of each page, in the order of the items.
  /// - Throws: Why the source gave no more pages.
  public func run(
    into prefetcher: Prefetcher, onPage: @Sendable ([ImageSource]) -> Void = { _ in }
  ) async throws(ProviderError) {
    let variant = prefetcher.variant
    let box =
      variant.scaling == .best ? PixelSize(2 * variant.size.width, 2 * variant.size.height) : variant.size
    var cursor: PageCursor?
    var seenCursors = RecentSet<PageCursor>()
    var seenPhotos = RecentSet<[UInt8]>()
    for await wanted in prefetcher.itemsWanted {
      while prefetcher.itemCount < wanted {
        let page = try await provider.search(query, at: cursor)
        let photos = page.photos.filter { seenPhotos.insert($0.fingerprint) }
        let sources = photos.map { $0.source(for: box, fit: variant.fit).adding(headers) }
        onPage(sources)
        prefetcher.append(contentsOf: sources)
        // A source that leads in a circle has no more to give.
        guard let next = page.next, !(page.photos.isEmpty && page.skipped.isEmpty), seenCursors.insert(next) else {
          return
        }
        cursor = next
      }
    }
  }
}
