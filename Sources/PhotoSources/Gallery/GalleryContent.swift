/// Where a gallery stands.
public enum GalleryState: Hashable, Sendable {
  /// Nothing has been searched for.
  case idle
  /// The first page is on its way. Photos that are there already stay until it comes, as after `refresh()`.
  case loading
  /// There are photos, and nothing is on its way.
  case loaded
  /// There are photos, and more are on their way.
  case loadingNextPage
  /// Nothing was found.
  case empty(message: String)
  /// The source gave an error. What was there stays.
  case failed(ProviderError)
  /// The source cannot be reached. What is stored is shown.
  case offline(ProviderError)

  /// One line on what happened and what to do; nil where all is well.
  public var message: String? {
    switch self {
    case .idle, .loading, .loaded, .loadingNextPage: nil
    case .empty(let message): message
    case .failed(let error): error.message
    case .offline(let error): "offline, with the pictures that are stored: \(error.message)"
    }
  }

  /// Whether photos are on their way.
  public var isLoading: Bool { self == .loading || self == .loadingNextPage }
}

/// All that a gallery has to show, before it is laid out in sections.
public struct GalleryContent: Equatable, Sendable {
  /// The words that were searched for; nil before the first search.
  public var query: String?
  /// The name of the source.
  public var provider: String
  /// Where the gallery stands.
  public var state: GalleryState
  /// The photos, each once in a round.
  public var items: [GalleryItem]
  /// Whether what is shown may be what is stored: the source could not be reached when it was last asked, or is an
  /// `OfflineProvider`.
  public var isOffline: Bool
  /// How many photos match in all, where the source tells.
  public var total: Int?
  /// How many pages have come.
  public var pages: Int
  /// Whether there is more to come.
  public var hasMore: Bool
  /// What stood on the pages but is no photo to be had, the last hundred of them.
  public var skipped: [SkippedItem]

  /// Puts it together.
  public init(
    query: String?, provider: String, state: GalleryState, items: [GalleryItem] = [], isOffline: Bool = false,
    total: Int? = nil, pages: Int = 0, hasMore: Bool = false, skipped: [SkippedItem] = []
  ) {
    self.query = query
    self.provider = provider
    self.state = state
    self.items = items
    self.isOffline = isOffline
    self.total = total
    self.pages = pages
    self.hasMore = hasMore
    self.skipped = skipped
  }
}
