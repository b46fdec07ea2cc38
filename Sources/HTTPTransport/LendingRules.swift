/// When a transfer that brings nothing lends its slot to the next, and how far that goes.
package struct LendingRules: Sendable {
  /// After so long without a byte a transfer is silent.
  var patience: Duration = .seconds(1)
  /// No transfer is silent before, however quickly its site answers otherwise.
  var shortestPatience: Duration = .milliseconds(100)
  /// The same for a site that nothing is lent at: there the transfer itself has to go.
  var strictPatience: Duration = .seconds(5)
  /// The most slots that are lent at once, at all sites together.
  var mostLent = 32
  /// The most slots that one site gives up without an answer of any kind between: beyond, it is the site that is silent,
  /// and more requests would not help it.
  var mostUnanswered = 16
  /// A limit below this was asked for by somebody, and holds for silent transfers, too; from here on it is our own.
  var leastLimitToLendAt = 6

  package init() {}
}

/// How long the answers of a site take to begin, as far as seen: the mean and what they differ from it, each as TCP
/// reckons the times of its packets (RFC 6298). A pure value.
struct ResponseTimes: Sendable {
  /// In seconds; nil before the first answer.
  private var mean: Double?
  private var deviation = 0.0

  /// An answer has begun, so long after its request.
  mutating func add(_ time: Duration) {
    let seconds = time / .seconds(1)
    guard let mean else {
      (mean, deviation) = (seconds, seconds / 2)
      return
    }
    deviation += (abs(seconds - mean) - deviation) / 4
    self.mean = mean + (seconds - mean) / 8
  }

  /// An answer that takes longer than this is late; nil before the first.
  var bound: Duration? { mean.map { .seconds($0 + 4 * deviation) } }
}
