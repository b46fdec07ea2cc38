/// What there is to tell of a host that is left alone for a while.
package struct HostNews: Sendable, Equatable {
  /// The name, and the port where it is not the usual one.
  package var host: String
  /// From now on.
  package var pause: Duration
  /// The last failure, of a host that was closed after some; nil where it asks for the pause itself.
  package var failure: String?
  /// Whether somebody waits until it is over.
  package var isWaitedFor: Bool
}
