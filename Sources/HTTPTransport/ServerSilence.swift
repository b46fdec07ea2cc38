/// Whether a download waits for a server that has fallen silent.
package enum ServerSilence: Sendable {
  /// It answers, as far as is known.
  case answering
  /// Its transfer brings nothing.
  case silent
  /// Its transfer brought nothing for so long that it was ended; it is tried again after the others.
  case putOff
}
