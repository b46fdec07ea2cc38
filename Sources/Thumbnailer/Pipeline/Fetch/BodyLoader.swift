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
