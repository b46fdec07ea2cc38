import Foundation
import HTTPSemantics
import ThumbnailCore

/// A parsed line of a list of URLs.
enum URLListLine {
  /// A blank line or a comment.
  case nothing
  /// A photo.
  case photo(Photo)
  /// An invalid line, and why.
  case bad(reason: String)

  /// Why a line is invalid.
  private struct Fault: Error { let reason: String }

  /// Parses a line.
  ///
  /// - Parameters:
  ///   - bytes: The line without its terminator.
  ///   - number: The line's number, from 1.
  ///   - allowsFiles: Whether local files are allowed.
  static func parse(_ bytes: [UInt8], number: Int, allowsFiles: Bool) -> URLListLine {
    guard let text = String(validating: bytes, as: UTF8.self) else { return .bad(reason: "it is not UTF-8 text") }
    let line = text.trimmingCharacters(in: .whitespaces)
    do throws(Fault) {
      switch line.first {
      case nil, "#": return .nothing
      case "{": return .photo(try photo(json: line, number: number, allowsFiles: allowsFiles))
      case "[": throw Fault(reason: "it is a JSON array; write one object a line")
      default:
        let location = try location(of: line, headers: [], allowsFiles: allowsFiles)
        return .photo(Photo(id: line, provider: URLListProvider.name, title: title(of: location), location: location))
      }
    } catch {
      return .bad(reason: error.reason)
    }
  }

  private struct Entry: Decodable {
    enum CodingKeys: CodingKey { case url, id, title, headers }

    let url: String
    let id: String?
    let title: String?
    let headers: [String: String]

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      url = try values.decode(String.self, forKey: .url)
      title = try values.decodeIfPresent(String.self, forKey: .title)
      headers = try values.decodeIfPresent([String: String].self, forKey: .headers) ?? [:]
      // Ids exported from a database may be numbers.
      if let number = try? values.decodeIfPresent(Int.self, forKey: .id) {
        id = String(number)
      } else {
        id = try values.decodeIfPresent(String.self, forKey: .id)
      }
    }
  }

  private static func photo(json: String, number: Int, allowsFiles: Bool) throws(Fault) -> Photo {
    let entry: Entry
    do {
      entry = try JSONDecoder().decode(Entry.self, from: Data(json.utf8))
    } catch {
      throw Fault(reason: JSONFault.reason(error))
    }
    // Sorted by name, so that the digest of the source does not depend on their order.
    let headers = entry.headers.sorted { $0.key < $1.key }.map { HTTPHeader($0.key, $0.value) }
    guard headers.allSatisfy(isSendable) else {
      throw Fault(reason: "headers holds a name or value that HTTP does not allow")
    }
    let location = try location(of: entry.url, headers: headers, allowsFiles: allowsFiles)
    // The same URL with other request headers may be another image.
    let id = entry.id ?? (headers.isEmpty ? entry.url : "\(entry.url) (line \(number))")
    return Photo(id: id, provider: URLListProvider.name, title: entry.title ?? title(of: location), location: location)
  }

  private static func location(
    of text: String, headers: [HTTPHeader], allowsFiles: Bool
  ) throws(Fault) -> PhotoLocation {
    guard !text.isEmpty else { throw Fault(reason: "url is empty") }
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw Fault(reason: "\(Snippet.quoted(text)) holds a control character")
    }
    guard let scheme = scheme(of: text) else {
      if allowsFiles { return .file(RawPath(URL(fileURLWithPath: text).standardizedFileURL.path)) }
      throw Fault(
        reason:
          "\(Snippet.quoted(text)) is not a URL; write it with its scheme, such as https://; local files are not read from a list"
      )
    }
    switch scheme {
    case "http", "https":
      guard let url = URL(string: text), let host = url.host(), !host.isEmpty else {
        throw Fault(reason: "\(Snippet.quoted(text)) is not a URL that can be fetched")
      }
      return .single(ImageSource(url, headers: headers))
    case "file":
      guard allowsFiles else {
        throw Fault(reason: "local files are not read from a list; name their folder with folder:PATH")
      }
      guard let url = URL(string: text), ["", "localhost"].contains(url.host() ?? ""),
        !url.path(percentEncoded: true).isEmpty
      else {
        throw Fault(reason: "\(Snippet.quoted(text)) does not name a file of this machine")
      }
      return .file(RawPath(fileURL: url))
    default:
      throw Fault(reason: "a \(Snippet.quoted(scheme)) URL cannot be fetched; use http or https")
    }
  }

  /// The part before the first colon in lower case, if it can be a scheme.
  private static func scheme(of text: String) -> String? {
    guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
      return nil
    }
    let scheme = text[..<colon]
    guard scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }) else { return nil }
    return scheme.lowercased()
  }

  private static func title(of location: PhotoLocation) -> String? {
    let name =
      switch location {
      case .single(let source): source.url.lastPathComponent
      case .file(let path): String(decoding: path.name, as: UTF8.self)
      case .served: ""
      }
    return name.isEmpty || name == "/" ? nil : name
  }

  /// Whether the field is safe to send: a name of token characters, and a value that cannot start another header line.
  private static func isSendable(_ header: HTTPHeader) -> Bool {
    let marks = "!#$%&'*+-.^_`|~".utf8
    return !header.name.isEmpty
      && header.name.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) || marks.contains($0)
      } && header.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
  }
}
