import Thumbnailer

/// The messages about a pipeline's disk cache: what is wrong when a run begins, and what has come up by its end.
struct CacheNotices {
  private let pipeline: ThumbnailPipeline
  private let problem: String?
  private let replacement: String?

  /// Prints what is wrong now.
  init(_ pipeline: ThumbnailPipeline, isQuiet: Bool) {
    self.pipeline = pipeline
    (problem, replacement) = (pipeline.cacheProblem, pipeline.cacheReplacement)
    let console = Console.standard
    if let problem { console.complain("\(problem); going on without the disk cache") }
    if let replacement { console.complain(replacement) }
    if let restriction = pipeline.cacheRestriction { console.complain(restriction) }
    if let exposure = pipeline.cacheExposure, !isQuiet { console.complain(PlainText.withShortPaths(exposure)) }
  }

  /// Prints that the cache has been replaced since.
  func reportReplacement() {
    if let new = pipeline.cacheReplacement, new != replacement { Console.standard.complain(new) }
  }

  /// Prints what keeps the cache from storing everything, unless it was said.
  func reportProblem() {
    if pipeline.cacheRestriction != nil { return }
    if let new = pipeline.cacheProblem, new != problem { Console.standard.complain("not everything is stored: \(new)") }
  }
}
