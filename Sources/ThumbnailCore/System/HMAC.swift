import CGLib

/// HMAC-SHA256 (RFC 2104), computed by GLib's `GHmac`.
package enum HMAC {
  private static let byteCount = 32

  /// The code of some bytes with a key: 32 bytes.
  package static func sha256(_ bytes: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
    guard let hmac = g_hmac_new(G_CHECKSUM_SHA256, key, gsize(key.count)) else {
      // GLib returns nil only for unknown checksum types.
      preconditionFailure("GLib has no SHA-256")
    }
    defer { g_hmac_unref(hmac) }
    let bytes = Array(bytes)
    g_hmac_update(hmac, bytes, gssize(bytes.count))
    return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      var length = gsize(byteCount)
      g_hmac_get_digest(hmac, buffer.baseAddress, &length)
      count = Int(length)
    }
  }
}
