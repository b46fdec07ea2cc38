/// Whether a download waits for a server that has fallen silent.
enum ServerSilence: Sendable {
  case none
  /// Its transfer brings nothing.
  case silent
  /// Its transfer brought nothing for so long that it was ended; it is tried again after the others.
  case putOff
}
