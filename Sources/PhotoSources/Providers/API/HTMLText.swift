import Foundation

/// The text of an HTML fragment; some APIs return names and titles as HTML.
enum HTMLText {
  private static let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " "]
  /// Elements whose content is not displayed.
  private static let unseen: Set<String> = ["style", "script", "template"]
  /// Void elements, which have no closing tag.
  private static let empty: Set<String> = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
  ]

  /// The text without tags, comments and hidden elements, with entities resolved. White space is kept.
  static func plain(_ html: String) -> String {
    guard html.contains("<") || html.contains("&") else { return html }
    var text = ""
    var rest = Substring(html)
    while let mark = rest.firstIndex(where: { $0 == "<" || $0 == "&" }) {
      text += rest[..<mark]
      rest = rest[mark...]
      if rest.first == "&" {
        text += takeEntity(&rest)
      } else if takeTag(&rest) {
        text += " "
      } else {
        text += "<"
        rest = rest.dropFirst()
      }
    }
    text += rest
    return text
  }

  /// The `href` of the first link; nil without one.
  static func firstLink(_ html: String) -> String? {
    guard let start = html.range(of: "href=\"", options: .caseInsensitive)?.upperBound,
      let end = html[start...].firstIndex(of: "\"")
    else { return nil }
    return plain(String(html[start..<end]))
  }

  private static func takeEntity(_ rest: inout Substring) -> String {
    let name = rest.dropFirst().prefix(10).prefix { $0 != ";" && !$0.isWhitespace }
    guard rest.dropFirst(name.count + 1).first == ";", let text = character(named: name) else {
      rest = rest.dropFirst()
      return "&"
    }
    rest = rest.dropFirst(name.count + 2)
    return text
  }

  private static func character(named name: Substring) -> String? {
    guard name.first == "#" else { return entities[name.lowercased()] }
    let digits = name.dropFirst()
    let number = digits.first?.lowercased() == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return number.flatMap(UnicodeScalar.init).map { String($0) }
  }

  /// Removes a tag or comment from the start. False if the `<` is a literal character.
  private static func takeTag(_ rest: inout Substring) -> Bool {
    if rest.hasPrefix("<!--") {
      rest = rest.firstRange(of: "-->").map { rest[$0.upperBound...] } ?? ""
      return true
    }
    let name = rest.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "/" || $0 == "!" }
    guard let first = name.first, !first.isNumber else { return false }
    guard let end = rest.firstIndex(of: ">") else {
      rest = ""
      return true
    }
    let tag = rest[..<end]
    rest = rest[rest.index(after: end)...]
    if !name.hasPrefix("/"), !empty.contains(name.lowercased()), isHidden(tag) {
      skipElement(name, &rest)
    } else if unseen.contains(name.lowercased()) {
      let closing = rest.range(of: "</\(name)", options: .caseInsensitive)
      rest = closing.map { rest[$0.lowerBound...] } ?? ""
    }
    return true
  }

  /// Whether the tag hides its element. Commons puts machine-readable data into such elements.
  private static func isHidden(_ tag: Substring) -> Bool {
    let pattern = /\sstyle\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/
    guard let match = tag.lowercased().firstMatch(of: pattern),
      let style = match.1 ?? match.2 ?? match.3
    else { return false }
    return style.filter { !$0.isWhitespace }.split(separator: ";")
      .contains { $0 == "display:none" || $0 == "display:none!important" }
  }

  /// Removes the rest of an element from the start, up to and including its closing tag.
  private static func skipElement(_ name: Substring, _ rest: inout Substring) {
    var depth = 1
    while depth > 0, let mark = rest.firstIndex(of: "<") {
      rest = rest[mark...]
      if rest.hasPrefix("<!--") {
        rest = rest.firstRange(of: "-->").map { rest[$0.upperBound...] } ?? ""
        continue
      }
      let word = rest.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "/" }.lowercased()
      if word == name.lowercased() { depth += 1 }
      if word == "/\(name.lowercased())" { depth -= 1 }
      rest = rest.firstIndex(of: ">").map { rest[rest.index(after: $0)...] } ?? ""
    }
    if depth > 0 { rest = "" }
  }
}
