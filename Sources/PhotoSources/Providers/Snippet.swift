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
    // Redacts a longer text than is shown, so that no part of a secret remains at the cut.
    let text = String(decoding: body.prefix(4096), as: UTF8.self)
    let line = Snippet.line(secret?.redacted(in: text) ?? text)
    return line.isEmpty ? "an empty answer" : line
  }

  /// A quoted text, short enough for a message.
  static func quoted(_ text: some StringProtocol) -> String { "“\(line(String(text), limit: 60))”" }
}

/// Describes a JSON decoding error briefly, without quoting the JSON, which may contain credentials.
enum JSONFault {
  static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      "\(path(context.codingPath + [key])) is missing"
    case DecodingError.valueNotFound(_, let context):
      "\(path(context.codingPath)) is null"
    case DecodingError.typeMismatch(let type, let context):
      "\(path(context.codingPath)) is not \(name(of: type))"
    case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty:
      "it is not valid JSON"
    case DecodingError.dataCorrupted(let context):
      "\(path(context.codingPath)) cannot be used"
    default:
      "it cannot be read"
    }
  }

  /// The key path to a value, starting at the innermost list element.
  private static func path(_ keys: [any CodingKey]) -> String {
    let names = (keys.split { $0.intValue != nil }.last ?? []).map(\.stringValue)
    return names.isEmpty ? "it" : Snippet.line(names.joined(separator: "."), limit: 60)
  }

  private static func name(of type: Any.Type) -> String {
    switch type {
    case is String.Type: "a text"
    case is Int.Type, is Double.Type: "a number"
    case is [Any].Type: "a list"
    default: "an object"
    }
  }
}

/// Why a list element is unusable.
struct ItemFault: Error {
  let reason: String
  /// False if the element is well-formed, but of an unwanted kind.
  var isMalformed = true
}
