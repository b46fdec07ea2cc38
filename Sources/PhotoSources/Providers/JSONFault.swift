import Foundation

/// Describes a JSON decoding error briefly without quoting the JSON, which may hold credentials.
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
