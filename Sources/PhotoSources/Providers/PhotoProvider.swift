// The module PhotoSources: photos of services, folders and lists, page by page, and galleries of them.

import ThumbnailCore

/// A source of photos, page by page: a photo search, a folder, a list of URLs. To add a source of your own, implement
/// this protocol; the page `docs/photo-sources.md` has an example.
///
/// A provider only names the sources of photos (`Photo.source(for:fit:)`); it never loads the images. It uses
/// the network through a `ProviderAPI`, or through `ThumbnailPipeline.httpClient` itself, and thus shares the
/// pipeline's connections, timeouts, retries and limits.
///
/// A provider is `Sendable`, and calls may be concurrent: a search while the user types is cancelled while the next one
/// runs. Keep the state of a search in its cursor instead of in the provider.
public protocol PhotoProvider: Sendable {
  /// The provider's name in messages and JSON: `unsplash`, `folder`, `urls`. Pages
  /// are stored under it, and `Photo.provider` has to be the same.
  var name: String { get }
  /// The provider's capabilities.
  var capabilities: ProviderCapabilities { get }

  /// One page of the photos that match a query.
  ///
  /// A page holds up to `query.pageSize` photos; fewer are no sign of the end. The search ends at a page whose `next`
  /// is nil, at a cursor seen before, at a page without any item, and after a few pages without a new photo. Items that
  /// cannot be used go into `PhotoPage.skipped` with the reason: one bad item must not fail a page.
  ///
  /// - Parameters:
  ///   - query: The query, the same for all pages of a search.
  ///   - cursor: The `next` of the previous page; nil for the first page. Cursors are stored with the pages, so one from
  ///     an earlier run may come back.
  /// - Throws: `ProviderError.cancelled` when the task is cancelled, else the error that occurred. A gallery retries
  ///   `unreachable`, `rateLimited` and `malformed` with back-off, and shows stored pages for `unreachable`; a prefetch
  ///   waits for `rateLimited`; everything else is shown to the user.
  func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage

  /// Up to `count` distinct random photos. Fewer if there are no more. By default not supported.
  ///
  /// - Throws: `ProviderError.unsupported` if `capabilities.picksRandom` is false.
  func random(count: Int) async throws(ProviderError) -> [Photo]

  /// Reports to the provider that a photo is used: inserted into a document, set as a background, exported. By default
  /// this does nothing.
  ///
  /// Unsplash's terms require it. Do not call it when a photo is shown or prefetched: the provider's image server
  /// counts views.
  func reportUse(of photo: Photo) async throws(ProviderError)
}

extension PhotoProvider {
  /// Not supported.
  public func random(count: Int) async throws(ProviderError) -> [Photo] { throw notRandom }

  var notRandom: ProviderError {
    .unsupported(provider: name, reason: "it does not pick random photos; search for nothing instead")
  }

  /// Does nothing.
  public func reportUse(of photo: Photo) async throws(ProviderError) {}
}

/// A query and its page size.
public struct PhotoQuery: Hashable, Sendable {
  /// The words to search for. An empty text matches all photos.
  public let text: String
  /// The number of photos a page; at least 1. A provider may return fewer, and returns at most its `largestPageSize`.
  public let pageSize: Int

  /// A query for `text` in pages of `pageSize` photos; 30 by default.
  public init(_ text: String = "", pageSize: Int = 30) {
    self.text = text
    self.pageSize = max(1, pageSize)
  }
}

/// The capabilities of a photo provider.
public struct ProviderCapabilities: Hashable, Sendable {
  /// Whether it searches by words. If not, a query with words fails.
  public var searches: Bool
  /// Whether it can pick random photos.
  public var picksRandom: Bool
  /// The largest page; nil for no limit.
  package var largestPageSize: Int?
  /// Whether a faulty server might return the same photos without end: a prefetch then ends at the first page without a
  /// new photo.
  package var mayLoop: Bool
  /// Whether repeated photos are intended, as in a hand-written list: a prefetch reports each one, but processes it
  /// once.
  package var repeatsOnPurpose: Bool

  /// Makes the capabilities; by default of a provider that searches.
  public init(
    searches: Bool = true, picksRandom: Bool = false, largestPageSize: Int? = nil, mayLoop: Bool = false,
    repeatsOnPurpose: Bool = false
  ) {
    (self.searches, self.picksRandom, self.largestPageSize) = (searches, picksRandom, largestPageSize)
    (self.mayLoop, self.repeatsOnPurpose) = (mayLoop, repeatsOnPurpose)
  }
}

extension WorkerPool {
  /// Runs a provider's blocking work on one of the threads. The flag is set when the calling task is cancelled.
  func provide<Success: Sendable>(
    _ work: @escaping @Sendable (CancellationFlag) throws(ProviderError) -> Success
  ) async throws(ProviderError) -> Success {
    try await run(orThrow: ProviderError.cancelled, work)
  }
}

/// One page of a search.
public struct PhotoPage: Equatable, Sendable {
  /// The photos, in the provider's order.
  public var photos: [Photo]
  /// The cursor of the next page; nil on the last.
  public var next: PageCursor?
  /// The total number of results, if the provider reports it.
  public var total: Int?
  /// The unusable items of the page.
  public var skipped: [SkippedItem]

  /// Makes a page.
  public init(photos: [Photo], next: PageCursor?, total: Int? = nil, skipped: [SkippedItem] = []) {
    (self.photos, self.next, self.total, self.skipped) = (photos, next, total.map { max(0, $0) }, skipped)
  }
}

/// An opaque cursor of the provider's. Can be stored and used again later.
public struct PageCursor: Hashable, Sendable, Codable {
  /// The provider's token.
  public let token: String

  /// Makes a cursor.
  public init(_ token: String) { self.token = token }
}

/// An item that was left out of a page, and the reason.
public struct SkippedItem: Hashable, Sendable {
  /// The item's position: `line 7`, `item 3`, or a path.
  public var place: String
  /// Why it is unusable, and what to do about it, if anything.
  public var reason: String

  /// Makes a skipped item.
  public init(place: String, reason: String) { (self.place, self.reason) = (place, reason) }

  /// Both in one line.
  package var message: String { "\(place): \(reason)" }

  /// The first of several items in one line, with the number of others; nil if there are none.
  package static func message(of items: [SkippedItem]) -> String? {
    items.first.map { items.count > 1 ? "\($0.message), and \(items.count - 1) more" : $0.message }
  }
}
