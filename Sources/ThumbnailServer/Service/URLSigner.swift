package import Foundation

/// Signs the addresses of thumbnails, so that only the holder of the key decides what is fetched and made.
///
/// The signature is the HMAC-SHA256 of the path and of the query before it, in Base64 for URLs:
/// `/thumb/400/https%3A%2F%2Fexample.org%2Fa.jpg?key=1&expires=1800000000&signature=…`.
package struct URLSigner: Sendable {
  /// A secret with its name.
  package struct Key: Sendable, Equatable {
    private static let shortestSecret = 16

    /// The name, which addresses carry, so that keys can be replaced one after the other.
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

  /// Why an address is not accepted.
  package enum Refusal: Error, Equatable {
    case unsigned, unknownKey, expired, altered
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
  /// - Parameter expires: Until when the address is good, in seconds since 1970; nil for ever.
  package func sign(_ path: String, expires: Int? = nil) -> String {
    let signed = "\(path)?key=\(keys[0].name)" + (expires.map { "&expires=\($0)" } ?? "")
    return signed + Self.marker + Self.signature(of: signed, keys[0].secret)
  }

  /// Checks the signature of a request's target.
  package func check(_ target: String, now: Date = Date()) throws(Refusal) {
    guard let (signed, given) = Self.parts(of: target) else { throw .unsigned }
    let fields = QueryItems(signed.firstIndex(of: "?").map { signed[signed.index(after: $0)...] })
    guard let key = keys.first(where: { $0.name == fields["key"] }) else { throw .unknownKey }
    guard Token.areEqual(given, Self.signature(of: String(signed), key.secret)) else {
      throw .altered
    }
    guard let end = fields["expires"] else { return }
    guard let seconds = Int(end), now.timeIntervalSince1970 < Double(seconds) else { throw .expired }
  }

  /// What is signed, and the signature: what follows the last marker, byte by byte.
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
