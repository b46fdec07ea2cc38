import HTTPTransport

/// Pauses of hosts outside of downloads.
extension ThumbnailPipeline {
  /// The time waited in addition to a pause.
  package static let margin = Duration.milliseconds(20)

  /// Whether to wait for this pause, as for a page of a search; it is deducted from `maximumWait`. Sends an event about
  /// the pause.
  package func waits(for pause: Duration, of name: String) -> Bool {
    // Some milliseconds more, so that clock differences do not make the next request come too early.
    let waits = stages.downloader.mayWait(for: pause + Self.margin)
    stages.events.send(nil, .hostPaused(host: name, duration: pause, failure: nil, isWaitedFor: waits))
    return waits
  }
}
