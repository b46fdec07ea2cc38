/// A place that photos come from, page by page: a photo search, a folder, a list of URLs.
///
/// Providers know where the photos are; they never fetch one. Several calls may run at once.
public protocol PhotoProvider: Sendable {
  /// What the provider is called in messages and in JSON: `unsplash`, `folder`, `urls`. Where one stands in
  /// for another, the one that answers.
  var name: String { get }
  /// What the provider can do.
  var capabilities: ProviderCapabilities { get }

  /// One page of the photos that match a query.
  ///
  /// - Parameters:
  ///   - query: The same for all pages of one search.
  ///   - cursor: The `next` of the page before; nil asks for the first page.
  /// - Throws: `ProviderError.cancelled` when the task is cancelled, else what stood in the way.
  func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage

  /// Up to `count` different photos, picked by chance. Fewer when there are no more.
  ///
  /// - Throws: `ProviderError.unsupported` where `capabilities.picksRandom` is false.
  func random(count: Int) async throws(ProviderError) -> [Photo]

  /// Tells the provider that a photo is put to use: inserted into a document, set as a background, exported.
  ///
  /// Unsplash's terms ask for it. Not to be called when a photo is shown or prefetched; those count themselves, since
  /// the photo comes from the provider's own server. Most providers do not want to know, and then nothing is sent.
  func reportUse(of photo: Photo) async throws(ProviderError)
}

extension PhotoProvider {
  /// Nothing.
  public func reportUse(of photo: Photo) async throws(ProviderError) {}
}

/// What to look for, and in which portions.
public struct PhotoQuery: Hashable, Sendable {
  /// The words to look for. Without any, all photos match.
  public let text: String
  /// How many photos a page should have; at least 1. A provider may give fewer, and gives no more than its
  /// `largestPageSize`.
  public let pageSize: Int

  /// Looks for `text` in pages of `pageSize` photos; 30 by default.
  public init(_ text: String = "", pageSize: Int = 30) {
    self.text = text
    self.pageSize = max(1, pageSize)
  }
}

/// What a photo provider can do.
public struct ProviderCapabilities: Hashable, Sendable {
  /// Whether it finds photos by words. Where not, a query with words fails.
  public var searches: Bool
  /// Whether it can pick photos by chance.
  public var picksRandom: Bool
  /// The most photos a page can have; nil for no limit.
  public var largestPageSize: Int?
  /// Whether it needs an access key.
  public var needsKey: Bool
  /// Whether a page tells how many photos match in all.
  public var knowsTotal: Bool
  /// Whether a search can be made again from its first page.
  public var canRestart: Bool
  /// Whether its pages are made by a server that may, by mistake, give the same photos for ever: a search then ends with
  /// the first page that brings none that is new.
  public var mayRunInCircles: Bool
  /// Whether a photo that comes again is meant again, as in a list that somebody has written: a prefetch tells of each
  /// one, and does the work once.
  public var repeatsOnPurpose: Bool

  /// Describes a provider.
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
