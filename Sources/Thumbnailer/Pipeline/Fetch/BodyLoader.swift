import Foundation
import ThumbnailCore

/// Loads the bytes of an image: over HTTP or from a file. `PipelineStages.loader(of:)` chooses a loader once for each
/// job, so that nothing else distinguishes the kinds of sources.
protocol BodyLoader: Sendable {
  /// Loads as many of an image's bytes as its thumbnails need, and parses its header if possible.
  ///
  /// The body also states what depends on its source: whether a helper may read unsafe formats in it, and whether it
  /// was changed while it was read.
  ///
  /// - Parameters:
  ///   - job: Its demand names the requested thumbnails; its progress is kept up to date.
  ///   - isWhole: Whether all bytes are needed, whatever the demand.
  ///   - spent: The cost of an earlier, insufficient body, which has been released: memory must not be held
  ///     while waiting for a slot. The preview is then only used again with more to compare
  ///     it with.
  func load(for job: JobContext, isWhole: Bool, insteadOf spent: SourceBody.Spent?) async throws(FetchFailure)
    -> SourceBody
}

/// Why an image could not be loaded, and how long its server allows this to be cached.
struct FetchFailure: Error, Sendable {
  /// The error.
  let error: ThumbnailError
  /// When the response stops being cacheable, if its server limits that; nil if it does not.
  var end: Date?

  init(_ error: ThumbnailError, end: Date? = nil) {
    self.error = error
    self.end = end
  }
}
