import Foundation

/// Foreign text made fit for one line of a message.
enum Snippet {
  /// The beginning of a text on one line, without control characters.
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

  /// The beginning of an answer's body. `secret` is blotted out, should the server repeat it.
  static func body(_ body: Data, hiding secret: AccessKey?) -> String {
    // More than is shown is looked at, so that no part of a secret remains at the end of what is shown.
    let text = String(decoding: body.prefix(4096), as: UTF8.self)
    let line = Snippet.line(secret?.blottedOut(of: text) ?? text)
    return line.isEmpty ? "an empty answer" : line
  }

  /// A text in quotes, short enough for a message.
  static func quoted(_ text: some StringProtocol) -> String { "“\(line(String(text), limit: 60))”" }
}
