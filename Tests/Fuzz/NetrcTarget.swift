import Foundation

@testable import HTTPSemantics
@testable import HTTPTransport
import ThumbnailCore

/// A file of logins: what is sent is well formed and only for a host that stands in the file, and what is reported is
/// one line that holds nothing of the file.
func fuzzNetrc(_ input: FuzzInput) {
  let text = input.text
  do throws(InvalidValue) {
    let file = try requireTime(.seconds(1), "a .netrc of \(text.utf8.count) bytes") {
      Result { () throws(InvalidValue) in try Netrc(text: text) }
    }.get()
    checkLogins(of: file, text)
    // A carriage return at the end would become part of the end of its line.
    let commented = try? Netrc(text: text + "\n# the end\n")
    require(text.utf8.last == 13 || commented?.headers == file.headers, "a comment at the end changes the logins")
  } catch {
    let lines = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
    let messages = [
      "machine must be followed by a host name", "expected machine, login or password",
    ]
    let isKnown = messages.contains { message in
      (1...lines).contains { error.message == ".netrc, line \($0): \(message)" }
    }
    require(isKnown, "the message is \(error.message)")
  }
}

private func checkLogins(of file: Netrc, _ text: String) {
  // Hosts are words of the file; those that the host's parser accepts are the candidates.
  let words = text.split { $0.isWhitespace || $0 == "\"" || $0 == "\\" }.map { String($0) }
  for word in Set(words).prefix(50) + ["example.org"] {
    guard let host = HostName(parsing: word), let url = URL(string: "https://\(word)/picture.jpg"), url.host() != nil
    else { continue }
    let fields = file.headers.headers(for: url)
    require(fields.count <= 1, "\(fields.count) logins for one host")
    guard let field = fields.first else { continue }
    require(host.matches(url), "a login for \(word)")
    require(text.contains("machine"), "a login out of nothing")
    let token = field.value.dropFirst("Basic ".count)
    require(field.name == "Authorization" && field.value.hasPrefix("Basic "), "\(field)")
    require(field.isWellFormed && Data(base64Encoded: String(token))?.contains(UInt8(ascii: ":")) == true, "\(field)")
  }
}
