package import HTTPSemantics

/// An observer's decision about the rest of a body.
package enum BodyVerdict: Sendable {
  /// Continue: more bytes are needed.
  case more
  /// Stop: the bytes received so far suffice. The download succeeds with them.
  case enough
  /// Stop: this image will not be decoded. The download fails; the observer keeps the reason.
  case refuse
}

/// Sees the bytes of a body as they arrive and can end the transfer early.
///
/// Calls are serialised and in order, and must return within microseconds: every other transfer waits for them.
package protocol BodyObserver: AnyObject, Sendable {
  /// The head of a response has arrived, error statuses included. The last call of a download is about its final
  /// response.
  func responseBegins(status: Int, headers: [HTTPHeader])

  /// A new attempt begins: everything seen before is void. `expectedLength` is the announced length in bytes, if any.
  func bodyBegins(expectedLength: Int?)

  /// The next chunk of the body. `bytes` is valid only during the call and starts `offset` bytes into the body.
  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict
}

extension BodyObserver {
  package func responseBegins(status: Int, headers: [HTTPHeader]) {}
}
