import Foundation

/// A photo of a fake photo service.
public struct OriginPicture: Sendable {
  /// The id at the service.
  public var id: String
  /// The text that queries are matched against.
  public var description: String
  /// Width in pixels, as reported by the API.
  public var width: Int
  /// Height in pixels, as reported by the API.
  public var height: Int
  /// The file's bytes.
  public var body: [UInt8]
  /// The file's content type.
  public var type: String

  /// A photo.
  public init(
    id: String, description: String, width: Int = 6000, height: Int = 4000, body: [UInt8] = [],
    type: String = "image/jpeg"
  ) {
    self.id = id
    self.description = description
    self.width = width
    self.height = height
    self.body = body
    self.type = type
  }
}

extension [OriginPicture] {
  /// The photos whose description contains all words, ignoring case and diacritics.
  func matching(_ query: String) -> [OriginPicture] {
    let words = Self.folded(query).split(separator: " ")
    return filter { picture in
      let description = Self.folded(picture.description)
      return words.allSatisfy { description.contains($0) }
    }
  }

  private static func folded(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
  }
}

extension OriginResponse {
  /// A JSON response.
  static func object(_ value: Any, status: Int = 200) -> OriginResponse {
    let data = try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys])
    var response = OriginResponse.ok(data ?? Data(), type: "application/json")
    response.status = status
    return response
  }
}

extension OriginRequest {
  /// The server's base URL as the client sees it: `http://127.0.0.1:8080`.
  var server: String { "http://\(value(of: "Host") ?? "127.0.0.1")" }
}
