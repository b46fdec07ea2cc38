import Foundation
import HTTPSemantics
package import ThumbnailCore

/// A file of logins for hosts, `~/.netrc` as for ftp and curl.
///
/// As with curl, a login in a URL overrides the file's: then only the password for the same name is used. A `default`
/// login, which would apply to every host, is ignored: a list of images may name any host.
package struct Netrc: Sendable {
  /// Each host's login as an `Authorization` field.
  package private(set) var headers = HostHeaders()

  /// Reads a file.
  ///
  /// - Throws: `InvalidValue` when it cannot be read, or when other users may read it.
  package init(path: String) throws(InvalidValue) {
    guard let state = try? FileState(of: RawPath(path)), let data = FileManager.default.contents(atPath: path) else {
      throw InvalidValue("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    guard state.permissions & 0o077 == 0 else {
      throw InvalidValue("\(path) holds passwords and can be read by others: chmod 600 it first")
    }
    try self.init(text: String(decoding: data, as: UTF8.self), name: path)
  }

  /// Parses the file's text. Macros are ignored.
  ///
  /// - Throws: `InvalidValue` for unknown words, with their line.
  init(text: String, name: String = ".netrc") throws(InvalidValue) {
    var entry: Entry?
    var isMacro = false
    // `\r\n` is one Character.
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (number, line) in lines.enumerated() {
      if isMacro {
        // A macro ends with an empty line.
        isMacro = !line.allSatisfy(\.isWhitespace)
        continue
      }
      var words = Self.words(of: line)[...]
      while let word = words.popFirst() {
        switch word {
        case "machine", "default":
          add(entry)
          entry = Entry()
          guard word == "machine" else { continue }
          guard let host = words.popFirst().flatMap({ HostName(parsing: $0) }) else {
            throw InvalidValue("\(name), line \(number + 1): machine must be followed by a host name")
          }
          entry?.host = host
        case "login": entry?.login = words.popFirst()
        case "password": entry?.password = words.popFirst()
        case "account": words = words.dropFirst()
        case "macdef":
          words = []
          isMacro = true
        default:
          // The word is not shown, because it may be a password.
          throw InvalidValue("\(name), line \(number + 1): expected machine, login or password")
        }
      }
    }
    add(entry)
  }

  private struct Entry {
    var host: HostName?
    var login: String?
    var password: String?
  }

  private mutating func add(_ entry: Entry?) {
    guard let entry, let host = entry.host, let login = entry.login else { return }
    let token = Data("\(login):\(entry.password ?? "")".utf8).base64EncodedString()
    headers.add(HTTPHeader("Authorization", "Basic \(token)"), login: login, for: host)
  }

  /// The words of a line, separated by white space, or in quotes with backslashes. A `#` at the start of a word ends
  /// the line.
  private static func words(of line: Substring) -> [String] {
    var words: [String] = []
    var rest = line
    while true {
      rest = rest.drop { $0.isWhitespace }
      guard let first = rest.first, first != "#" else { return words }
      var word = ""
      if first == "\"" {
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
          if let next = character == "\\" ? rest.popFirst() : character { word.append(next) }
        }
      }
      let plain = rest.prefix { !$0.isWhitespace }
      words.append(word + plain)
      rest = rest[plain.endIndex...]
    }
  }
}
