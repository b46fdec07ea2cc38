import ThumbnailCore

/// A request's target for a log: without keys and signatures, in any spelling, and with the addresses of sources
/// without user names, passwords, queries and fragments.
enum LoggedTarget {
  /// The fields of a query that are shown; other fields may belong to an address that was not encoded, so only their
  /// names are shown.
  private static let plainFields: Set<String> = [
    "url", "host", "prefix", "operations", "expires",
  ]
  private static let secretFields: Set<String> = ["signature", "key", "password"]
  private static let hidden = "***"
  /// Addresses may be encoded more than once.
  private static let mostDecodings = 4

  static func text(of target: String) -> String {
    let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
    let path = target[..<mark]
    let parts = path.split(separator: "/", maxSplits: 2)
    let shown =
      switch parts.first {
      case "login" where parts.count > 1: "/login/\(hidden)"
      case Route.linkPrefix where parts.count > 1: "/s/\(hidden)/\(parts.dropFirst(2).joined())"
      case "api" where parts.count > 2 && parts[1] == "zip": "/api/zip/\(hidden)"
      case "imgproxy": "/imgproxy/\(hidden)"
      case "thumb" where parts.count > 2: "/thumb/\(parts[1])/\(source(parts[2]))"
      default: source(path)
      }
    guard mark < target.endIndex else { return shown }
    let namesSource = Route(path: Route.parts(of: target)).namesSource
    let fields = target[mark...].dropFirst().split(separator: "&").map { field($0, showsAll: !namesSource) }
    return "\(shown)?\(fields.joined(separator: "&"))"
  }

  private static func field(_ field: Substring, showsAll: Bool) -> String {
    let name = field.prefix { $0 != "=" }
    let plainName = decoded(name)
    guard !secretFields.contains(plainName), showsAll || plainFields.contains(plainName) else {
      return "\(name)=\(hidden)"
    }
    return name.endIndex < field.endIndex ? "\(name)=\(source(field[name.endIndex...].dropFirst()))" : String(field)
  }

  /// A source as it was sent, or the public part of an address.
  private static func source(_ text: Substring) -> String {
    let plain = decoded(text)
    guard plain.contains("://") else { return String(text) }
    var shown = ""
    var rest = plain.prefix { $0 != "?" && $0 != "#" }
    while let scheme = rest.range(of: "://") {
      shown += rest[..<scheme.upperBound]
      rest = rest[scheme.upperBound...]
      if let login = rest.prefix(while: { $0 != "/" }).lastIndex(of: "@") { rest = rest[login...].dropFirst() }
    }
    return shown + rest
  }

  /// A text without percent-encoding; invalid encodings stay.
  private static func decoded(_ text: Substring) -> String {
    var text = String(text)
    for _ in 0..<mostDecodings where text.utf8.contains(UInt8(ascii: "%")) {
      text = String(decoding: RawPath(percentEncoded: text).bytes, as: UTF8.self)
    }
    return text
  }
}

extension Route {
  /// Whether addresses of this route name a source.
  fileprivate var namesSource: Bool { [.thumb, .imaginary, .cache].contains(self) }
}
