/// When a stored thumbnail is taken for good, and when the server is asked whether its picture has changed.
///
/// Local files are known by their time of modification and length: nobody is asked for them in any mode.
public enum CacheMode: Sendable, Equatable {
  /// As the server said with the picture (`Cache-Control`, `Expires`); where it said nothing, for a week, or for a tenth
  /// of the time since `Last-Modified` if that is less. What the server allows to be used while it is asked
  /// (`stale-while-revalidate`) is handed out at once and asked about behind. A server that cannot be asked leaves the stored thumbnail good,
  /// unless it has forbidden that (`must-revalidate`, `no-cache`).
  case standard
  /// What was not fetched or confirmed since the pipeline was made is asked for, once, whatever the server said. A server
  /// that cannot be asked is an error.
  case refresh
  /// What was fetched or confirmed longer ago than this is asked for, and nothing else, whatever the server said.
  case maximumAge(Duration)
  /// Nobody is asked and nothing is downloaded: what is stored is good, however old, and what is not fails with
  /// `ThumbnailError.notCached`.
  case offline
}
