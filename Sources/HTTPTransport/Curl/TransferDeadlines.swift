/// The deadlines of one transfer, and whether it has fallen silent. A pure value: the caller passes the time.
struct TransferDeadlines: Sendable {
  /// The effect of bytes that arrived.
  struct Arrival: Equatable {
    /// The time until the response began; nil if it had begun before.
    var responseTime: Duration?
    /// Whether the bytes end a silence.
    var endsSilence: Bool
  }

  private let start: ContinuousClock.Instant
  private let connectTimeout: Duration
  private let stallTimeout: Duration
  private let totalTimeout: Duration
  private let minimumRate: Int
  private let rateWindow: Duration
  /// When bytes last arrived; nil before the first.
  private(set) var lastArrival: ContinuousClock.Instant?
  /// Whether it has fallen silent, and nothing has arrived since.
  private(set) var isSilent = false
  /// Start of the window for the minimum rate; nil before the first byte.
  private var windowStart: ContinuousClock.Instant?
  private var bytesInWindow = 0

  /// `timeLeft` is what is left of the total timeout.
  init(_ configuration: DownloadConfiguration, timeLeft: Duration, start: ContinuousClock.Instant) {
    self.start = start
    // Capped, because adding a longer duration to the clock could overflow.
    let year = Duration.seconds(365 * 86_400)
    connectTimeout = min(configuration.connectTimeout, year)
    stallTimeout = min(configuration.stallTimeout, year)
    totalTimeout = min(timeLeft, year)
    (minimumRate, rateWindow) = (configuration.minimumRate, configuration.rateWindow)
  }

  /// Since when nothing has arrived.
  var silentSince: ContinuousClock.Instant { lastArrival ?? start }

  /// Records that bytes have arrived.
  @discardableResult
  mutating func recordArrival(_ bytes: Int = 1, at now: ContinuousClock.Instant) -> Arrival {
    defer { (lastArrival, isSilent, bytesInWindow) = (now, false, bytesInWindow + bytes) }
    if windowStart == nil { windowStart = now }
    return Arrival(responseTime: lastArrival == nil ? now - start : nil, endsSilence: isSilent)
  }

  /// When to check for silence again; nil if the transfer is silent.
  ///
  /// `timeout` is evaluated only after `shortest` has passed.
  mutating func checkSilence(
    now: ContinuousClock.Instant, shortest: Duration, timeout: () -> Duration
  ) -> ContinuousClock.Instant? {
    if isSilent { return nil }
    if now < silentSince + shortest { return silentSince + shortest }
    let end = silentSince + max(shortest, timeout())
    isSilent = now >= end
    return isSilent ? nil : end
  }

  /// When to check again, and the deadline that has passed, if any.
  ///
  /// `connecting` is the time until the request could be sent; nil before that. `mayBeSlow` disables the minimum rate.
  mutating func check(
    now: ContinuousClock.Instant, connecting: @autoclosure () -> Duration?, mayBeSlow: @autoclosure () -> Bool = false
  ) -> (next: ContinuousClock.Instant, missed: DownloadError.Deadline?) {
    let (next, missed) = checkStall(now: now, connecting: connecting())
    guard missed == nil, minimumRate > 0, let start = windowStart else { return (next, missed) }
    let end = start + rateWindow
    guard now >= end else { return (min(next, end), nil) }
    if Double(bytesInWindow) < Double(minimumRate) * ((now - start) / .seconds(1)), !mayBeSlow() { return (end, .rate) }
    (windowStart, bytesInWindow) = (now, 0)
    return (min(next, now + rateWindow), nil)
  }

  private func checkStall(
    now: ContinuousClock.Instant, connecting: @autoclosure () -> Duration?
  ) -> (next: ContinuousClock.Instant, missed: DownloadError.Deadline?) {
    let total = start + totalTimeout
    if now >= total { return (total, .total) }
    // The stall timeout begins when the request can be sent. libcurl enforces the connect timeout itself, except while
    // a transfer waits to share the connection of another.
    let connected = lastArrival == nil ? connecting() : nil
    let deadline = (lastArrival ?? start + (connected ?? connectTimeout)) + stallTimeout
    if now < deadline { return (min(total, deadline), nil) }
    return (deadline, lastArrival != nil || connected != nil ? .stall : .connect)
  }
}
