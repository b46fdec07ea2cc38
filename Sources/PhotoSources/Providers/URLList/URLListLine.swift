import Foundation
import HTTPSemantics
import ThumbnailCore

/// The lines of a list of URLs.
enum URLListLine {
  /// Parses a line; nil for a blank line or a comment.
  ///
  /// - Parameters:
  ///   - bytes: The line without its terminator.
  ///   - number: The line's number, from 1.
  static func photo(_ bytes: [UInt8], number: Int) throws(ItemFault) -> Photo? {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ItemFault(reason: "it is not UTF-8 text")
    }
    let line = text.trimmingCharacters(in: .whitespaces)
    switch line.first {
    case nil, "#": return nil
    case "{": return try photo(json: line, number: number)
    case "[": throw ItemFault(reason: "it is a JSON array; write one object a line")
    default:
      let location = try location(of: line, headers: [])
      return photo(line.withoutSecrets(isAddress: true), number, title: title(of: location), location)
    }
  }

  private static func photo(json: String, number: Int) throws(ItemFault) -> Photo {
    guard let entry = JSON(Data(json.utf8)) else { throw ItemFault(reason: "it is not valid JSON") }
    let url = try entry.text("url")
    let title = try entry.optionalText("title")
    // Ids exported from a database may be numbers.
    let id: String? = if let number = entry["id"]?.integer { "\(number)" } else { try entry.optionalText("id") }
    var headers: [HTTPHeader] = []
    // Sorted by name, so that the digest of the source does not depend on their order.
    for (name, value) in (try entry.fields("headers")).sorted(by: { $0.key < $1.key }) {
      guard let value = value.text else {
        throw ItemFault(reason: "headers.\(Snippet.line(name, limit: 60)) is not a text")
      }
      headers.append(HTTPHeader(name, value))
    }
    guard headers.allSatisfy(isSendable) else {
      throw ItemFault(reason: "headers holds a name or value that HTTP does not allow")
    }
    let location = try location(of: url, headers: headers)
    // The same URL with other request headers may be another image.
    let address = url.withoutSecrets(isAddress: true)
    let ownID = id ?? (headers.isEmpty ? address : "\(address) (line \(number))")
    return photo(ownID, number, title: title ?? Self.title(of: location), location)
  }

  private static func photo(_ id: String, _ number: Int, title: String?, _ location: PhotoLocation) -> Photo {
    var photo = Photo(id: id, provider: URLListProvider.name, title: title, location: location)
    photo.line = number
    return photo
  }

  private static func location(
    of text: String, headers: [HTTPHeader]
  ) throws(ItemFault) -> PhotoLocation {
    guard !text.isEmpty else { throw ItemFault(reason: "url is empty") }
    var quoted: String { Snippet.quoted(text.withoutSecrets(isAddress: true)) }
    guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) }) else {
      throw ItemFault(reason: "\(quoted) holds a control character")
    }
    guard let scheme = scheme(of: text) else {
      throw ItemFault(
        reason:
          "\(quoted) is not a URL; write it with its scheme, such as https://; local files are not read from a list"
      )
    }
    switch scheme {
    case "http", "https":
      guard let url = URL(web: text) else {
        throw ItemFault(reason: "\(quoted) is not a URL that can be fetched")
      }
      return .single(ImageSource(url, headers: headers))
    case "file": throw ItemFault(reason: "local files are not read from a list; name their folder with folder:PATH")
    default:
      throw ItemFault(reason: "a \(Snippet.quoted(scheme)) URL cannot be fetched; use http or https")
    }
  }

  /// The part before the first colon in lower case, if it can be a scheme.
  private static func scheme(of text: String) -> String? {
    func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
    let bytes = text.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes.first.map(isLetter) == true,
      bytes[..<colon].allSatisfy({ isLetter($0) || "0123456789+.-".utf8.contains($0) })
    else { return nil }
    return text[..<colon].lowercased()
  }

  private static func title(of location: PhotoLocation) -> String? {
    let name =
      switch location {
      case .single(let source): source.url.lastPathComponent
      case .file, .served: ""
      }
    return name.isEmpty || name == "/" ? nil : name
  }

  /// Whether the field is safe to send: a name of token characters, and a value that cannot start another header line.
  private static func isSendable(_ header: HTTPHeader) -> Bool {
    !header.name.isEmpty
      && header.name.utf8.allSatisfy { byte in
        let character = Character(UnicodeScalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
      } && header.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
  }
}
