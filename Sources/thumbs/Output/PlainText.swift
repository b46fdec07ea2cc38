import Foundation
import Thumbnailer

/// Untrusted text, sanitised for output: without secrets and terminal control characters.
enum PlainText {
  /// The text on one line: line breaks and control characters become spaces.
  static func line(_ text: String) -> String {
    let hidden = text.withoutSecrets()
    guard hidden.unicodeScalars.contains(where: isUnfit) else { return hidden }
    var line = String.UnicodeScalarView()
    for scalar in hidden.unicodeScalars { line.append(isUnfit(scalar) ? " " : scalar) }
    return String(line)
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

/// Advice of the library in the command's terms.
enum Advice {
  /// The options that set the members of the library's configurations which its messages name.
  private static let options = [
    "addresses": "serve --allow-network, or no --public-addresses-only",
    "allowsPaths": "without --no-paths",
    "cacheMode": "--offline", "cacheDirectory": "--cache-dir", "certificateAuthorityFile": "SSL_CERT_FILE",
    "damaged": "--damaged accept", "downloadsPerHost": "--per-host",
    "exclude": "--exclude", "followsLinks": "--follow-symlinks",
    "freshness": "--force",
    "headers": "--header", "include": "--include", "isolation.deadline": "",
    "isolation.executable": "install thumbs again",
    "isolation.memoryLimit": "--memory-budget", "isolation.requiresConfinement": "--require-confinement",
    "isolation": "--unsafe-from-web",
    "listsAreNullSeparated": "-0", "maximumPixels": "--max-pixels", "maximumSourceBytes": "--max-bytes",
    "maximumWait": "--max-wait", "memoryBudget": "--memory-budget", "pairing": "--pair", "proxy": "THUMBS_PROXY",
    "retriesFailures": "--refresh", "userAgent": "--header '*=User-Agent: …'",
  ]

  /// An error's message with options in place of the members in parentheses: `raise the limit (maximumPixels)` becomes
  /// `raise the limit (--max-pixels)`.
  static func withOptions(_ message: String) -> String {
    guard message.utf8.contains(UInt8(ascii: "(")) else { return message }
    return options.reduce(message) {
      $1.value.isEmpty
        ? $0.replacing(" (\($1.key))", with: "") : $0.replacing("(\($1.key))", with: "(\($1.value))")
    }
  }
}

extension ThumbnailError {
  /// The message in the command's terms.
  var shownMessage: String { Advice.withOptions(message) }
}

extension Int {
  /// The number; nil for 0, for members of JSON that are left out then.
  var unlessZero: Int? { self == 0 ? nil : self }

  /// The number with its noun, such as `1 picture` or `2 pictures`.
  func of(_ one: String, _ many: String? = nil) -> String { "\(self) \(self == 1 ? one : many ?? one + "s")" }
}

extension [String: Int] {
  /// The reasons that were counted, the most frequent ones first.
  var byCount: [Element] { sorted { ($1.value, $0.key) < ($0.value, $1.key) } }
}

extension Bool {
  /// True or nil, for members of JSON that are left out if they are false.
  var unlessFalse: Bool? { self ? true : nil }
}

extension String {
  /// The text padded with spaces on the right, for columns of words.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// The text padded with spaces on the left, for columns of numbers.
  func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
