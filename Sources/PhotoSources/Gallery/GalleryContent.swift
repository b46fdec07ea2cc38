/// The state of a gallery.
public enum GalleryState: Hashable, Sendable {
  /// There was no search yet.
  case idle
  /// The first page is being loaded. After `refresh()` the former photos stay until it arrives.
  case loading
  /// There are photos, and nothing is being loaded.
  case loaded
  /// There are photos, and more are being loaded.
  case loadingNextPage
  /// The search has no results.
  case empty(message: String)
  /// The source returned an error. The photos that were there stay.
  case failed(ProviderError)
  /// The source cannot be reached. Stored photos are shown.
  case offline(ProviderError)

  /// One line about the problem and what to do; nil if there is none.
  public var message: String? {
    switch self {
    case .idle, .loading, .loaded, .loadingNextPage: nil
    case .empty(let message): message
    case .failed(let error): error.message
    case .offline(let error): "offline, with the pictures that are stored: \(error.message)"
    }
  }

  /// Whether photos are being loaded.
  package var isLoading: Bool { self == .loading || self == .loadingNextPage }
}

/// The content of a gallery, before it is laid out in sections.
public struct GalleryContent: Equatable, Sendable {
  /// The query; nil before the first search.
  public var query: String?
  /// The name of the source.
  public var provider: String
  /// The state.
  public var state: GalleryState
  /// The photos. None occurs twice within a round.
  public var items: [GalleryItem] = []
  /// Whether the photos may come from the store: the source could not be reached at the last request, or is an
  /// `OfflineProvider`.
  public var isOffline = false
  /// The total number of results, if the source reports it.
  package var total: Int?
  /// The number of pages loaded.
  package var pages = 0
  /// Whether there are more photos to load.
  public var hasMore = false
  /// The items of the pages that are no usable photos, the last hundred of them.
  package var skipped: [SkippedItem] = []
}

/// An immutable snapshot of a gallery for display.
public struct GallerySnapshot: Equatable, Sendable {
  /// The content.
  public let content: GalleryContent
  /// The content in sections of cells, as laid out by the view model.
  public let sections: [GallerySection]

  /// Makes a snapshot.
  public init(content: GalleryContent, sections: [GallerySection]) {
    self.content = content
    self.sections = sections
  }
}
