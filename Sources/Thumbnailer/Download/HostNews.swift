/// What there is to tell of a host that is left alone for a while.
struct HostNews: Sendable, Equatable {
  /// The name, and the port where it is not the usual one.
  var host: String
  /// From now on.
  var pause: Duration
  /// The last failure, of a host that was closed after some; nil where it asks for the pause itself.
  var failure: String?
  /// Whether somebody waits until it is over.
  var isWaitedFor: Bool
}
