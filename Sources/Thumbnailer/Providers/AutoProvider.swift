import Foundation
import Synchronization

/// Several providers, of which the next stands in when the one before cannot be had.
///
/// That is decided at the first page of each search, before there is any photo: when a provider turns us away, takes no
/// more requests, cannot be reached or finds nothing. A query that it does not accept is no reason.
public final class AutoProvider: PhotoProvider {
  private struct State {
    /// The provider that answered last.
    var current = 0
    var reason: String?
  }

  private let candidates: [any PhotoProvider]
  private let state = Mutex(State())

  /// Providers in the order they are asked; the first stands for all before any was asked.
  init(_ first: any PhotoProvider, _ others: any PhotoProvider...) {
    candidates = [first] + others
  }

  private var current: any PhotoProvider { candidates[state.withLock { $0.current }] }

  /// The name of the provider that answered last.
  public var name: String { current.name }
  /// What the provider that answered last can do.
  public var capabilities: ProviderCapabilities { current.capabilities }
  /// Why a provider stands in for the first one, in words; nil when none does.
  public var fallbackReason: String? { state.withLock { $0.reason } }

  /// One page of what the first provider finds that can be had; later pages come from the same.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    if let cursor {
      let (index, own) = try take(cursor)
      return mark(try await candidates[index].search(query, at: own), index)
    }
    return try await firstAnswer { (index, provider) throws(ProviderError) in
      self.mark(try await provider.search(query, at: nil), index)
    } isEmpty: {
      $0.photos.isEmpty && $0.next == nil
    }
  }

  /// Photos by chance of the first provider that can be had.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    try await firstAnswer { (_, provider) throws(ProviderError) in
      try await provider.random(count: count)
    } isEmpty: {
      $0.isEmpty
    }
  }

  /// Tells the provider that the photo is of.
  public func reportUse(of photo: Photo) async throws(ProviderError) {
    try await candidates.first { $0.name == photo.provider }?.reportUse(of: photo)
  }

  private func firstAnswer<Answer: Sendable>(
    _ ask: @Sendable (Int, any PhotoProvider) async throws(ProviderError) -> Answer,
    isEmpty: @Sendable (Answer) -> Bool
  ) async throws(ProviderError) -> Answer {
    let first = try await answer(of: 0, ask)
    if case .success(let answer) = first, !isEmpty(answer) {
      settle(0, because: nil)
      return answer
    }
    var reason = "\(candidates[0].name) has no picture for it"
    if case .failure(let error) = first { reason = error.message }
    for index in candidates.indices.dropFirst() {
      guard case .success(let answer) = try await answer(of: index, ask) else { continue }
      // That there is nothing is an answer only where the first gave none.
      if isEmpty(answer), case .success = first { continue }
      settle(index, because: reason)
      return answer
    }
    settle(0, because: nil)
    return try first.get()
  }

  /// What a provider answers, or why another may stand in for it.
  private func answer<Answer: Sendable>(
    of index: Int, _ ask: @Sendable (Int, any PhotoProvider) async throws(ProviderError) -> Answer
  ) async throws(ProviderError) -> Result<Answer, ProviderError> {
    do throws(ProviderError) {
      return .success(try await ask(index, candidates[index]))
    } catch {
      guard index == 0 ? error.letsAnotherStandIn : error != .cancelled else { throw error }
      return .failure(error)
    }
  }

  private func settle(_ index: Int, because reason: String?) {
    state.withLock {
      $0.current = index
      $0.reason = reason
    }
  }

  /// A page whose cursor says whose it is.
  private func mark(_ page: PhotoPage, _ index: Int) -> PhotoPage {
    var page = page
    page.next = page.next.map { PageCursor("\(candidates[index].name):\($0.token)") }
    return page
  }

  private func take(_ cursor: PageCursor) throws(ProviderError) -> (Int, PageCursor) {
    for (index, provider) in candidates.enumerated() where cursor.token.hasPrefix("\(provider.name):") {
      return (index, PageCursor(String(cursor.token.dropFirst(provider.name.count + 1))))
    }
    throw .badRequest(provider: name, reason: "this page cursor is of another provider")
  }
}

extension ProviderError {
  /// Whether another provider may have what this one does not give.
  fileprivate var letsAnotherStandIn: Bool {
    switch self {
    case .rateLimited, .blocked, .unreachable, .unsupported: true
    default: false
    }
  }
}
