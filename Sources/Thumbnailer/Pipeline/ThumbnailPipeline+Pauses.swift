import HTTPTransport

/// Pauses that hosts want.
extension ThumbnailPipeline {
  /// What is waited beyond a pause.
  package static let margin = Duration.milliseconds(20)

  /// Whether somebody waits for so long beside the downloads, as for a page of a search: that comes off `maximumWait`. Tells
  /// the listeners of the pause.
  package func waits(for pause: Duration, of name: String) -> Bool {
    // Some milliseconds more, so that the next request does not come too soon by how clocks differ.
    let waits = stages.downloader.mayWait(for: pause + Self.margin)
    stages.events.send(nil, .hostPaused(host: name, duration: pause, failure: nil, isWaitedFor: waits))
    return waits
  }
}
