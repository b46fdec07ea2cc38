package import Foundation

/// The header fields of an answer that say for how long it may be used (RFC 9111, 4.2), and by what to ask whether it
/// still is what the server has (4.3). A pure value; dates come from outside.
///
/// A value that makes no sense counts as the strictest one where the field says how long an answer is fresh, and as
/// absent where it only names the answer.
package struct ResponseMetadata: Sendable, Equatable {
  /// An answer that says nothing about itself is fresh for so long, in seconds: a week.
  static let defaultLifetime = 7 * 86_400.0
  /// What only says when it was changed is fresh for a tenth of the time since, but no longer than this, in seconds.
  static let longestGuess = 7 * 86_400.0
  /// No answer is fresh for longer than this, in seconds, whatever it says: a year.
  static let longestLifetime = 365 * 86_400.0
  /// Longer values are not kept: cut short they would mean something else.
  private static let longestValue = 1024

  /// `ETag`.
  package var etag: String?
  /// `Last-Modified`.
  package var lastModified: String?
  /// `Cache-Control`, all its lines.
  package var cacheControl: String?
  /// `Expires`, all its lines.
  package var expires: String?
  /// `Vary`, all its lines. Only `*` matters: a picture is always asked for with the same fields.
  package var vary: String?

  /// Takes what matters out of an answer's fields.
  package init(_ headers: [HTTPHeader] = []) {
    etag = Self.named(headers.firstValue(of: "ETag")).flatMap { Self.namesOneBody($0) ? $0 : nil }
    lastModified = Self.named(headers.firstValue(of: "Last-Modified"))
    cacheControl = Self.joined("Cache-Control", of: headers)
    expires = Self.joined("Expires", of: headers)
    vary = Self.joined("Vary", of: headers)
  }

  /// What was known before with what an answer without a body (304) says in its place.
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

  /// What `Cache-Control` says.
  package var control: CacheControl { CacheControl(cacheControl ?? "") }

  /// The fields that ask for the body only if it is another by now. Empty where there is no way to ask.
  package var conditions: [HTTPHeader] {
    var fields: [HTTPHeader] = []
    if let etag { fields.append(HTTPHeader("If-None-Match", etag)) }
    // What is no date would be passed over by the server, or compared as a text.
    if let lastModified, HTTPDate.parse(lastModified) != nil {
      fields.append(HTTPHeader("If-Modified-Since", lastModified))
    }
    return fields
  }

  /// Whether a 304 with these fields speaks of this answer: it may leave the tag out, but not name another, and neither
  /// another time where there are no tags to compare.
  package func isConfirmed(by headers: [HTTPHeader]) -> Bool {
    if let etag, let other = headers.firstValue(of: "ETag") {
      func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
      return opaque(etag) == opaque(other)
    }
    let times = [lastModified, headers.firstValue(of: "Last-Modified")].map { $0.flatMap { HTTPDate.parse($0) } }
    return times.contains(nil) || times[0] == times[1]
  }

  /// How long the answer may be used that came at `now`, `delay` seconds after it was asked for.
  ///
  /// - Parameter headers: Of the answer that came now, which for a 304 are not all that count.
  package func freshness(_ headers: [HTTPHeader], receivedAt now: Date, delay: Double) -> Freshness {
    let date = headers.firstValue(of: "Date").flatMap { HTTPDate.parse($0, now: now) }
    let apparentAge = date.map { now.timeIntervalSince($0) } ?? 0
    // One that makes no sense is passed over; whoever sent it may still have told the truth in the others.
    // Of several on one line the first counts (RFC 9111, 5.1).
    let ages = headers.firstValue(of: "Age")?.split(separator: ",", omittingEmptySubsequences: false)
    let age = CacheControl.seconds(ages?.first?.trimmingCharacters(in: .whitespaces)) ?? 0
    let initialAge = max(0, apparentAge, age + max(0, delay))
    let lifetime = min(lifetime(date: date ?? now, now: now), Self.longestLifetime)
    return Freshness(confirmed: now, expires: now.addingTimeInterval(lifetime - initialAge))
  }

  /// Until when a response of that status may be kept at most, as far as its server has said, be it that it must not be
  /// kept at all; see `freshness`. Nil where it leaves that to us.
  package func statedEnd(_ headers: [HTTPHeader], status: Int, receivedAt now: Date, delay: Double) -> Date? {
    if saysHowLong { return freshness(headers, receivedAt: now, delay: delay).expires }
    return Self.isKeptByGuess(status) ? nil : now
  }

  /// Whether a response may be kept: not where that is forbidden, nor by guess where its status does not allow it.
  package func mayBeStored(status: Int) -> Bool {
    !control.forbidsStoring && (control.maximumAge != nil || expires != nil || Self.isKeptByGuess(status))
  }

  /// Whether a response of that status may be kept though it does not say for how long (RFC 9110, 15.1). 201 and 202 tell
  /// of an image that is being made, and 204 has none.
  private static func isKeptByGuess(_ status: Int) -> Bool {
    [200, 203, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }

  /// Whether the server has said for how long the response is fresh, or that it never is.
  private var saysHowLong: Bool {
    let control = control
    return control.maximumAge != nil || expires != nil || control.asksEveryTime || control.forbidsStoring
      || variesByAnything
  }

  /// For how many seconds the answer is fresh from the moment it was made.
  private func lifetime(date: Date, now: Date) -> Double {
    let control = control
    if control.asksEveryTime || control.forbidsStoring || variesByAnything { return 0 }
    if let age = control.maximumAge { return age }
    if let expires {
      // Among those that make no sense is "0", which stands for the past.
      return HTTPDate.parse(expires, now: now).map { max(0, $0.timeIntervalSince(date)) } ?? 0
    }
    if let changed = lastModified.flatMap({ HTTPDate.parse($0, now: now) }) {
      return min(max(0, date.timeIntervalSince(changed) / 10), Self.longestGuess)
    }
    return Self.defaultLifetime
  }

  /// Whether the response is never known to be the one for a request (`Vary: *`).
  package var variesByAnything: Bool {
    vary?.split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == "*" } ?? false
  }

  private static func named(_ value: String?) -> String? {
    value.flatMap { $0.isEmpty || $0.utf8.count > longestValue ? nil : $0 }
  }

  /// Whether a tag is one, as a condition takes it. `*` would stand for any body there, and a comma outside of quotes
  /// makes a list: a server that is asked so would confirm what it was not asked about.
  private static func namesOneBody(_ tag: String) -> Bool {
    let opaque = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    let isQuoted = opaque.count >= 2 && opaque.hasPrefix("\"") && opaque.hasSuffix("\"")
    // Some servers leave the quotes out, and compare what comes back as it is.
    return isQuoted ? !opaque.dropFirst().dropLast().contains("\"") : !opaque.contains { "*,\" \t".contains($0) }
  }

  /// All the lines of a field. Too long a value becomes one that is never fresh.
  private static func joined(_ name: String, of headers: [HTTPHeader]) -> String? {
    let lines = headers.filter { $0.name.caseInsensitiveCompare(name) == .orderedSame }.map(\.value)
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
