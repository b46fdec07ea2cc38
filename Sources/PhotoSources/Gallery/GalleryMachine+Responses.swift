/// How responses change the state.
extension GalleryMachine {
  mutating func take(_ response: GalleryResponse, _ ticket: Int, at now: Duration) -> [Action] {
    switch response {
    case .live(let result):
      guard ticket == liveTicket else { return [] }
      liveTicket = nil
      switch result {
      case .success(let page): return take(page, at: now)
      case .failure(let error): return take(error, at: now)
      }
    case .stored, .cached:
      guard ticket == storeTicket else { return [] }
      storeTicket = nil
      if case .stored(let page, let pageSize) = response { takeStored(page, pageSize: pageSize) }
      if case .cached(let photos, let next) = response { takeCached(photos, next: next) }
      return proceed(at: now)
    }
  }

  /// A page of the source arrived: this ends the offline state.
  private mutating func take(_ page: PhotoPage, at now: Duration) -> [Action] {
    let cancelled = cancelStored()
    forgetFailure()
    previous = nil
    results.dropSubstitutes()
    noteAdded(pagesAheadOfSource > 0 ? results.renew(page, pagesAgo: pagesAheadOfSource) : results.append(page))
    return cancelled + proceed(at: now)
  }

  private mutating func take(_ error: ProviderError, at now: Duration) -> [Action] {
    failure = error
    let pause = min(.seconds(1) * (1 << min(failures, 16)), options.longestRetry)
    failures += 1
    notBefore = now + max(pause, error.retryAfter)
    if let previous { results = previous }
    previous = nil
    var cancelled: [Action] = []
    if !error.isUnreachable {
      cancelled = cancelStored()
      fallback = nil
    } else if fallback == nil, options.hasStore {
      if query?.isEmpty == true || results.isSubstitute {
        fallback = everything
      } else if case .page(let cursor) = results.next {
        fallback = .stored(cursor)
      }
    }
    return cancelled + proceed(at: now)
  }

  /// All cached photos, in the current round.
  private var everything: Fallback { .cached(after: nil, round: results.lastRound, came: 0, added: 0) }

  private mutating func takeStored(_ page: PhotoPage?, pageSize: Int) {
    guard case .stored = fallback else { return }
    fallback = .exhausted
    if let page {
      results.pageSize = pageSize
      pagesAheadOfSource += 1
      noteAdded(results.append(page))
      if case .page(let cursor) = results.next {
        fallback = .stored(cursor)
        return
      }
    }
    guard results.items.isEmpty else { return }
    // The search is not stored, or is stored without results: show any cached photos instead.
    if results.next == .ended {
      results = beginning
      pagesAheadOfSource = 0
    }
    results.isSubstitute = true
    fallback = everything
  }

  private mutating func takeCached(_ photos: [Photo], next: Int64?) {
    guard case .cached(_, let round, var came, var added) = fallback else { return }
    let new = results.appendCached(photos, round: round)
    noteAdded(new)
    came += photos.count
    added += new
    if let next {
      fallback = .cached(after: next, round: round, came: came, added: added)
    } else if came > 0, added > 0 || round <= results.lastRound {
      // At the end of all cached photos: begin the next round.
      fallback = .cached(after: nil, round: round + 1, came: 0, added: 0)
    } else {
      fallback = .exhausted
    }
  }
}

/// The content that is published.
extension GalleryMachine {
  /// The content in the current state.
  var content: GalleryContent {
    let shown = previous ?? results
    return GalleryContent(
      query: query, provider: options.provider, state: state, items: shown.items,
      isOffline: options.isOffline || failure?.isUnreachable == true, total: shown.total, pages: shown.pages,
      hasMore: hasMore, skipped: shown.skipped)
  }

  /// Whether a request is in flight.
  var isLoading: Bool { liveTicket != nil || storeTicket != nil }

  private var state: GalleryState {
    guard let query else { return .idle }
    let items = (previous ?? results).items
    if isLoading {
      return items.isEmpty || previous != nil ? .loading : .loadingNextPage
    }
    if let failure {
      return failure.isUnreachable && options.hasStore && !items.isEmpty ? .offline(failure) : .failed(failure)
    }
    if !items.isEmpty { return .loaded }
    return results.next == .ended ? .empty(message: emptyMessage(for: query)) : .loading
  }

  private var hasMore: Bool {
    guard query != nil else { return false }
    if results.next != .ended { return true }
    return fallback.map { $0 != .exhausted } ?? false
  }

  private func emptyMessage(for query: String) -> String {
    query.isEmpty
      ? "\(options.provider) has no picture" : "\(options.provider) has no picture for “\(query)”; try other words"
  }
}
