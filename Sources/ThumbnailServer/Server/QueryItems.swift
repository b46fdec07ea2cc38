import Foundation

/// The fields of a query, percent-decoded. Of a name that comes twice, the last counts.
struct QueryItems {
  /// The decoded values by name.
  private(set) var values: [String: String] = [:]

  init(_ query: Substring?) {
    for field in query?.split(separator: "&") ?? [] {
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decode(parts[0]) else { continue }
      values[name] = parts.count > 1 ? Self.decode(parts[1]) : ""
    }
  }

  subscript(_ name: String) -> String? { values[name] }

  func integer(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

  private static func decode(_ text: Substring) -> String? {
    text.replacing("+", with: " ").removingPercentEncoding
  }
}
