import Foundation
import HTTPSemantics
import ThumbnailCore

/// An access key that shows itself to nobody but the request it is for.
struct AccessKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let value: String

  /// Takes a key without the blanks and line breaks around it. Nil when nothing is left, something that cannot stand in a
  /// header field, or only dots and the like, as in the examples of instructions.
  init?(_ text: String) {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard trimmed.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      trimmed.contains(where: { $0.isLetter || $0.isNumber })
    else { return nil }
    value = trimmed
  }

  /// The header field that carries the key, behind a scheme where there is one.
  func header(scheme: String) -> HTTPHeader {
    HTTPHeader("Authorization", scheme.isEmpty ? value : "\(scheme) \(value)")
  }

  /// Tells the key from others of its owner, and tells nothing else of it: a part of its digest.
  var mark: String { SHA256.hash(value.utf8).prefix(4).map { String($0, radix: 16) }.joined(separator: "-") }

  /// The text with every occurrence of the key replaced.
  func blottedOut(of text: String) -> String { text.replacing(value, with: "[key]") }

  var description: String { "[key]" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: []) }
}
