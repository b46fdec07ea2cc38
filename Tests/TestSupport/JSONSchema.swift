import Foundation

/// A JSON Schema (draft 2020-12), as far as the project's own use it; each other keyword is an error.
package struct JSONSchema: @unchecked Sendable {
  // Safety: the tree is never changed.
  private let root: [String: Any]

  /// Reads a schema.
  package init(_ text: Data) throws {
    root = try JSONSerialization.jsonObject(with: text) as? [String: Any] ?? [:]
  }

  /// What is wrong with a JSON text; empty if it is valid.
  ///
  /// - Parameter definition: The name of the definition to hold it to; nil for the schema itself.
  package func problems(of text: some DataProtocol, as definition: String? = nil) -> [String] {
    guard let value = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed) else {
      return ["it is no JSON"]
    }
    let schema: Any = definition.map { ["$ref": "#/$defs/\($0)"] } ?? root
    return problems(value, schema, at: "")
  }

  private func problems(_ value: Any, _ schema: Any, at place: String) -> [String] {
    if let isAllowed = schema as? Bool { return isAllowed ? [] : ["\(place) is not allowed"] }
    guard let schema = schema as? [String: Any] else { return ["\(place) has no schema"] }
    return schema.sorted { $0.key < $1.key }.flatMap { keyword, rule in
      problems(value, keyword, rule, schema, at: place)
    }
  }

  private func problems(
    _ value: Any, _ keyword: String, _ rule: Any, _ schema: [String: Any], at place: String
  ) -> [String] {
    func need(_ isMet: Bool) -> [String] { isMet ? [] : ["\(place) does not meet \(keyword) \(rule): \(value)"] }
    let (object, array, text) = (value as? [String: Any], value as? [Any], value as? String)
    let number = Self.kind(of: value) == "integer" || Self.kind(of: value) == "number" ? value as? Double : nil
    switch keyword {
    case "$schema", "$id", "title", "description", "$defs": return []
    case "$ref":
      let path = (rule as? String ?? "").split(separator: "/").dropFirst()
      let target = path.reduce(root as Any) { ($0 as? [String: Any])?[String($1)] as Any }
      return problems(value, target, at: place)
    case "type":
      let kinds = rule as? [String] ?? [rule as? String ?? ""]
      let kind = Self.kind(of: value)
      return need(kinds.contains(kind) || kind == "integer" && kinds.contains("number"))
    case "enum": return need((rule as? [Any] ?? []).contains { Self.areEqual($0, value) })
    case "const": return need(Self.areEqual(rule, value))
    case "minimum": return need(number.map { $0 >= rule as? Double ?? 0 } ?? true)
    case "maximum": return need(number.map { $0 <= rule as? Double ?? 0 } ?? true)
    case "minLength": return need(text.map { $0.unicodeScalars.count >= rule as? Int ?? 0 } ?? true)
    case "maxLength": return need(text.map { $0.unicodeScalars.count <= rule as? Int ?? 0 } ?? true)
    case "minItems": return need(array.map { $0.count >= rule as? Int ?? 0 } ?? true)
    case "maxItems": return need(array.map { $0.count <= rule as? Int ?? 0 } ?? true)
    case "pattern":
      let pattern = try? Regex(rule as? String ?? "")
      return need(text.map { text in pattern.map { text.firstMatch(of: $0) != nil } ?? false } ?? true)
    case "items": return (array ?? []).enumerated().flatMap { problems($1, rule, at: "\(place)/\($0)") }
    case "required":
      guard let object else { return [] }
      return (rule as? [String] ?? []).filter { object[$0] == nil }.map { "\(place) lacks \($0)" }
    case "properties":
      let rules = rule as? [String: Any] ?? [:]
      return (object ?? [:]).flatMap { name, member in
        rules[name].map { problems(member, $0, at: "\(place)/\(name)") } ?? []
      }
    case "additionalProperties":
      let known = schema["properties"] as? [String: Any] ?? [:]
      return (object ?? [:]).filter { known[$0.key] == nil }.flatMap { problems($1, rule, at: "\(place)/\($0)") }
    case "oneOf":
      let outcomes = (rule as? [Any] ?? []).map { problems(value, $0, at: place) }
      let fitting = outcomes.count(where: \.isEmpty)
      return fitting == 1 ? [] : ["\(place) fits \(fitting) of \(outcomes.count): \(outcomes)"]
    default: return ["\(keyword) is no keyword that is checked"]
    }
  }

  private static func kind(of value: Any) -> String {
    switch value {
    case is NSNull: return "null"
    case is String: return "string"
    case is [Any]: return "array"
    case is [String: Any]: return "object"
    case let number as NSNumber:
      if number.isBoolean { return "boolean" }
      return number.doubleValue == number.doubleValue.rounded() ? "integer" : "number"
    default: return "unknown"
    }
  }

  private static func areEqual(_ one: Any, _ other: Any) -> Bool {
    kind(of: one) == kind(of: other) && (one as? NSObject)?.isEqual(other) == true
  }
}

extension NSNumber {
  /// Whether it was `true` or `false`: Foundation reads these as numbers, too.
  fileprivate var isBoolean: Bool { String(cString: objCType) == "c" }
}
