import Foundation

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
