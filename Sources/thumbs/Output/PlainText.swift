import Foundation

/// Foreign text made fit to be shown: without secrets, and without anything that moves a terminal's cursor.
enum PlainText {
  /// One line: what would begin another, or is for terminals and not for people, becomes a blank.
  static func line(_ text: String) -> String {
    let hidden = withoutPasswords(text)
    guard hidden.unicodeScalars.contains(where: isUnfit) else { return hidden }
    var line = String.UnicodeScalarView()
    for scalar in hidden.unicodeScalars { line.append(isUnfit(scalar) ? " " : scalar) }
    return String(line)
  }

  /// The text with the names and passwords of the URLs in it covered: `https://***@host/`.
  static func withoutPasswords(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "@")), text.contains("://") else { return text }
    var shown = ""
    var rest = text[...]
    while let scheme = rest.range(of: "://") {
      shown += rest[..<scheme.upperBound]
      rest = rest[scheme.upperBound...]
      let authority = rest.prefix { !"/?#".contains($0) && !$0.isWhitespace }
      if let at = authority.lastIndex(of: "@") {
        shown += "***"
        rest = rest[at...]
      }
    }
    return shown + rest
  }

  /// The text with the queries of the URLs in it left out, since they may hold keys: `https://host/path?…`.
  static func withoutQueries(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "?")), text.contains("://") else { return text }
    var shown = ""
    var rest = text[...]
    while let scheme = rest.range(of: "://") {
      let address = rest[scheme.upperBound...].prefix { !$0.isWhitespace && !"\"'<>".contains($0) }
      if let mark = address.firstIndex(of: "?") {
        let end = address[mark...].firstIndex(of: "#") ?? address.endIndex
        shown += rest[...mark] + "…"
        rest = rest[end...]
      } else {
        shown += rest[..<address.endIndex]
        rest = rest[address.endIndex...]
      }
    }
    return shown + rest
  }

  /// A file as its user knows it: below the current directory, by its path from there.
  static func path(_ path: String) -> String {
    let current = FileManager.default.currentDirectoryPath
    let prefix = current == "/" ? current : current + "/"
    return path.hasPrefix(prefix) && path.count > prefix.count ? String(path.dropFirst(prefix.count)) : path
  }

  /// The text with the paths in it as `path` shows them.
  static func withShortPaths(_ text: String) -> String {
    let current = FileManager.default.currentDirectoryPath
    return current == "/" ? text : text.replacing(" \(current)/", with: " ")
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    // Characters that turn the direction of writing could make one name look like another.
    case .format: scalar != "\u{200D}" && scalar != "\u{200C}"
    default: false
    }
  }
}
