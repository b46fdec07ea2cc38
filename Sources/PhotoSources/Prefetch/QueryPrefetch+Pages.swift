import Thumbnailer

/// Asking for pages: a prefetch waits until rate limits end.
extension QueryPrefetch {
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
