import Foundation
import HTTPSemantics
import ThumbnailCore

/// An access key that is redacted wherever it is printed; only the request header contains it.
struct AccessKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let value: String

  /// Trims white space. Nil for an empty text, for one that is invalid in a header field, and for placeholders such as
  /// dots in copied instructions.
  init?(_ text: String) {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard trimmed.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      trimmed.contains(where: { $0.isLetter || $0.isNumber })
    else { return nil }
    value = trimmed
  }

  /// The header field with the key, after the scheme if there is one.
  func header(scheme: String) -> HTTPHeader {
    HTTPHeader("Authorization", scheme.isEmpty ? value : "\(scheme) \(value)")
  }

  /// A prefix of the key's digest, to tell keys apart without revealing them.
  var digestPrefix: String { SHA256.hash(value.utf8).prefix(4).map { String($0, radix: 16) }.joined(separator: "-") }

  /// The text with every occurrence of the key redacted.
  func redacted(in text: String) -> String { text.replacing(value, with: "[key]") }

  var description: String { "[key]" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: []) }
}
