/// The measured cost of fetching one image; the averages decide how far ahead of the viewport to prefetch.
///
/// Exponential moving averages: each new measurement has a weight of an eighth. The initial values are guesses for a
/// photograph over a home connection.
struct FetchPace: Sendable {
  private static let weight = 0.125

  /// The time from request to thumbnail in seconds, with other requests running concurrently. From 20 ms to 3 s.
  private(set) var secondsPerPicture = 0.3
  /// The downloaded bytes per image.
  private(set) var bytesPerPicture = 150_000.0
  private var isMeasured = false

  /// Adds the measurement of one downloaded and rendered image.
  mutating func record(_ duration: Duration, bytes: Int) {
    let seconds = min(max(duration.seconds, 0.02), 3)
    let weight = isMeasured ? Self.weight : 1
    isMeasured = true
    secondsPerPicture += (seconds - secondsPerPicture) * weight
    bytesPerPicture += (Double(bytes) - bytesPerPicture) * weight
  }

  /// The time after which a request counts as slow: it no longer holds up others, since it is not the link that delays
  /// it.
  var patience: Duration { .seconds(max(1, 4 * secondsPerPicture)) }
}
