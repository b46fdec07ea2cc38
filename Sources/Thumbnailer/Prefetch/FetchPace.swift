/// What fetching a picture takes, as measured: the averages decide how far ahead of the view to begin.
///
/// Each new measurement counts for an eighth. Before the first there are guesses for a photograph over a home's link.
struct FetchPace: Sendable {
  private static let weight = 0.125

  /// From the request to the thumbnail, in seconds, while others run beside it. From 20 ms to 3 s.
  private(set) var secondsPerPicture = 0.3
  /// What is downloaded for one picture, in bytes.
  private(set) var bytesPerPicture = 150_000.0
  private var isMeasured = false

  /// One more picture was downloaded and made.
  mutating func record(_ duration: Duration, bytes: Int) {
    let seconds = min(max(duration.seconds, 0.02), 3)
    let weight = isMeasured ? Self.weight : 1
    isMeasured = true
    secondsPerPicture += (seconds - secondsPerPicture) * weight
    bytesPerPicture += (Double(bytes) - bytesPerPicture) * weight
  }

  /// After how long a request is slow: it holds nothing back any more, since the link is not what it waits for.
  var patience: Duration { .seconds(max(1, 4 * secondsPerPicture)) }
}
