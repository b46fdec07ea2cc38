package import HTTPTransport
public import ThumbnailCore
public import Thumbnailer

/// The thumbnails of all photos of a search as an asynchronous sequence. While the photos of one page are being
/// processed the next page is requested, and no more. A photo with a silent server delays no other photo.
///
///     let prefetch = QueryPrefetch(provider: provider, query: "lake", pipeline: pipeline, variants: [variant])
///     for try await case .photo(let outcome) in prefetch { … }
///
/// Photos in flight or not yet taken by the consumer are bounded by `Limits.ahead` pages, plus 256 that wait for silent
/// servers and those that wait to be written by the disk cache. Dropping the iterator cancels it.
public struct QueryPrefetch: AsyncSequence, Sendable {
  /// The limits of a prefetch.
  public struct Limits: Sendable {
    /// The most pages to request; nil for no limit.
    package var pages: Int?
    /// Photos a page.
    package var perPage: Int
    /// The most photos; nil for no limit.
    package var photos: Int?
    /// The most pages of photos that are requested and not done. A photo that waits for a silent server is not counted
    /// once a later one is done or it was deferred.
    package var ahead: Int

    /// Limits; by default three pages of 30 photos, two of them ahead.
    public init(pages: Int? = 3, perPage: Int = 30, photos: Int? = nil, ahead: Int = 2) {
      (self.pages, self.perPage, self.photos, self.ahead) = (pages, perPage, photos, ahead)
    }
  }

  /// An element of the sequence.
  public enum Element: Sendable {
    /// A page arrived with this many new photos. `total` is the number of results that the source reports.
    case page(photos: Int, total: Int?)
    /// An unusable item of the source, and why.
    case skipped(SkippedItem)
    /// A photo has finished or failed. For thumbnails made for it, `isStored` is certain: the disk cache has written
    /// them or has failed to.
    case photo(PhotoOutcome)
  }
  /// An error of the source ends the sequence, after the photos that had arrived are done.
  public typealias Failure = ProviderError

  let provider: any PhotoProvider
  let query: String
  let pipeline: ThumbnailPipeline
  let variants: [Variant]
  let limits: Limits
  let headers: HostHeaders

  /// Prepares the prefetch of the `variants` of all photos found. Nothing starts before the first `next()`.
  public init(
    provider: any PhotoProvider, query: String, pipeline: ThumbnailPipeline, variants: [Variant],
    limits: Limits = Limits()
  ) {
    self.init(
      provider: provider, query: query, pipeline: pipeline, variants: variants, limits: limits, headers: HostHeaders())
  }

  /// Requests each photo with the `headers` for its host.
  package init(
    provider: any PhotoProvider, query: String, pipeline: ThumbnailPipeline, variants: [Variant],
    limits: Limits = Limits(), headers: HostHeaders
  ) {
    (self.provider, self.query, self.pipeline, self.variants) = (provider, query, pipeline, variants)
    (self.limits, self.headers) = (limits, headers)
  }

  /// Starts from the first page.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// One page of the source. Waits out rate limits, if the pipeline's settings allow waiting.
  func page(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    while true {
      do throws(ProviderError) {
        return try await provider.search(query, at: cursor)
      } catch {
        guard let pause = error.pause, pipeline.waits(for: pause, of: error.limitingProvider ?? provider.name) else {
          throw error
        }
        do { try await Task.sleep(for: pause + ThumbnailPipeline.margin) } catch { throw .cancelled }
      }
    }
  }
}

/// The outcome of one photo.
public struct PhotoOutcome: Sendable {
  /// The photo as the provider describes it.
  public let photo: Photo
  /// The source that was loaded for it.
  public let source: ImageSource
  /// One result for each variant, in their order.
  public let results: [Result<ThumbnailResponse, ThumbnailError>]
  /// From the start of the photo's requests to their last result.
  package let duration: Duration

  /// The same with the responses once they are committed.
  func committed() async -> PhotoOutcome {
    var committed = results
    for (index, result) in results.enumerated() {
      if case .success(let response) = result { committed[index] = .success(await response.committed()) }
    }
    return PhotoOutcome(photo: photo, source: source, results: committed, duration: duration)
  }

  /// Whether a response is not yet committed.
  var isPending: Bool { results.contains { (try? $0.get())?.isPending == true } }

  /// The error of the first variant that failed; nil when all succeeded.
  public var firstError: ThumbnailError? {
    for case .failure(let error) in results { return error }
    return nil
  }
}
