package import Foundation
package import ThumbnailCore

/// Signs the addresses of thumbnails, so that only the holder of the key decides which images are downloaded and
/// resized.
///
/// The signature is the HMAC-SHA256 of the path and of the query before it, in Base64 for URLs:
/// `/thumb/400/https%3A%2F%2Fexample.org%2Fa.jpg?key=1&expires=1800000000&signature=…`.
package struct URLSigner: Sendable {
  /// A secret with its name.
  package struct Key: Sendable, Equatable {
    private static let shortestSecret = 16

    /// The name, which addresses contain, so that keys can be replaced one after the other.
    package let name: String
    let secret: [UInt8]

    /// Parses `NAME:SECRET`, the secret in hexadecimal digits, at least 16 bytes. Nil for anything else.
    package init?(parsing text: some StringProtocol) {
      let parts = text.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, parts[0].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }),
        let secret = Hexadecimal.bytes(parts[1]), secret.count >= Self.shortestSecret
      else { return nil }
      (name, self.secret) = (String(parts[0]), secret)
    }
  }

  private static let marker = "&signature="

  /// The keys; the first one signs.
  private let keys: [Key]

  /// A signer. Nil without keys.
  package init?(keys: [Key]) {
    guard !keys.isEmpty else { return nil }
    self.keys = keys
  }

  /// The path with a query that carries the signature.
  ///
  /// - Parameter expires: The end of the address's validity, in seconds since 1970; nil for none.
  package func sign(_ path: String, expires: Int? = nil) -> String {
    let signed = "\(path)?key=\(keys[0].name)" + (expires.map { "&expires=\($0)" } ?? "")
    return signed + Self.marker + Self.signature(of: signed, keys[0].secret)
  }

  /// Checks the signature of a request's target.
  package func check(_ target: String, now: Date = Date()) throws(InvalidValue) {
    guard let (signed, given) = Self.parts(of: target) else { throw InvalidValue("this address has to be signed") }
    let fields = QueryItems(signed.firstIndex(of: "?").map { signed[signed.index(after: $0)...] })
    guard let key = keys.first(where: { $0.name == fields["key"] }) else {
      throw InvalidValue("the key of the signature is not known")
    }
    guard Token.areEqual(given, Self.signature(of: String(signed), key.secret)) else {
      throw InvalidValue("the signature is not that of this address")
    }
    guard let end = fields["expires"] else { return }
    guard let seconds = Int(end), now.timeIntervalSince1970 < Double(seconds) else {
      throw InvalidValue("this address has expired")
    }
  }

  /// The signed text, and the signature after the last marker, byte by byte.
  private static func parts(of target: String) -> (signed: Substring, signature: Substring)? {
    let bytes = target.utf8
    guard var start = bytes.index(bytes.endIndex, offsetBy: -marker.utf8.count, limitedBy: bytes.startIndex) else {
      return nil
    }
    while !bytes[start...].starts(with: marker.utf8) {
      guard start > bytes.startIndex else { return nil }
      start = bytes.index(before: start)
    }
    return (target[..<start], target[bytes.index(start, offsetBy: marker.utf8.count)...])
  }

  private static func signature(of text: String, _ secret: [UInt8]) -> String {
    Base64URL.encode(HMAC.sha256(Array(text.utf8), key: secret))
  }
}

/// Base64 with the alphabet for URLs (RFC 4648), without padding.
enum Base64URL {
  static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
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

/// The addresses of thumbnails: `/thumb/{options}/{source}`.
package enum ThumbnailAddress {
  /// The characters that need no encoding in a part of a path (RFC 3986: unreserved characters).
  private static let plain = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// The path of a thumbnail.
  ///
  /// - Parameter source: A URL, or a path within the served folder.
  package static func path(options: String, source: String) -> String? {
    let optionCharacters = plain.union(CharacterSet(charactersIn: ",="))
    // The parts of a path stay readable; a URL is one part.
    let sourceCharacters = WebAddress.isURL(source) ? plain : plain.union(CharacterSet(charactersIn: "/"))
    guard let options = options.addingPercentEncoding(withAllowedCharacters: optionCharacters),
      let source = source.addingPercentEncoding(withAllowedCharacters: sourceCharacters), !source.isEmpty
    else { return nil }
    return "/thumb/\(options)/\(source)"
  }
}
