/// A pipeline's counters since it was created.
public struct PipelineStatistics: Sendable, Equatable {
  /// Thumbnails served from the memory cache.
  public var memoryHits = 0
  /// Thumbnails served from the disk cache; shrunk, revalidated and stale ones are included.
  public var diskHits = 0
  /// Thumbnails made from their source images.
  package var rendered = 0
  /// Thumbnails made from damaged images; `rendered` counts them, too.
  package var damaged = 0
  /// Requests that failed, without cancelled ones.
  public var failures = 0
  /// Downloads that received a body or part of it. Local files are not counted.
  public var downloads = 0
  /// Bytes received for images, including refused and truncated ones and all attempts, plus the lengths of the local
  /// files that were opened.
  public var downloadedBytes = 0
  /// Bytes of images that were not downloaded because no thumbnail needed them, as far as the lengths are known.
  package var bytesLeft = 0
  /// The number of decodes.
  public var decodes = 0
  /// Bytes of thumbnails handed to the disk cache, less those that could not be written.
  package var storedBytes = 0
  /// Requests that joined a running job.
  package var joins = 0
  /// Source images whose stale thumbnails the server confirmed as not modified (304).
  package var revalidations = 0
  /// Source images whose stored thumbnails were replaced, because the server sent a changed image.
  package var replacements = 0
  /// Stale thumbnails that were served because their server failed.
  package var servedStale = 0
  /// Stale thumbnails that were served during revalidation, as their server allows (`stale-while-revalidate`).
  package var servedWhileRevalidating = 0
  /// Requests that failed because of a cached failure, without a request to the server.
  package var rememberedFailures = 0
  /// Requests that failed because nothing is downloaded in offline mode.
  package var offlineMisses = 0

  /// All counters by property name, in order: for export to a metrics system.
  ///
  /// They only grow during a pipeline's life, except `storedBytes` and `bytesLeft`, which are corrected afterwards.
  public var counters: [(name: String, value: Int)] {
    Mirror(reflecting: self).children.compactMap { child in
      guard let name = child.label, let value = child.value as? Int else { return nil }
      return (name, value)
    }
  }
}
