/// Whether a download waits for a silent server.
package enum ServerSilence: Sendable {
  /// It responds, as far as is known.
  case responding
  /// Its transfer receives nothing.
  case silent
  /// Its transfer received nothing for so long that it was stopped; it is retried after the others.
  case deferred
}
