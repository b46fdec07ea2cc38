import Foundation
import Synchronization

/// Several providers, of which the next stands in when the one before cannot be had.
///
/// That is decided at the first page of each search, before there is any photo: when a provider turns us away, takes no
/// more requests, cannot be reached or finds nothing. A query that it does not accept is no reason.
public final class AutoProvider: PhotoProvider {
  /// Who answered last, which several forms of one provider know together.
  private final class Selection: Sendable {
    struct State {
      var current = 0
      var reason: String?
    }

    let state = Mutex(State())
  }

  private let candidates: [any PhotoProvider]
  private let selection: Selection

  /// Providers in the order they are asked; the first stands for all before any was asked.
  init(_ first: any PhotoProvider, _ others: any PhotoProvider...) {
    candidates = [first] + others
    selection = Selection()
  }

  private init(_ candidates: [any PhotoProvider], _ selection: Selection) {
    self.candidates = candidates
    self.selection = selection
  }

  private var current: any PhotoProvider { candidates[selection.state.withLock { $0.current }] }

  /// The name of the provider that answered last.
  public var name: String { current.name }
  /// What the provider that answered last can do.
  public var capabilities: ProviderCapabilities { current.capabilities }
  /// Why a provider stands in for the first one, in words; nil when none does.
  public var fallbackReason: String? { selection.state.withLock { $0.reason } }
  /// The names of all providers, in the order they are asked.
  var names: [String] { candidates.map(\.name) }

  /// The same with another form of each provider. Both know who answered last.
  func mapping(_ transform: (any PhotoProvider) -> any PhotoProvider) -> AutoProvider {
    AutoProvider(candidates.map(transform), selection)
  }

  /// Takes note that photos came from the provider of that name, though it was not asked: they had been stored.
  func noteStored(from name: String) {
    if let index = names.firstIndex(of: name) { settle(index, because: nil) }
  }

  /// One page of what the first provider finds that can be had; later pages come from the same.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    if let cursor {
      guard let joint = JointCursor(cursor, among: names),
        let provider = candidates.first(where: { $0.name == joint.provider })
      else { throw .badRequest(provider: name, reason: "this page cursor is of another provider") }
      return mark(try await provider.search(query, at: joint.own), provider)
    }
    return try await firstAnswer { (provider) throws(ProviderError) in
      self.mark(try await provider.search(query, at: nil), provider)
    } isEmpty: {
      $0.photos.isEmpty && $0.next == nil
    }
  }

  /// Photos by chance of the first provider that can be had. One that picks none gives the first that it has instead.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    try await firstAnswer { (provider) throws(ProviderError) in
      if provider.capabilities.picksRandom { return try await provider.random(count: count) }
      return Array(try await provider.search(PhotoQuery("", pageSize: count), at: nil).photos.prefix(count))
    } isEmpty: {
      $0.isEmpty
    }
  }

  /// Tells the provider that the photo is of.
  public func reportUse(of photo: Photo) async throws(ProviderError) {
    try await candidates.first { $0.name == photo.provider }?.reportUse(of: photo)
  }

  private func firstAnswer<Answer: Sendable>(
    _ ask: @Sendable (any PhotoProvider) async throws(ProviderError) -> Answer,
    isEmpty: @Sendable (Answer) -> Bool
  ) async throws(ProviderError) -> Answer {
    let first = try await answer(of: 0, ask)
    if case .success(let answer) = first, !isEmpty(answer) {
      settle(0, because: nil)
      return answer
    }
    var errors: [ProviderError] = []
    var reason = "\(candidates[0].name) has no picture for it"
    if case .failure(let error) = first {
      errors = [error]
      reason = error.message
    }
    for index in candidates.indices.dropFirst() {
      switch try await answer(of: index, ask) {
      case .failure(let error): errors.append(error)
      case .success(let answer):
        // That there is nothing is an answer only where the first gave none.
        if isEmpty(answer), case .success = first { continue }
        settle(index, because: reason)
        return answer
      }
    }
    settle(0, because: nil)
    if case .failure = first, errors.count > 1 { throw .noneAnswers(errors) }
    return try first.get()
  }

  /// What a provider answers, or why another may stand in for it.
  private func answer<Answer: Sendable>(
    of index: Int, _ ask: @Sendable (any PhotoProvider) async throws(ProviderError) -> Answer
  ) async throws(ProviderError) -> Result<Answer, ProviderError> {
    do throws(ProviderError) {
      return .success(try await ask(candidates[index]))
    } catch {
      guard index == 0 ? error.letsAnotherStandIn : error != .cancelled else { throw error }
      return .failure(error)
    }
  }

  private func settle(_ index: Int, because reason: String?) {
    selection.state.withLock {
      $0.current = index
      $0.reason = reason
    }
  }

  /// A page whose cursor says whose it is.
  private func mark(_ page: PhotoPage, _ provider: any PhotoProvider) -> PhotoPage {
    var page = page
    page.next = page.next.map { JointCursor(provider: provider.name, own: $0).cursor }
    return page
  }
}

/// A cursor of one among several providers, with its name before it.
struct JointCursor {
  /// Whose it is.
  var provider: String
  /// The cursor as the provider itself gave it.
  var own: PageCursor

  init(provider: String, own: PageCursor) {
    self.provider = provider
    self.own = own
  }

  /// Reads what `cursor` wrote; nil for a cursor of none of those providers.
  init?(_ cursor: PageCursor, among names: [String]) {
    guard let name = names.first(where: { cursor.token.hasPrefix("\($0):") }) else { return nil }
    self.init(provider: name, own: PageCursor(String(cursor.token.dropFirst(name.count + 1))))
  }

  /// Both in one.
  var cursor: PageCursor { PageCursor("\(provider):\(own.token)") }
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
