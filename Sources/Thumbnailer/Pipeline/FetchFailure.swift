import Foundation

/// Why a picture's bytes are not to be had, and for how long its server lets that be remembered.
struct FetchFailure: Error, Sendable {
  /// What went wrong.
  let error: ThumbnailError
  /// Until when the response that said so may be kept, as far as its server limits that; nil where it does not.
  var end: Date?

  init(_ error: ThumbnailError, end: Date? = nil) {
    self.error = error
    self.end = end
  }
}
