package import Logging

/// The library's loggers, one for each stage, so that their levels can be set separately. docs/observability.md lists
/// their messages and levels.
///
/// No line holds a password, a header's value or the bytes of an image.
package enum Log {
  /// Attempts that failed and are retried.
  package static let download = Logger(label: "thumbnailer.download")
  /// libvips' warnings about images.
  package static let codec = Logger(label: "thumbnailer.codec")
  /// Failures of the disk cache.
  package static let cache = Logger(label: "thumbnailer.cache")
  /// General problems, such as a cache that cannot be opened.
  package static let pipeline = Logger(label: "thumbnailer.pipeline")
  /// Unexpected responses of photo services.
  package static let providers = Logger(label: "thumbnailer.providers")

  /// All loggers.
  static let all = [download, codec, cache, pipeline, providers]
}

/// The loggers of one pipeline's stages.
package struct StageLoggers: Sendable {
  /// Attempts that failed and are retried.
  package let download: Logger
  /// Failures of the disk cache.
  package let cache: Logger
  /// General problems.
  package let pipeline: Logger

  /// The pipeline's own logger with the stage as metadata; without one, the loggers of `Log`.
  package init(_ own: Logger? = nil) {
    func logger(_ stage: String, _ standard: Logger) -> Logger {
      guard var logger = own else { return standard }
      logger[metadataKey: "stage"] = "\(stage)"
      return logger
    }
    download = logger("download", Log.download)
    cache = logger("cache", Log.cache)
    pipeline = logger("pipeline", Log.pipeline)
  }
}
