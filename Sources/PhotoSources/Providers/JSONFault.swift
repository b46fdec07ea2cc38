import Foundation

/// What is wrong with a piece of JSON, in a few words that quote nothing of it: it may hold credentials.
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

  /// The names on the way to a value, from the element of a list on that it is in.
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

/// An element of a list that may be bad without spoiling the others.
struct Lenient<Value: Decodable & Sendable>: Decodable, Sendable {
  /// The element, or what is wrong with it.
  let result: Result<Value, ItemFault>

  init(from decoder: any Decoder) {
    do {
      result = .success(try Value(from: decoder))
    } catch {
      result = .failure(ItemFault(reason: JSONFault.reason(error)))
    }
  }
}

/// What is wrong with an element of a list.
struct ItemFault: Error {
  let reason: String
  /// False when the element is well-formed, but of a kind that is not wanted.
  var isMalformed = true
}
