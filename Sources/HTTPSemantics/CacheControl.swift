import Foundation

/// The directives of `Cache-Control` that concern a cache of one user's own (RFC 9111, 5.2.2). `private`, `public`,
/// `s-maxage` and `proxy-revalidate` are for shared caches. `immutable` need not be made use of: what is fresh is not asked for again, unless the user says so.
package struct CacheControl: Sendable, Equatable {
  /// For how many seconds the answer is fresh; 0 where the value makes no sense. Nil where nothing is said.
  private(set) var maximumAge: Double?
  /// The answer must not be kept.
  package private(set) var forbidsStoring = false
  /// The answer must not be used without asking again, however young it is.
  package private(set) var asksEveryTime = false
  /// A stale answer must not be used, not even when the server cannot be asked.
  package private(set) var forbidsStale = false
  /// For how many seconds a stale answer may be used when the server answers with an error. Nil where nothing is said.
  package private(set) var staleIfError: Double?
  /// For how many seconds a stale answer may be used while it is asked about (RFC 5861, 3). Nil where nothing is said.
  package private(set) var staleWhileRevalidate: Double?

  /// Reads the field's value, all its lines joined by commas. What it does not know it passes over.
  init(_ text: String) {
    var mayBeUnderstood = false
    for (name, value) in Self.directives(text) {
      switch name {
      // Of several the strictest.
      case "max-age": maximumAge = min(maximumAge ?? .infinity, Self.seconds(value) ?? 0)
      case "no-store": forbidsStoring = true
      case "must-understand": mayBeUnderstood = true
      // With a value, it concerns the fields named there, none of which is kept.
      case "no-cache": if value?.isEmpty != false { asksEveryTime = true }
      case "must-revalidate": forbidsStale = true
      case "stale-if-error": staleIfError = min(staleIfError ?? .infinity, Self.seconds(value) ?? 0)
      case "stale-while-revalidate":
        staleWhileRevalidate = min(staleWhileRevalidate ?? .infinity, Self.seconds(value) ?? 0)
      default: break
      }
    }
    // Who understands the status, as we do that of a picture, need not heed `no-store` beside it.
    if mayBeUnderstood { forbidsStoring = false }
  }

  /// Whole seconds. What is beyond 68 years counts as that much (RFC 9111, 1.2.2). Nil for anything else.
  static func seconds(_ value: String?) -> Double? {
    guard let value, !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Double(value).map { min($0, 2_147_483_648) }
  }

  /// Names in lower case, each with its value. Commas part them, and so do the semicolons that some servers write. Within
  /// quotes they part nothing; a quote that is never closed quotes nothing, or it would hide what stands behind it.
  private static func directives(_ text: String) -> [(name: String, value: String?)] {
    var pieces: [String] = []
    var piece = ""
    var isQuoted = false
    let isClosed = text.count { $0 == "\"" }.isMultiple(of: 2)
    for character in text {
      if character == "\"", isClosed { isQuoted.toggle() }
      if character == "," || character == ";", !isQuoted {
        pieces.append(piece)
        piece = ""
      } else {
        piece.append(character)
      }
    }
    return (pieces + [piece]).compactMap { piece in
      let parts = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard let name = parts.first, !name.isEmpty else { return nil }
      return (name.lowercased(), parts.count > 1 ? parts[1].trimmingCharacters(in: ["\"", " "]) : nil)
    }
  }
}
