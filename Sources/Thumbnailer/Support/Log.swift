import Logging

/// The labels of the library's loggers, one for each stage, so that a user can turn them up one by one.
enum Log {
  static let download = Logger(label: "thumbnailer.download")
  static let codec = Logger(label: "thumbnailer.codec")
  static let cache = Logger(label: "thumbnailer.cache")
  static let pipeline = Logger(label: "thumbnailer.pipeline")
  static let providers = Logger(label: "thumbnailer.providers")
  static let gallery = Logger(label: "thumbnailer.gallery")
  static let prefetch = Logger(label: "thumbnailer.prefetch")
}
