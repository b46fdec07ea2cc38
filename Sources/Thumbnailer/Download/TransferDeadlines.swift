/// The deadlines of one transfer. A pure value: the clock is the caller's.
struct TransferDeadlines: Sendable {
  private let start: ContinuousClock.Instant
  private let connectTimeout: Duration
  private let stallTimeout: Duration
  private let totalTimeout: Duration
  /// When something last came from the server; nil while nothing has.
  private(set) var lastArrival: ContinuousClock.Instant?

  init(_ order: TransferOrder, start: ContinuousClock.Instant) {
    self.start = start
    (connectTimeout, stallTimeout) = (order.connectTimeout, order.stallTimeout)
    totalTimeout = order.totalTimeout
  }

  /// Notes that something has come.
  mutating func somethingCame(at now: ContinuousClock.Instant) { lastArrival = now }

  /// When to look at the clock again, and the deadline that has passed by now, if any.
  ///
  /// `connecting` is how long it took until the request could be sent; nil while it could not.
  func check(
    now: ContinuousClock.Instant, connecting: @autoclosure () -> Duration?
  ) -> (next: ContinuousClock.Instant, missed: DownloadError.Deadline?) {
    let total = start + totalTimeout
    if now >= total { return (total, .total) }
    if let lastArrival, lastArrival + stallTimeout > now {
      return (min(total, lastArrival + stallTimeout), nil)
    }

    // The silence counts from when the request could be sent. libcurl itself times the connecting out, except while a
    // transfer waits to share another's connection.
    let connected = connecting()
    let silentSince = lastArrival ?? start + (connected ?? connectTimeout)
    let deadline = silentSince + stallTimeout
    if now < deadline { return (min(total, deadline), nil) }
    return (deadline, lastArrival != nil || connected != nil ? .stall : .connect)
  }
}
