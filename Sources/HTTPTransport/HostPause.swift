/// An event: a host is paused.
package struct HostPause: Sendable, Equatable {
  /// The name, with the port if it is not the default.
  package var host: String
  /// How long from now.
  package var duration: Duration
  /// The last failure, if failures are the reason; nil if the server asked for the pause.
  package var failure: String?
  /// Whether downloads wait until it is over.
  package var isWaitedFor: Bool
}
