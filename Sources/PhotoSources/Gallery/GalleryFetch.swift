/// What a gallery asks for.
enum GalleryFetch: Equatable, Sendable {
  /// A page of the source.
  case page(PhotoQuery, PageCursor?)
  /// So many photos of the source, picked by chance.
  case random(count: Int)
  /// A page of what is stored of the search. The first page may be stored with another page size.
  case stored(PhotoQuery, PageCursor?)
  /// Any photos that have thumbnails.
  case cached(after: Int64?, count: Int)
}

/// What comes back.
enum GalleryResponse: Sendable {
  /// From the source.
  case live(Result<PhotoPage, ProviderError>)
  /// From the store, with the page size its cursors count in; nil when it is not there.
  case stored(PhotoPage?, pageSize: Int)
  /// From the cache, and where the next ones begin.
  case cached([Photo], next: Int64?)
}

extension ProviderError {
  /// Whether nobody answers, so that what is stored is better than nothing.
  var isUnreachable: Bool {
    switch self {
    case .unreachable: true
    case .noneAnswers(let errors): errors.contains { $0.isUnreachable }
    default: false
    }
  }

  /// Whether the same request may succeed later without anybody doing anything.
  var mayPass: Bool {
    switch self {
    // Nobody but the machine itself cancels for it, and then it listens no more.
    case .unreachable, .rateLimited, .malformed, .cancelled: true
    case .noneAnswers(let errors): errors.contains { $0.mayPass }
    default: false
    }
  }

  /// How long the source is to be left alone; of several, the one that may be asked first.
  var wish: Duration {
    switch self {
    case .rateLimited(_, let wish?): wish
    case .noneAnswers(let errors): errors.lazy.filter(\.mayPass).map(\.wish).min() ?? .zero
    default: .zero
    }
  }
}
