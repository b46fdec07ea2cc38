/// When a silent transfer lends its slot to another, and the limits of that.
package struct LendingRules: Sendable {
  /// A transfer counts as silent after this long without a byte.
  var patience: Duration = .seconds(1)
  /// The shortest patience, however fast its site responds otherwise.
  var shortestPatience: Duration = .milliseconds(100)
  /// The patience at a site where nothing is lent: there the transfer itself is stopped.
  var strictPatience: Duration = .seconds(5)
  /// The most slots lent at once, over all sites.
  var mostLent = 32
  /// The most slots that one site gives up without any response: beyond that the site itself is slow, and more requests
  /// would not help.
  var mostUnanswered = 16
  /// A lower limit was set by a service or the user, and includes silent transfers; from here on it is our own.
  var leastLimitToLendAt = 6

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
