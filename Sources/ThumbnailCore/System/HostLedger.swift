package import Foundation

/// What is known of hosts and services by everybody who shares a cache: who wants to be left alone, and when the next
/// request may go.
///
/// Times are those of the clock on the wall, which may jump: whoever reads one that is further ahead than makes sense
/// takes it for none.
package protocol HostLedger: Sendable {
  /// All records, if any may have changed since the last call; nil otherwise. Takes a system call.
  func news() -> [HostLedgerKey: HostRecord]?

  /// Changes a record with nobody between, and returns what the change returns. A record that holds nothing any more
  /// leaves by itself.
  func update<Value: Sendable>(
    _ key: HostLedgerKey, _ change: @escaping @Sendable (inout HostRecord) -> Value
  ) async -> Value

  /// The same for whoever need not wait for it.
  func note(_ key: HostLedgerKey, _ change: @escaping @Sendable (inout HostRecord) -> Void)

  /// Waits until everything noted so far can be read by others.
  func flush() async
}

/// What a record is of.
package struct HostLedgerKey: Hashable, Sendable {
  package let text: String

  package init(text: String) {
    self.text = text
  }

  /// A host that pictures and answers come from: scheme, name and port.
  package static func host(_ site: String) -> HostLedgerKey { HostLedgerKey(text: "host \(site)") }
  /// A service that counts its requests.
  package static func service(_ name: String, at base: String) -> HostLedgerKey {
    HostLedgerKey(text: "service \(name) \(base)")
  }

  /// The site of a host's record; nil of another.
  package var site: String? { text.hasPrefix("host ") ? String(text.dropFirst(5)) : nil }
}

/// What is known of one host or service.
package struct HostRecord: Codable, Sendable, Equatable {
  /// Nothing is asked before.
  package var until: Date?
  /// The last failure, where failures are the reason; nil where it wants to be left alone itself.
  package var failure: String?
  /// How often in a row.
  package var strikes = 0
  /// When the next request of a service would start, had all kept their distance.
  package var due: Date?

  package init(until: Date? = nil, failure: String? = nil, strikes: Int = 0, due: Date? = nil) {
    self.until = until
    self.failure = failure
    self.strikes = strikes
    self.due = due
  }

  /// Whether it still says something.
  package func counts(at now: Date) -> Bool { until.map { $0 > now } ?? false || due.map { $0 > now } ?? false }
}
