package import HTTPSemantics

/// What the observer of a body wants to happen next.
package enum BodyVerdict: Sendable {
  /// Go on: more bytes are needed.
  case more
  /// Stop here: what has arrived is all that is needed. The download succeeds with the bytes so far.
  case enough
  /// Stop here: this picture will not be read. The download fails; the observer keeps the reason.
  case refuse
}

/// Sees the bytes of a body as they arrive and can end the transfer early.
///
/// All calls come from one thread at a time, in order, and must return within microseconds: every other transfer waits
/// for them.
package protocol BodyObserver: AnyObject, Sendable {
  /// The head of a response has come, be it an error's. The last one of a download is that of its outcome.
  func responseBegins(status: Int, headers: [HTTPHeader])

  /// A new attempt begins: whatever was seen before is void. `expectedLength` is the announced length in bytes, if any.
  func bodyBegins(expectedLength: Int?)

  /// The next piece of the body. `bytes` is valid during the call only and starts `offset` bytes into the body.
  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict
}

extension BodyObserver {
  package func responseBegins(status: Int, headers: [HTTPHeader]) {}
}
