// The module PhotoSources: photos of services, folders and lists, page by page, and galleries of them.

/// A source of photos, page by page: a photo search, a folder, a list of URLs.
///
/// Providers return the sources of photos; they never fetch the images. Calls may be concurrent.
public protocol PhotoProvider: Sendable {
  /// The provider's name in messages and JSON: `unsplash`, `folder`, `urls`. With fallbacks, that of the provider in
  /// use.
  var name: String { get }
  /// The provider's capabilities.
  var capabilities: ProviderCapabilities { get }

  /// One page of the photos that match a query.
  ///
  /// - Parameters:
  ///   - query: The query, the same for all pages of a search.
  ///   - cursor: The `next` of the previous page; nil for the first page.
  /// - Throws: `ProviderError.cancelled` when the task is cancelled, else the error that occurred.
  func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage

  /// Up to `count` distinct random photos. Fewer if there are no more.
  ///
  /// - Throws: `ProviderError.unsupported` if `capabilities.picksRandom` is false.
  func random(count: Int) async throws(ProviderError) -> [Photo]

  /// Reports to the provider that a photo is used: inserted into a document, set as a background, exported.
  ///
  /// Unsplash's terms require it. Not to be called when a photo is shown or prefetched; views are counted by the
  /// provider's image server. For most providers this does nothing.
  func reportUse(of photo: Photo) async throws(ProviderError)
}

extension PhotoProvider {
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
  public var largestPageSize: Int?
  /// Whether it needs an access key.
  public var needsKey: Bool
  /// Whether pages report the total number of results.
  public var knowsTotal: Bool
  /// Whether a search can be repeated from its first page.
  public var canRestart: Bool
  /// Whether a faulty server might return the same photos without end: a prefetch then ends at the first page without a
  /// new photo.
  public var mayRunInCircles: Bool
  /// Whether repeated photos are intended, as in a hand-written list: a prefetch reports each one, but processes it
  /// once.
  public var repeatsOnPurpose: Bool

  /// Makes the capabilities.
  public init(
    searches: Bool, picksRandom: Bool, largestPageSize: Int? = nil, needsKey: Bool = false, knowsTotal: Bool = false,
    canRestart: Bool = true, mayRunInCircles: Bool = false, repeatsOnPurpose: Bool = false
  ) {
    self.searches = searches
    self.picksRandom = picksRandom
    self.largestPageSize = largestPageSize
    self.needsKey = needsKey
    self.knowsTotal = knowsTotal
    self.canRestart = canRestart
    self.mayRunInCircles = mayRunInCircles
    self.repeatsOnPurpose = repeatsOnPurpose
  }
}
