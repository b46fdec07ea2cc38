public import HTTPTransport
public import ThumbnailCore
public import Thumbnailer

/// The thumbnails of all pictures that a photo source finds, made as a stream: while the pictures of one page are under
/// way the next page is asked for, and no more than that. A picture whose server falls silent holds back nothing else.
///
///     let prefetch = QueryPrefetch(provider: provider, query: "lake", pipeline: pipeline, variants: [variant])
///     for try await case .photo(let outcome) in prefetch { … }
///
/// What is under way or finished but not taken by the consumer is bounded by the pictures of `Limits.ahead` pages, and
/// 256 that wait for silent servers. Dropping the iterator cancels it.
public struct QueryPrefetch: AsyncSequence, Sendable {
  /// How far a prefetch goes.
  public struct Limits: Sendable {
    /// The most pages to ask for; nil for as many as there are.
    public var pages: Int?
    /// Pictures a page.
    public var perPage: Int
    /// The most pictures; nil for as many as there are.
    public var photos: Int?
    /// How many pages of pictures may be asked for and not done. A picture is not counted while it waits for a server that
    /// has fallen silent, once a later one is done or it was put off.
    public var ahead: Int

    /// Limits; by default three pages of 30 pictures, two of them ahead.
    public init(pages: Int? = 3, perPage: Int = 30, photos: Int? = nil, ahead: Int = 2) {
      self.pages = pages
      self.perPage = perPage
      self.photos = photos
      self.ahead = ahead
    }
  }

  /// What happened.
  public enum Element: Sendable {
    /// A page of the source arrived with so many pictures that were not seen before. `total` is how many the source says
    /// there are.
    case page(photos: Int, total: Int?)
    /// An item of the source is no picture to be had; it says which and why.
    case skipped(SkippedItem)
    /// One picture is done, in whichever way.
    case photo(PhotoOutcome)
  }
  /// A source that fails ends the sequence, after the pictures it had given are done.
  public typealias Failure = ProviderError

  let provider: any PhotoProvider
  let query: String
  let pipeline: ThumbnailPipeline
  let variants: [Variant]
  let limits: Limits
  let headers: HostHeaders
  let original: Bool

  /// Prepares the prefetch of the `variants` of all pictures found, each asked for with the `headers` for its host.
  /// Nothing starts before the first `next()`. With `original`, the photos are fetched as they were uploaded instead of
  /// in the smallest form that is large enough.
  public init(
    provider: any PhotoProvider, query: String, pipeline: ThumbnailPipeline, variants: [Variant],
    limits: Limits = Limits(), headers: HostHeaders = HostHeaders(), original: Bool = false
  ) {
    self.provider = provider
    self.query = query
    self.pipeline = pipeline
    self.variants = variants
    self.limits = limits
    self.headers = headers
    self.original = original
  }

  /// Starts from the first page.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }
}

/// What came of one picture.
public struct PhotoOutcome: Sendable {
  /// The picture as the source describes it.
  public let photo: Photo
  /// What was fetched for it.
  public let source: ImageSource
  /// One result for each variant, in their order.
  public let results: [Result<ThumbnailResponse, ThumbnailError>]
  /// From the start of the picture's requests to the last answer.
  public let duration: Duration

  /// The error of the first variant that failed; nil when all succeeded.
  public var firstError: ThumbnailError? {
    for case .failure(let error) in results { return error }
    return nil
  }
}
