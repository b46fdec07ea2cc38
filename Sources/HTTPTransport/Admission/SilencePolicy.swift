/// When a transfer counts as silent, and when it lends its slot to another.
package struct SilencePolicy: Sendable {
  /// A transfer counts as silent after this long without a byte.
  var timeout: Duration = .seconds(1)
  /// The shortest timeout, however fast its site responds otherwise.
  var shortestTimeout: Duration = .milliseconds(100)
  /// The timeout at a site where nothing is lent: there the transfer itself is stopped.
  var strictTimeout: Duration = .seconds(5)
  /// The most slots lent at once, over all sites.
  var maximumLent = 32
  /// The most slots that one site gives up without any response: beyond that the site itself is slow, and more requests
  /// would not help.
  var maximumLentPerSilentSite = 16
  /// A lower limit was set by a service or the user, and includes silent transfers; from here on it is our own.
  var minimumLimitForLending = 6

  package init() {}
}

/// How long a site's responses take to begin: smoothed mean and deviation, computed like TCP's retransmission timeout
/// (RFC 6298). A pure value.
struct ResponseTimes: Sendable {
  /// In seconds; nil before the first response.
  private var mean: Double?
  private var deviation = 0.0

  /// A response has begun, this long after its request.
  mutating func add(_ time: Duration) {
    let seconds = time / .seconds(1)
    guard let mean else {
      (mean, deviation) = (seconds, seconds / 2)
      return
    }
    deviation += (abs(seconds - mean) - deviation) / 4
    self.mean = mean + (seconds - mean) / 8
  }

  /// A response that takes longer is late; nil before the first one.
  var bound: Duration? { mean.map { .seconds($0 + 4 * deviation) } }
}
