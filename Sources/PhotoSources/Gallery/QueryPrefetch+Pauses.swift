import Thumbnailer

/// Pauses that a source wants: a prefetch waits for them and goes on.
extension QueryPrefetch {
  /// One page of the source. Waits when it wants to be left alone, as long as the pipeline waits for pauses at all.
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
  /// Who wants to be left alone; nil where there are several.
  var pausing: String? {
    if case .rateLimited(let provider, _) = self { provider } else { nil }
  }

  /// For how long the provider wants to be left alone; of several, the first that may be asked again. Nil where that is
  /// not what stands in the way.
  var pause: Duration? {
    switch self {
    case .rateLimited(_, let pause): pause
    case .noneAnswers(let errors): errors.compactMap(\.pause).min()
    default: nil
    }
  }
}
