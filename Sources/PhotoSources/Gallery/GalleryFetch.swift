/// A request of a gallery, to the source or to the store.
enum GalleryFetch: Equatable, Sendable {
  /// A page of the source.
  case page(PhotoQuery, PageCursor?)
  /// Random photos of the source.
  case random(count: Int)
  /// A stored page of the search. The first page may have been stored with another page size.
  case stored(PhotoQuery, PageCursor?)
  /// Any photos with cached thumbnails.
  case cached(after: Int64?, count: Int)
}

/// The response to a `GalleryFetch`.
enum GalleryResponse: Sendable {
  /// From the source.
  case live(Result<PhotoPage, ProviderError>)
  /// From the store, with the page size that its cursors refer to; nil if the page is not stored.
  case stored(PhotoPage?, pageSize: Int)
  /// From the cache, with the cursor of the next photos.
  case cached([Photo], next: Int64?)
}

extension ProviderError {
  /// Whether the source did not respond at all, so that stored photos are shown instead.
  var isUnreachable: Bool {
    switch self {
    case .unreachable: true
    case .noneAnswers(let errors): errors.contains { $0.isUnreachable }
    default: false
    }
  }

  /// Whether the same request may succeed later without any action of the user.
  var mayPass: Bool {
    switch self {
    // Only the state machine cancels requests, and it ignores the responses of those.
    case .unreachable, .rateLimited, .malformed, .cancelled: true
    case .noneAnswers(let errors): errors.contains { $0.mayPass }
    default: false
    }
  }

  /// How long to wait before the next request; with several services, the shortest of these times.
  var wish: Duration {
    switch self {
    case .rateLimited(_, let wish?): wish
    case .noneAnswers(let errors): errors.lazy.filter(\.mayPass).map(\.wish).min() ?? .zero
    default: .zero
    }
  }
}
