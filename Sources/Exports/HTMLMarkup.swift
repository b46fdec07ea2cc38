/// Helpers for writing HTML.
package enum HTMLMarkup {
  /// The text escaped for element content and quoted attributes, without control and bidirectional formatting
  /// characters.
  package static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\0"..<" ", "\u{7F}"..<"\u{A0}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": escaped += " "
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
