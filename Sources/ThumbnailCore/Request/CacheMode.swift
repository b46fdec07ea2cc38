/// When a stored thumbnail is used as it is, and when its source image is revalidated with the server.
///
/// Local files are identified by modification time and length, and need no revalidation in any mode.
public enum CacheMode: Sendable, Hashable {
  /// As the server specified (`Cache-Control`, `Expires`); without that for a week, or a tenth of the time since
  /// `Last-Modified` if that is less. With `stale-while-revalidate`, a stale thumbnail is returned at once and
  /// revalidated in the background. If the server cannot be reached the stale thumbnail is used, unless forbidden
  /// (`must-revalidate`, `no-cache`).
  case standard
  /// Thumbnails that were fetched or confirmed before the pipeline was created are revalidated once, whatever the
  /// server specified. A server that cannot be reached is an error.
  case refresh
  /// Only thumbnails that were fetched or confirmed longer ago than this are revalidated, whatever the server
  /// specified.
  case maximumAge(Duration)
  /// No requests are sent: stored thumbnails of any age are used, and a miss fails with `ThumbnailError.notCached`.
  case offline
  /// The caches are neither read nor changed: the image is always fetched.
  case noStore

  /// A message that says why the value is invalid; nil if it is valid.
  package var problem: String? {
    if case .maximumAge(let age) = self, age < .zero { return "the maximum age must not be negative" }
    return nil
  }
}
