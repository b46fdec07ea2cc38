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
