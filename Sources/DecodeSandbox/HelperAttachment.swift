import ImageCodec

/// What follows a message on the socket; its length is known from the message.
enum HelperAttachment {
  case bytes([UInt8])
  /// The samples of a thumbnail.
  case samples(Raster)

  /// Passes the bytes to `body`; they are valid during the call.
  func withBytes(_ body: (UnsafeRawBufferPointer) throws(HelperFailure) -> Void) throws(HelperFailure) {
    switch self {
    case .bytes(let bytes):
      var failure: HelperFailure?
      bytes.withUnsafeBytes { bytes in
        do throws(HelperFailure) { try body(bytes) } catch { failure = error }
      }
      if let failure { throw failure }
    case .samples(let raster): try raster.withBytes(body)
    }
  }
}
