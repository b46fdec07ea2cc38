package import Logging

/// The library's loggers, one for each stage, so that a user can turn them up one by one. What each says, and at which
/// level, stands in docs/observability.md.
///
/// No line holds a password, a header's value or the bytes of a picture.
package enum Log {
  /// Attempts that failed and are made again.
  package static let download = Logger(label: "thumbnailer.download")
  /// What libvips says of odd pictures.
  package static let codec = Logger(label: "thumbnailer.codec")
  /// What the disk cache could not do.
  package static let cache = Logger(label: "thumbnailer.cache")
  /// What concerns the whole, such as a cache that cannot be opened.
  package static let pipeline = Logger(label: "thumbnailer.pipeline")
  /// What photo services answered that was not as expected.
  package static let providers = Logger(label: "thumbnailer.providers")
  /// Galleries: pages and what is stored of them.
  static let gallery = Logger(label: "thumbnailer.gallery")
  /// What is made ahead of who scrolls.
  static let prefetch = Logger(label: "thumbnailer.prefetch")

  /// All of them.
  static let all = [download, codec, cache, pipeline, providers, gallery, prefetch]
}
