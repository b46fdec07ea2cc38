package import FoundationEssentials

/// The state of hosts and services, shared by all processes with the same cache: until when a host is held, and when
/// the next request may be sent.
///
/// Times are wall-clock times, which may jump: readers ignore one that is implausibly far ahead.
package protocol HostLedger: Sendable {
  /// All records, if any may have changed since the last call; nil otherwise. Costs one system call.
  func news() -> [HostLedgerKey: HostRecord]?

  /// Changes a record atomically, and returns the result of the closure. Expired records are removed automatically.
  func update<Value: Sendable>(
    _ key: HostLedgerKey, _ change: @escaping @Sendable (inout HostRecord) -> Value
  ) async -> Value

  /// The same, without waiting for the result.
  func note(_ key: HostLedgerKey, _ change: @escaping @Sendable (inout HostRecord) -> Void)

  /// Waits until all changes noted so far are visible to others.
  func flush() async
}

/// Identifies a record.
package struct HostLedgerKey: Hashable, Sendable {
  package let text: String

  package init(text: String) {
    self.text = text
  }

  /// A host that images or API responses come from: scheme, name and port.
  package static func host(_ site: String) -> HostLedgerKey { HostLedgerKey(text: "host \(site)") }
  /// A service with a rate limit.
  package static func service(_ name: String, at base: String) -> HostLedgerKey {
    HostLedgerKey(text: "service \(name) \(base)")
  }

  /// The site of a host's record; nil for other records.
  package var site: String? { text.hasPrefix("host ") ? String(text.dropFirst(5)) : nil }
}

/// The state of one host or service.
package struct HostRecord: Codable, Sendable, Equatable {
  /// No request is sent before this time.
  package var until: Date?
  /// The last failure, if failures are the reason; nil if the server asked for the pause.
  package var failure: String?
  /// The number of consecutive holds.
  package var strikes = 0
  /// The start of the next request to a service, at its rate of requests.
  package var due: Date?

  package init(until: Date? = nil, failure: String? = nil, strikes: Int = 0, due: Date? = nil) {
    self.until = until
    self.failure = failure
    self.strikes = strikes
    self.due = due
  }

  /// Whether it is still in effect.
  package func counts(at now: Date) -> Bool { until.map { $0 > now } ?? false || due.map { $0 > now } ?? false }
}
