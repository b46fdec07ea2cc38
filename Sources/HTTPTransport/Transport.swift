package import ThumbnailCore

/// Fetches bodies: the seam at which another HTTP client can take the place of libcurl.
///
/// The pipeline makes one call for each body. Redirects, retries, pauses of hosts and limits of concurrent requests are
/// the transport's own business. `Downloader` is the implementation in use.
package protocol Transport: Sendable {
  /// Fetches one body, or as much of it as the observer needs.
  ///
  /// Cancelling the task ends the request. The observer is not called after this returns.
  ///
  /// - Parameters:
  ///   - request: URL, header fields, conditions and limits.
  ///   - observer: Sees the head and the bytes of a successful response as they arrive, and can end it early.
  ///   - priority: Visible requests are admitted before prefetch; it may change while the request waits.
  /// - Throws: `DownloadError`, also for an error status of an image request.
  func download(
    _ request: DownloadRequest, observer: (any BodyObserver)?, priority: PriorityControl
  ) async throws(DownloadError) -> Download
}
