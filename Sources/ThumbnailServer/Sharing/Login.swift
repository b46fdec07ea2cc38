import Foundation
import HTTPServer
import NIOHTTP1
import Synchronization
import ThumbnailCore

/// The password of a gallery, and the cookies of those who have entered it, which end with the server.
package struct Login: Sendable {
  /// Without characters that look alike: ten of them have 49 bits.
  private static let alphabet = Array("abcdefghjkmnpqrstuvwxyz23456789")
  private static let passwordLength = 10
  /// The attempts that an address has at once, and the seconds until it has one more.
  private static let attempts = 5.0
  private static let pause = 10
  /// The attempts that all addresses together have at once from which nobody has logged in.
  private static let attemptsOfAll = 100.0
  private static let mostKnown = 10_000
  private static let ticketLength = 20
  /// Other programs of this machine may set cookies for its name, but cannot sign them.
  private static let mostCookies = 8

  /// A new password.
  package static func randomPassword() -> String {
    String((0..<passwordLength).map { _ in alphabet[Int.random(in: alphabet.indices)] })
  }

  /// The last part of the address in the QR code, `/login/TICKET`: 80 bits, which log in like the password, so that the
  /// password is in no history.
  package let ticket = String(Token.random().prefix(ticketLength))

  private let key = Array(Token.random().utf8)
  package let password: String
  private let limiter = RateLimiter(rate: 1 / Double(pause), burst: attempts)
  /// Limits those who have never logged in. Guesses from many addresses do not slow down others.
  private let limiterOfAll = RateLimiter(rate: 1 / Double(pause), burst: attemptsOfAll)
  /// The networks from which somebody has logged in.
  private let known = Known()

  private final class Known: Sendable { let networks = Mutex<Set<String>>([]) }

  package init(password: String) { self.password = password }

  /// The response to a request of `/login`, with the password as a form has it, or of `/login/TICKET`.
  func response(to request: ServerRequest) -> ServerResponse {
    let path = Route.parts(of: request.target)
    let next = QueryItems(request.query)["next"] ?? ""
    if path.count < 2, request.method != .POST { return PageFile.login(for: request, next: next) }
    let network = ClientNetwork.name(of: request.client)
    // A ticket cannot be guessed: who has it is not slowed down.
    let hasTicket = path.count == 2 && Token.areEqual(sign("ticket \(path[1])"), sign("ticket \(ticket)"))
    let isKnown = path.count == 2 || known.networks.withLock { $0.contains(network) }
    let busy =
      hasTicket
      ? nil
      : !limiter.admits(request.client)
        ? "this device:" : isKnown || limiterOfAll.admits("") ? nil : "other devices: scan the code, or"
    if let busy {
      return PageFile.login(
        for: request, .tooManyRequests, "Too many attempts from \(busy) try again in \(Self.pause) seconds.",
        next: next, headers: ["retry-after": "\(Self.pause)"])
    }
    let given = QueryItems(Substring(String(buffer: request.body)))["password"] ?? ""
    // Of the same length whatever was given, so that comparing tells nothing.
    let isRight =
      path.count == 2
      ? hasTicket
      // A copied password may have spaces around it.
      : [given, given.trimmingCharacters(in: .whitespacesAndNewlines)].contains { given in
        Token.areEqual(sign("password \(given)"), sign("password \(password)"))
      }
    guard isRight else {
      let old = "This code is of an earlier start: scan the one that is shown now, or enter the password."
      return PageFile.login(for: request, .forbidden, path.count == 2 ? old : "That is not the password.", next: next)
    }
    known.networks.withLock { if $0.count < Self.mostKnown { $0.insert(network) } }
    let id = Token.random()
    let cookie =
      "\(Self.cookie(of: request))\(id).\(sign("session \(id)")); Path=/; HttpOnly; SameSite=Strict"
      + (request.isSecure ? "; Secure" : "")
    // After a link in another site's page, a browser sends no strict cookie to where a redirect leads.
    let isForm = request.method == .POST
    return ServerResponse(
      isForm ? .seeOther : .ok,
      headers: [
        "set-cookie": cookie, isForm ? "location" : "refresh": isForm ? Self.page(next) : "0; url=/",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer", "content-type": "text/html; charset=utf-8",
      ],
      body: .bytes(Data("<!DOCTYPE html><html lang=en><title>Pictures</title><a href=\"/\">Show the pictures</a>".utf8))
    )
  }

  /// The page that was asked for before the password, which is this site's only one, with its query.
  private static func page(_ target: String) -> String {
    target.hasPrefix("/?") && target.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? target : "/"
  }

  /// The identifier of the login that a request has the cookie of; nil if it has none.
  func session(of request: ServerRequest) -> String? {
    let name = Self.cookie(of: request)
    return request.headers["cookie"].flatMap { $0.split(separator: ";") }.map { $0.drop { $0 == " " } }
      .filter { $0.hasPrefix(name) }.prefix(Self.mostCookies).lazy.compactMap { cookie in
        let parts = cookie.dropFirst(name.count).split(separator: ".")
        return parts.count == 2 && Token.areEqual(parts[1], sign("session \(parts[0])")) ? String(parts[0]) : nil
      }.first
  }

  /// The beginning of the cookie. Browsers send cookies to all ports of a host: the port is part of the name.
  private static func cookie(of request: ServerRequest) -> String {
    "thumbs-\(request.headers.first(name: "host")?.split(separator: ":").last.flatMap { Int($0) } ?? 0)="
  }

  private func sign(_ text: String) -> String { Base64URL.encode(HMAC.sha256(Array(text.utf8), key: key)) }
}
