/// How long libcurl keeps what it knows of a host, its addresses and idle connections: the time in which the last
/// thousand hosts came, at most a minute.
///
/// At the end of each transfer libcurl goes through all addresses that it keeps, and for each connection above its limit
/// through all hosts that ever had one (version 7.88 never forgets a host whose last connection it has dropped for that
/// reason). Of tens of thousands of hosts that takes longer than the transfers. A pure value: the caller passes the
/// time.
struct HostTurnover {
  private static let longest = 60
  private static let maximumHosts = 1000

  /// The time in seconds, as libcurl takes it: from 1 to 60.
  private(set) var seconds = longest
  private var hosts: Set<String> = []
  private var begin: ContinuousClock.Instant

  init(start: ContinuousClock.Instant) { begin = start }

  /// Whether a connection is better closed if no other download waits for its host.
  var isHigh: Bool { seconds < Self.longest }

  /// A transfer from this host begins.
  mutating func use(_ host: String, at now: ContinuousClock.Instant) {
    let elapsed = now - begin
    if elapsed >= .seconds(Self.longest) || hosts.count >= Self.maximumHosts {
      seconds = min(max(Int(elapsed.components.seconds), 1), Self.longest)
      hosts = []
      begin = now
    }
    hosts.insert(host)
  }
}
