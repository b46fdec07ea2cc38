package import FoundationEssentials

/// The header fields of a response that determine how long it is fresh (RFC 9111, 4.2), and its validators (4.3). A
/// pure value; the current time is passed in.
///
/// An invalid value counts as the strictest one in fields about freshness, and as missing in validators.
package struct ResponseMetadata: Sendable, Equatable {
  /// How long a response without any freshness information is fresh, in seconds: a week.
  static let defaultLifetime = 7 * 86_400.0
  /// The limit of heuristic freshness, a tenth of the time since `Last-Modified`, in seconds: a week.
  static let longestHeuristicLifetime = 7 * 86_400.0
  /// The limit of any freshness lifetime, in seconds: a year.
  static let longestLifetime = 365 * 86_400.0
  /// Longer values are dropped: truncated they would mean something else.
  private static let longestValue = 1024

  /// `ETag`.
  package var etag: String?
  /// `Last-Modified`.
  package var lastModified: String?
  /// `Cache-Control`, all its lines.
  package var cacheControl: String?
  /// `Expires`, all its lines.
  package var expires: String?
  /// `Vary`, all its lines. Only `*` matters, since images are always requested with the same fields.
  package var vary: String?

  /// Extracts the relevant fields of a response.
  package init(_ headers: [HTTPHeader] = []) {
    etag = Self.named(headers.firstValue(of: "ETag")).flatMap { Self.namesOneBody($0) ? $0 : nil }
    lastModified = Self.named(headers.firstValue(of: "Last-Modified"))
    cacheControl = Self.joined("Cache-Control", of: headers)
    expires = Self.joined("Expires", of: headers)
    vary = Self.joined("Vary", of: headers)
  }

  /// The stored metadata, updated by the fields of a 304 response.
  package func updated(by headers: [HTTPHeader]) -> ResponseMetadata {
    let news = ResponseMetadata(headers)
    var result = self
    result.etag = news.etag ?? etag
    result.lastModified = news.lastModified ?? lastModified
    result.cacheControl = news.cacheControl ?? cacheControl
    result.expires = news.expires ?? expires
    result.vary = news.vary ?? vary
    return result
  }

  /// The parsed `Cache-Control`.
  package var control: CacheControl { CacheControl(cacheControl ?? "") }

  /// The fields that make a request conditional. Empty without a validator that can be sent.
  package var conditions: [HTTPHeader] {
    var fields: [HTTPHeader] = []
    if let etag { fields.append(HTTPHeader("If-None-Match", etag)) }
    // A server would ignore an invalid date, or compare it as a string.
    if let lastModified, HTTPDate.parse(lastModified) != nil {
      fields.append(HTTPHeader("If-Modified-Since", lastModified))
    }
    return fields.filter(\.isWellFormed)
  }

  /// Whether a 304 with these fields is about this response: it may omit the `ETag`, but not name a different one, nor
  /// a different `Last-Modified` if there are no tags to compare.
  package func isConfirmed(by headers: [HTTPHeader]) -> Bool {
    if let etag, let other = headers.firstValue(of: "ETag") {
      func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
      return opaque(etag) == opaque(other)
    }
    let times = [lastModified, headers.firstValue(of: "Last-Modified")].map { $0.flatMap { HTTPDate.parse($0) } }
    return times.contains(nil) || times[0] == times[1]
  }

  /// Until when the response is fresh that arrived at `now`, `delay` seconds after the request was sent.
  ///
  /// - Parameter headers: The fields of the response that just arrived. Those of a 304 are only a part of the metadata.
  package func freshness(_ headers: [HTTPHeader], receivedAt now: Date, delay: Double) -> Freshness {
    let date = headers.firstValue(of: "Date").flatMap { HTTPDate.parse($0, now: now) }
    let apparentAge = date.map { now.timeIntervalSince($0) } ?? 0
    // An invalid `Age` is ignored; the other fields may still be right. Of several values the first counts (RFC 9111,
    // 5.1).
    let ages = headers.firstValue(of: "Age")?.split(separator: ",", omittingEmptySubsequences: false)
    let age = CacheControl.seconds(ages?.first?.trimmingSpaces()) ?? 0
    let initialAge = max(0, apparentAge, age + max(0, delay))
    let lifetime = min(lifetime(date: date ?? now, now: now), Self.longestLifetime)
    return Freshness(confirmed: now, expires: now.addingTimeInterval(lifetime - initialAge))
  }

  /// The latest time until which a response of that status may be kept, as far as the server has specified it (see
  /// `freshness`); not after `now` if it must not be kept. Nil if the server leaves it to the cache.
  package func statedEnd(_ headers: [HTTPHeader], status: Int, receivedAt now: Date, delay: Double) -> Date? {
    if hasExplicitLifetime { return freshness(headers, receivedAt: now, delay: delay).expires }
    return Self.isHeuristicallyCacheable(status) ? nil : now
  }

  /// Whether a response may be stored: not with `no-store`, and without an explicit lifetime only if its status allows
  /// heuristic freshness.
  package func mayBeStored(status: Int) -> Bool {
    !control.forbidsStoring && (control.maximumAge != nil || expires != nil || Self.isHeuristicallyCacheable(status))
  }

  /// Whether a response of that status is cacheable by default, without an explicit lifetime (RFC 9110, 15.1). 201 and
  /// 202 announce an image that is still being made, and 204 has none.
  private static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    [200, 203, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }

  /// Whether the server has specified a lifetime, or that the response is never fresh.
  private var hasExplicitLifetime: Bool {
    let control = control
    return control.maximumAge != nil || expires != nil || control.requiresRevalidation || control.forbidsStoring
      || variesByAnything
  }

  /// The freshness lifetime in seconds, counted from when the response was generated.
  private func lifetime(date: Date, now: Date) -> Double {
    let control = control
    if control.requiresRevalidation || control.forbidsStoring || variesByAnything { return 0 }
    if let age = control.maximumAge { return age }
    if let expires {
      // Invalid values, such as the common "0", mean the past.
      return HTTPDate.parse(expires, now: now).map { max(0, $0.timeIntervalSince(date)) } ?? 0
    }
    if let changed = lastModified.flatMap({ HTTPDate.parse($0, now: now) }) {
      return min(max(0, date.timeIntervalSince(changed) / 10), Self.longestHeuristicLifetime)
    }
    return Self.defaultLifetime
  }

  /// Whether no later request can be known to match the response (`Vary: *`).
  package var variesByAnything: Bool {
    vary?.split(separator: ",").contains { $0.trimmingSpaces() == "*" } ?? false
  }

  private static func named(_ value: String?) -> String? {
    value.flatMap { $0.isEmpty || $0.utf8.count > longestValue ? nil : $0 }
  }

  /// Whether an `ETag` can be sent in a condition. `*` would match any body, and a comma outside quotes would make a
  /// list, so the server could confirm a different body.
  private static func namesOneBody(_ tag: String) -> Bool {
    let opaque = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    let isQuoted = opaque.count >= 2 && opaque.hasPrefix("\"") && opaque.hasSuffix("\"")
    // Some servers send tags without quotes, and compare them as they are.
    return isQuoted ? !opaque.dropFirst().dropLast().contains("\"") : !opaque.contains { "*,\" \t".contains($0) }
  }

  /// All lines of a field, joined. A value that is too long is replaced by one that is never fresh.
  private static func joined(_ name: String, of headers: [HTTPHeader]) -> String? {
    let lines = headers.filter { $0.name.isSameField(as: name) }.map(\.value)
    guard !lines.isEmpty else { return nil }
    let text = lines.joined(separator: ", ")
    guard text.utf8.count > longestValue else { return text }
    switch name {
    case "Cache-Control": return CacheControl(text).forbidsStoring ? "no-store" : "no-cache, must-revalidate"
    case "Expires": return "0"
    default: return "*"
    }
  }
}
