import Glibc

/// The directives of `Cache-Control` that matter to a private cache (RFC 9111, 5.2.2). `private`, `public`, `s-maxage`
/// and `proxy-revalidate` concern shared caches only. `immutable` is ignored: a fresh response is not revalidated
/// unless the user says so.
package struct CacheControl: Sendable, Equatable {
  /// The time that the response is fresh, in seconds; 0 for an invalid value. Nil if the directive is missing.
  private(set) var maximumAge: Double?
  /// The response must not be stored.
  package private(set) var forbidsStoring = false
  /// The response must be revalidated before every use, however young it is (`no-cache`).
  package private(set) var requiresRevalidation = false
  /// A stale response must not be used, even when the server cannot be reached (`must-revalidate`).
  package private(set) var mustRevalidate = false
  /// The time that a stale response may be used when the server responds with an error, in seconds. Nil if the
  /// directive is missing.
  package private(set) var staleIfError: Double?
  /// The time that a stale response may be used while it is revalidated, in seconds (RFC 5861, 3). Nil if it is
  /// missing.
  package private(set) var staleWhileRevalidate: Double?

  /// Parses the field's value, all its lines joined by commas. Unknown directives are ignored.
  init(_ text: String) {
    var mayBeUnderstood = false
    for (name, value) in Self.directives(text) {
      switch name {
      // The strictest one of several counts.
      case "max-age": maximumAge = min(maximumAge ?? .infinity, Self.seconds(value) ?? 0)
      case "no-store": forbidsStoring = true
      case "must-understand": mayBeUnderstood = true
      // With a value, it applies only to the fields named there, and none of these is stored.
      case "no-cache": if value?.isEmpty != false { requiresRevalidation = true }
      case "must-revalidate": mustRevalidate = true
      case "stale-if-error": staleIfError = min(staleIfError ?? .infinity, Self.seconds(value) ?? 0)
      case "stale-while-revalidate":
        staleWhileRevalidate = min(staleWhileRevalidate ?? .infinity, Self.seconds(value) ?? 0)
      default: break
      }
    }
    // A cache that understands the status code, as this one does for images, may ignore `no-store` beside
    // `must-understand`.
    if mayBeUnderstood { forbidsStoring = false }
  }

  /// A whole number of seconds, capped at 2³¹, 68 years (RFC 9111, 1.2.2). Nil for anything else.
  static func seconds(_ value: String?) -> Double? {
    guard let value, !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Double(value).map { min($0, 2_147_483_648) }
  }

  /// The directives, names in lower case. They are separated by commas, or by the semicolons that some servers send,
  /// unless within quotes. An unclosed quote is ignored, because it would hide everything after it.
  private static func directives(_ text: String) -> [(name: String, value: String?)] {
    let quote = UInt8(ascii: "\"")
    var isQuoted = false
    let isClosed = text.utf8.count { $0 == quote }.isMultiple(of: 2)
    let pieces = text.utf8.split { byte in
      if byte == quote, isClosed { isQuoted.toggle() }
      return !isQuoted && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";"))
    }
    return pieces.compactMap { piece in
      let parts = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        .map { Substring($0).trimmingSpaces() }
      guard let name = parts.first, !name.isEmpty else { return nil }
      return (name.lowercased(), parts.count > 1 ? parts[1].trimming { $0 == 0x22 || $0 == 0x20 } : nil)
    }
  }
}
