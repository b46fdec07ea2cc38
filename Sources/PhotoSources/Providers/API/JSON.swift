import Foundation
import ThumbnailCore

/// A value of a service's response. Fields are named by their paths: `user.links.html`.
///
/// An optional field of an unexpected type counts as missing. The fault of a required field names its path.
enum JSON: Decodable, Sendable {
  case object([String: JSON])
  case list([JSON])
  case text(String)
  case integer(Int)
  case fraction(Double)
  case null
  /// A Boolean, a number out of range, or a value that is nested too deep.
  case other

  /// The longest plausible side of a photo, in pixels.
  private static let longestSide = 1_000_000
  /// The longest accepted URL, in bytes: about the limit of servers and proxies.
  private static let longestURL = 8192
  /// The deepest nesting that is read. Foundation attempts several types for each value, and each attempt takes longer
  /// the deeper the value is: 500 brackets took 0.6 s.
  private static let deepest = 16
  /// The longest part of a text that is parsed, in Unicode scalars: more than is displayed, with room for markup.
  private static let longestText = 16_384

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    self =
      if value.decodeNil() {
        .null
      } else if let text = try? value.decode(String.self) {
        .text(text)
      } else if let number = try? value.decode(Int.self) {
        .integer(number)
      } else if value.codingPath.count > Self.deepest {
        .other
      } else if let fields = try? value.decode([String: JSON].self) {
        .object(fields)
      } else if let elements = try? value.decode([JSON].self) {
        .list(elements)
      } else {
        (try? value.decode(Double.self)).map(JSON.fraction) ?? .other
      }
  }

  /// Parses a body; nil if it is not JSON.
  init?(_ body: Data) {
    guard let value = try? JSONDecoder().decode(JSON.self, from: body) else { return nil }
    self = value
  }

  // MARK: Optional fields

  /// The value at a path; nil if it is missing or null.
  subscript(path: String) -> JSON? { try? value(path, "present") { if case .null = $0 { nil } else { $0 } } }

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var integer: Int? { if case .integer(let number) = self { number } else { nil } }
  var list: [JSON]? { if case .list(let elements) = self { elements } else { nil } }

  /// A string, or a number as one.
  var flexibleText: String? {
    switch self {
    case .text(let text): text
    case .integer(let number): "\(number)"
    case .fraction(let number): "\(number)"
    case .object, .list, .null, .other: nil
    }
  }

  /// A text on one line, without HTML; nil if it is empty.
  func line(_ path: String) -> String? { Self.line(self[path]?.text) }

  /// An `http` or `https` URL; nil for anything else. One that begins with `//` becomes `https`.
  func webURL(_ path: String) -> URL? { Self.webURL(self[path]?.text) }

  static func line(_ text: String?) -> String? {
    guard let text else { return nil }
    let beginning = String(text.unicodeScalars.prefix(longestText))
    let line = Snippet.line(HTMLText.plain(beginning), limit: 500)
    return line.isEmpty ? nil : line
  }

  static func webURL(_ text: String?) -> URL? {
    guard let text, text.utf8.count <= longestURL else { return nil }
    return URL(web: text.hasPrefix("//") ? "https:\(text)" : text)
  }

  /// A text; nil if it is missing, but an error if it is something else.
  func optionalText(_ path: String) throws(ItemFault) -> String? { self[path] == nil ? nil : try text(path) }

  // MARK: Required fields

  func text(_ path: String) throws(ItemFault) -> String { try value(path, "a text", \.text) }
  func integer(_ path: String) throws(ItemFault) -> Int { try value(path, "a number", \.integer) }
  func list(_ path: String) throws(ItemFault) -> [JSON] { try value(path, "a list", \.list) }

  /// The fields of an object; none if it is missing.
  func fields(_ path: String) throws(ItemFault) -> [String: JSON] {
    guard self[path] != nil else { return [:] }
    return try value(path, "an object") { if case .object(let fields) = $0 { fields } else { nil } }
  }

  /// An id that can be used in messages and in the cache.
  func id(_ path: String) throws(ItemFault) -> String {
    let id = try text(path)
    guard (1...200).contains(id.utf8.count), id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw ItemFault(reason: "id cannot be used")
    }
    return id
  }

  /// A photo's size in pixels.
  func size() throws(ItemFault) -> PixelSize {
    let (width, height) = (try integer("width"), try integer("height"))
    guard (1...Self.longestSide).contains(width), (1...Self.longestSide).contains(height) else {
      throw ItemFault(reason: "it claims to be \(width) × \(height) pixels")
    }
    return PixelSize(width, height)
  }

  /// A URL of the web.
  func url(_ path: String) throws(ItemFault) -> URL {
    guard let url = Self.webURL(try text(path)) else { throw ItemFault(reason: "\(path) is not a URL of the web") }
    return url
  }

  private func value<Value>(_ path: String, _ kind: String, _ read: (JSON) -> Value?) throws(ItemFault) -> Value {
    var (value, place) = (self, "")
    for name in path.split(separator: ".") {
      guard case .object(let fields) = value else { throw Self.fault(value, place, "an object") }
      place += place.isEmpty ? name : ".\(name)"
      guard let field = fields[String(name)] else { throw ItemFault(reason: "\(place) is missing") }
      value = field
    }
    guard let found = read(value) else { throw Self.fault(value, place, kind) }
    return found
  }

  private static func fault(_ value: JSON, _ place: String, _ kind: String) -> ItemFault {
    let problem = if case .null = value { "null" } else { "not \(kind)" }
    return ItemFault(reason: "\(place.isEmpty ? "it" : place) is \(problem)")
  }
}

extension URL {
  /// An `http` or `https` URL with a host; nil for any other text.
  init?(web text: String) {
    self.init(string: text)
    guard let scheme = scheme?.lowercased(), ["http", "https"].contains(scheme), host()?.isEmpty == false else {
      return nil
    }
  }
}
