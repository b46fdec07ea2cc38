import CGLib
import Foundation

/// HMAC-SHA256 (RFC 2104), computed by GLib's `GHmac`.
enum HMAC {
  private static let byteCount = 32

  static func sha256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    guard let hmac = g_hmac_new(G_CHECKSUM_SHA256, key, gsize(key.count)) else {
      // GLib returns nil only for unknown checksum types.
      preconditionFailure("GLib has no SHA-256")
    }
    defer { g_hmac_unref(hmac) }
    g_hmac_update(hmac, bytes, gssize(bytes.count))
    return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      var length = gsize(byteCount)
      g_hmac_get_digest(hmac, buffer.baseAddress, &length)
      count = Int(length)
    }
  }
}

/// Base64 with the alphabet for URLs (RFC 4648), without padding.
enum Base64URL {
  static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let plain = String(text).replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
    let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
    return Data(base64Encoded: plain + padding).map { Array($0) }
  }
}

/// Bytes as hexadecimal digits.
enum Hexadecimal {
  static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
