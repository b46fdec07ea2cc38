import Thumbnailer

/// Rate limits: a prefetch waits until they end.
extension QueryPrefetch {
  /// One page of the source. Waits out rate limits, if the pipeline's settings allow waiting.
  func page(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    while true {
      do throws(ProviderError) {
        return try await provider.search(query, at: cursor)
      } catch {
        guard let pause = error.pause, pipeline.waits(for: pause, of: error.pausing ?? provider.name) else {
          throw error
        }
        do { try await Task.sleep(for: pause + ThumbnailPipeline.margin) } catch { throw .cancelled }
      }
    }
  }
}

extension ProviderError {
  /// The provider that limits requests; nil if there are several.
  var pausing: String? {
    if case .rateLimited(let provider, _) = self { provider } else { nil }
  }

  /// How long until the provider takes requests again; with several, the shortest time. Nil if the error is no rate
  /// limit.
  var pause: Duration? {
    switch self {
    case .rateLimited(_, let pause): pause
    case .noneAnswers(let errors): errors.compactMap(\.pause).min()
    default: nil
    }
  }
}
