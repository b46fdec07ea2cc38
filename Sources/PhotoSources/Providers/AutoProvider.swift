import Foundation
import Synchronization

/// A list of providers, each the fallback of the one before.
///
/// The choice is made at the first page of each search: the next provider is used if one blocks the program, has
/// reached a rate limit, cannot be reached or finds nothing. A query that a provider rejects is an error.
public final class AutoProvider: PhotoProvider {
  /// The provider that responded last; shared by all mapped copies.
  private final class Selection: Sendable {
    let state = Mutex<(current: Int, reason: String?)>((0, nil))
  }

  private let candidates: [any PhotoProvider]
  private let selection: Selection

  /// Providers in order of preference; until one has responded, the first is the current one.
  init(_ first: any PhotoProvider, _ others: any PhotoProvider...) {
    candidates = [first] + others
    selection = Selection()
  }

  private init(_ candidates: [any PhotoProvider], _ selection: Selection) {
    self.candidates = candidates
    self.selection = selection
  }

  private var current: any PhotoProvider { candidates[selection.state.withLock { $0.current }] }

  /// The name of the provider that responded last.
  public var name: String { current.name }
  /// The capabilities of the provider that responded last.
  public var capabilities: ProviderCapabilities { current.capabilities }
  /// Why a fallback is used, for messages; nil if none is.
  public var fallbackReason: String? { selection.state.withLock { $0.reason } }
  /// The names of all providers, in order of preference.
  var names: [String] { candidates.map(\.name) }

  /// The same list with each provider transformed. Both share the current provider.
  func mapping(_ transform: (any PhotoProvider) -> any PhotoProvider) -> AutoProvider {
    AutoProvider(candidates.map(transform), selection)
  }

  /// Makes the provider of that name the current one, because its stored photos were used.
  func noteStored(from name: String) {
    if let index = names.firstIndex(of: name) { settle(index, because: nil) }
  }

  /// One page of the first provider that works and finds photos; later pages come from the same provider.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    if let cursor {
      guard let joint = JointCursor(cursor, among: names),
        let provider = candidates.first(where: { $0.name == joint.provider })
      else { throw .badRequest(provider: name, reason: "this page cursor is of another provider") }
      return mark(try await provider.search(query, at: joint.own), provider)
    }
    return try await firstResponse { (provider) throws(ProviderError) in
      self.mark(try await provider.search(query, at: nil), provider)
    } isEmpty: {
      $0.photos.isEmpty && $0.next == nil
    }
  }

  /// Random photos of the first provider that works. From one that cannot pick at random, its first photos.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    try await firstResponse { (provider) throws(ProviderError) in
      if provider.capabilities.picksRandom { return try await provider.random(count: count) }
      return Array(try await provider.search(PhotoQuery("", pageSize: count), at: nil).photos.prefix(count))
    } isEmpty: {
      $0.isEmpty
    }
  }

  /// Forwarded to the photo's provider.
  public func reportUse(of photo: Photo) async throws(ProviderError) {
    try await candidates.first { $0.name == photo.provider }?.reportUse(of: photo)
  }

  private func firstResponse<Response: Sendable>(
    _ request: @Sendable (any PhotoProvider) async throws(ProviderError) -> Response,
    isEmpty: @Sendable (Response) -> Bool
  ) async throws(ProviderError) -> Response {
    var errors: [ProviderError] = []
    var empty: Response?
    var reason: String?
    for (index, provider) in candidates.enumerated() {
      do throws(ProviderError) {
        let response = try await request(provider)
        // An empty response of a fallback counts only if the first provider failed.
        if !isEmpty(response) || index > 0 && empty == nil {
          settle(index, because: reason)
          return response
        }
        empty = empty ?? response
        reason = reason ?? "\(provider.name) has no picture for it"
      } catch {
        guard index == 0 ? error.allowsFallback : error != .cancelled else { throw error }
        errors.append(error)
        reason = reason ?? error.message
      }
    }
    settle(0, because: nil)
    if let empty { return empty }
    throw errors.count > 1 ? .allFailed(errors) : errors[0]
  }

  private func settle(_ index: Int, because reason: String?) {
    selection.state.withLock { $0 = (index, reason) }
  }

  /// The page with a cursor that names its provider.
  private func mark(_ page: PhotoPage, _ provider: any PhotoProvider) -> PhotoPage {
    var page = page
    page.next = page.next.map { JointCursor(provider: provider.name, own: $0).cursor }
    return page
  }
}

/// A cursor prefixed with the name of its provider.
struct JointCursor {
  /// The provider's name.
  var provider: String
  /// The provider's own cursor.
  var own: PageCursor

  /// The combined cursor.
  var cursor: PageCursor { PageCursor("\(provider):\(own.token)") }
}

extension JointCursor {
  /// Parses a `cursor`; nil unless it is one of the named providers'.
  init?(_ cursor: PageCursor, among names: [String]) {
    guard let name = names.first(where: { cursor.token.hasPrefix("\($0):") }) else { return nil }
    self.init(provider: name, own: PageCursor(String(cursor.token.dropFirst(name.count + 1))))
  }
}
