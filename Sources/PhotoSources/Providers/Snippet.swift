import Foundation

/// Untrusted text, sanitised for use in a one-line message.
enum Snippet {
  /// The start of a text on one line, without control characters.
  static func line(_ text: String, limit: Int = 120) -> String {
    let unsafe: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator, .surrogate]
    var line = ""
    var count = 0
    var pendingSpace = false
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace || unsafe.contains(scalar.properties.generalCategory) {
        pendingSpace = !line.isEmpty
        continue
      }
      guard count < limit else { return line + "…" }
      if pendingSpace { line += " " }
      pendingSpace = false
      line.unicodeScalars.append(scalar)
      count += 1
    }
    return line
  }

  /// The start of a response body. Occurrences of `secret` are redacted, in case the server echoes it.
  static func body(_ body: Data, hiding secret: AccessKey?) -> String {
    // Redacts more than is shown, so that no part of a secret remains at the cut.
    let text = String(decoding: body.prefix(4096), as: UTF8.self)
    let line = Snippet.line(secret?.redacted(in: text) ?? text)
    return line.isEmpty ? "an empty answer" : line
  }

  /// A quoted text, short enough for a message.
  static func quoted(_ text: some StringProtocol) -> String { "“\(line(String(text), limit: 60))”" }
}
