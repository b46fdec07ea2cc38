import Foundation
import ThumbnailCore

/// How the bytes of an image are obtained: over HTTP, from a file. Chosen once for each job
/// (`PipelineStages.loader(of:)`), so that nothing else distinguishes the kinds of sources.
protocol BodyLoader: Sendable {
  /// Loads an image's bytes, as many as its thumbnails need, and parses its header where that is possible.
  ///
  /// The body says what else depends on where it comes from: whether a helper may read unsafe formats in it, and
  /// whether it was changed while it was read.
  ///
  /// - Parameters:
  ///   - job: Its demand tells which thumbnails are requested; its progress is kept up to date.
  ///   - isWhole: Whether all bytes are needed, whatever the demand.
  ///   - spent: What an earlier body has cost that was insufficient and has been released: memory must not be held
  ///     while waiting for a slot. The preview is then only used again with more to compare
  ///     it with.
  func load(for job: JobContext, isWhole: Bool, insteadOf spent: SourceBody.Spent?) async throws(FetchFailure)
    -> SourceBody
}

/// Why an image could not be loaded, and how long its server allows this to be cached.
struct FetchFailure: Error, Sendable {
  /// What went wrong.
  let error: ThumbnailError
  /// When the response stops being cacheable, if its server limits that; nil if it does not.
  var end: Date?

  init(_ error: ThumbnailError, end: Date? = nil) {
    self.error = error
    self.end = end
  }
}
