import Foundation

/// Untrusted text, sanitised for output: without secrets and terminal control characters.
enum PlainText {
  /// The text on one line: line breaks and control characters become spaces.
  static func line(_ text: String) -> String {
    let hidden = withoutPasswords(text)
    guard hidden.unicodeScalars.contains(where: isUnfit) else { return hidden }
    var line = String.UnicodeScalarView()
    for scalar in hidden.unicodeScalars { line.append(isUnfit(scalar) ? " " : scalar) }
    return String(line)
  }

  /// The text with user names and passwords in URLs redacted: `https://***@host/`.
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

  /// The text with queries and fragments of URLs removed, since they may hold keys: `https://host/path?…`.
  static func withoutQueries(_ text: String) -> String {
    guard text.contains("://") else { return text }
    var shown = ""
    var rest = text[...]
    while let scheme = rest.range(of: "://") {
      let address = rest[scheme.upperBound...].prefix { !$0.isWhitespace && !"\"'<>".contains($0) }
      let mark = address.firstIndex { $0 == "?" || $0 == "#" } ?? address.endIndex
      shown += rest[..<mark] + (mark < address.endIndex ? "\(rest[mark])…" : "")
      rest = rest[address.endIndex...]
    }
    return shown + rest
  }

  /// A short form of the path: relative, if it is below the current directory.
  static func path(_ path: String) -> String {
    let current = FileManager.default.currentDirectoryPath
    let prefix = current == "/" ? current : current + "/"
    return path.hasPrefix(prefix) && path.count > prefix.count ? String(path.dropFirst(prefix.count)) : path
  }

  /// The text with all paths in it shortened by `path`.
  static func withShortPaths(_ text: String) -> String {
    let current = FileManager.default.currentDirectoryPath
    return current == "/" ? text : text.replacing(" \(current)/", with: " ")
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    // Bidirectional formatting characters could make one name look like another.
    case .format: scalar != "\u{200D}" && scalar != "\u{200C}"
    default: false
    }
  }
}
