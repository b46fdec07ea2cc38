import Thumbnailer

/// Advice of the library in the command's terms.
enum Advice {
  /// The options that set the members of the library's configurations which its messages name.
  private static let options = [
    "addresses": "--allow-network, --allow-private-networks",
    "allowsPaths": "--no-paths", "longestLine": "--max-line",
    "cacheMode": "--offline", "cacheDirectory": "--cache-dir", "certificateAuthorityFile": "--cacert",
    "damaged": "--damaged accept", "downloadsPerHost": "--per-host", "followsLinks": "--follow-symlinks",
    "headers": "--header", "include": "--include", "isolation.deadline": "--helper-deadline",
    "isolation.executable": "install thumbs again",
    "isolation.memoryLimit": "--helper-memory", "isolation.requiresConfinement": "--require-confinement",
    "isolation": "--isolate, --unsafe-from-web",
    "listsAreNullSeparated": "-0", "maximumPixels": "--max-pixels", "maximumSourceBytes": "--max-bytes",
    "maximumWait": "--max-wait",
    "memoryBudget": "--memory-budget", "minimumRate": "--min-rate", "pairing": "--pair", "proxy": "--proxy",
    "retriesFailures": "--retry-failed", "userAgent": "--user-agent",
  ]

  /// An error's message with options in place of the members in parentheses: `raise the limit (maximumPixels)` becomes
  /// `raise the limit (--max-pixels)`.
  static func withOptions(_ message: String) -> String {
    guard message.utf8.contains(UInt8(ascii: "(")) else { return message }
    return options.reduce(message) { $0.replacing("(\($1.key))", with: "(\($1.value))") }
  }
}

extension ThumbnailError {
  /// The message in the command's terms.
  var shownMessage: String { Advice.withOptions(message) }
}
