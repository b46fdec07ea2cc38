import NIOEmbedded
import NIOHTTP1

@testable import HTTPServer

/// Heads that are refused, and heads that only look strange.
@Suite(.timeLimit(.minutes(5))) struct RequestRulesTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let text: String
    let status: String

    init(_ name: String, _ text: String, _ status: String) {
      (self.name, self.text, self.status) = (name, text, status)
    }
    var testDescription: String { name }
  }

  private static let close = "Connection: close\r\n"

  @Test(arguments: [
    Case("no host", "GET /a HTTP/1.1\r\n\r\n", "400"),
    Case("two hosts", "GET /a HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400"),
    Case("a host with a user", "GET /a HTTP/1.1\r\nHost: localhost@example.org\r\n\r\n", "400"),
    Case("a host with a path", "GET /a HTTP/1.1\r\nHost: localhost/a\r\n\r\n", "400"),
    Case("a list of hosts", "GET /a HTTP/1.1\r\nHost: a, b\r\n\r\n", "400"),
    Case("a target without a slash", get("a"), "400"),
    Case("an authority as the target", get("example.org:80", method: "CONNECT"), "400"),
    Case("an absolute target without a host", get("http:///a"), "400"),
    Case("an absolute target with a user", get("http://user@localhost/a"), "400"),
    Case("another scheme", get("file:///etc/passwd"), "400"),
    Case("an unknown method", get("/a", method: "FETCH"), "400"),
    Case("two blanks before the target", get(" /a"), "400"),
    Case("two blanks behind it", get("/a "), "400"),
    Case("a blank at the end of the line", get("/a", version: "1.1 "), "400"),
    Case("a blank at its beginning", " " + get("/a"), "400"),
    Case("a TLS handshake", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}", "400"),
    Case("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"),
    Case("HTTP/3.1", get("/a", version: "3.1"), "505"),
    Case("a blank before a colon", get("/a", "X : a\r\n"), "400"),
    Case("a folded field", get("/a", "X: a\r\n b\r\n"), "400"),
    Case("a NUL in a field", get("/a", "X: a\0b\r\n"), "400"),
    Case("a field without a name", get("/a", ": a\r\n"), "400"),
    Case("two lengths", get("/a", "Content-Length: 1\r\nContent-Length: 2\r\n"), "400"),
    Case("a negative length", get("/a", "Content-Length: -1\r\n"), "400"),
    Case("a length that is none", get("/a", "Content-Length: 1x\r\n"), "400"),
    Case("a length beyond 64 bits", get("/a", "Content-Length: 99999999999999999999999\r\n"), "400"),
    Case("a length beyond the limit", get("/a", "Content-Length: 1000001\r\n"), "413"),
    Case("a length and chunks", get("/a", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), "400"),
    Case("an unknown coding", get("/a", "Transfer-Encoding: gzip\r\n", method: "POST"), "400"),
    Case("chunks in HTTP/1.0", get("/a", "Transfer-Encoding: chunked\r\n", version: "1.0"), "400"),
    Case("a bad chunk", get("/a", "Transfer-Encoding: chunked\r\n", method: "POST") + "zz\r\n", "400"),
    Case("a long target", get("/" + String(repeating: "a", count: 9_000)), "414"),
    Case("a huge target", get("/" + String(repeating: "a", count: 100_000)), "431"),
    Case("a long field", get("/a", "X: \(String(repeating: "a", count: 20_000))\r\n"), "431"),
    Case("many fields", get("/a", String(repeating: "X: a\r\n", count: 101)), "431"),
    Case(
      "much of a head", get("/a", String(repeating: "X: \(String(repeating: "a", count: 999))\r\n", count: 40)), "431"),
  ])
  func isRefusedAndTheConnectionIsClosed(_ request: Case) async throws {
    let fixture = try await ServerFixture()
    let response = try await fixture.exchange(request.text)
    #expect(response.hasPrefix("HTTP/1.1 \(request.status) ") || response.hasPrefix("HTTP/1.0 \(request.status) "))
    #expect(response.components(separatedBy: "HTTP/1.").count == 2)
    #expect(response.contains("connection: close"))
    await fixture.stop()
    #expect(fixture.responder.exchanges.map { "\($0.status?.code ?? 0)" } == [request.status])
  }

  @Test(arguments: [
    Case("an absolute target", get("http://other/a?b", close), "GET /a?b 0"),
    Case("an absolute target without a path", get("HTTP://other", close), "GET / 0"),
    Case("an absolute target with a query alone", get("http://other?b", close), "GET /?b 0"),
    Case("a star", get("*", close, method: "OPTIONS"), "OPTIONS * 0"),
    Case("encoded bytes", get("/%00%2f%252e%2e/..", close), "GET /%00%2f%252e%2e/.. 0"),
    Case("HTTP/1.0 without a host", "GET /a HTTP/1.0\r\n\r\n", "GET /a 0"),
    Case("a body", get("/a", close + "Content-Length: 3\r\n", method: "POST") + "abc", "POST /a 3"),
    Case(
      "chunks",
      get("/a", close + "Transfer-Encoding: chunked\r\n", method: "PUT") + "3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n",
      "PUT /a 4"),
    Case("another protocol", get("/a", "Connection: Upgrade\r\nUpgrade: h2c\r\n"), "GET /a 0"),
    Case("an empty line first", "\r\n" + get("/a", close), "GET /a 0"),
  ])
  func isServed(_ request: Case) async throws {
    let fixture = try await ServerFixture()
    let response = try await fixture.exchange(request.text)
    #expect(response.contains(" 200 OK\r\n") && response.hasSuffix("\r\n\r\n\(request.status)"), "\(response)")
    await fixture.stop()
  }

  /// However a request before it is framed, and whatever stands in its body.
  @Test(arguments: [
    get("/now"), get("/now", "X: a  b\r\n"), get("/a", "Content-Length: 9\r\n", method: "POST") + "GET  /\r\n\r",
    get("/a", "Transfer-Encoding: chunked\r\n", method: "POST") + "9\r\nGET  /\n\n\n\r\n3;a=b\r\na b\r\n0\r\n\r\n",
    get("/a", "Transfer-Encoding: chunked\r\n", method: "POST")
      + "00b;b=c\r\n0\r\n\r\nGET  /\r\n000\r\nX: a  b\r\n\r\n",
    get("/a", "Content-Length: 0\r\n", method: "POST"),
  ])
  func twoBlanksInALaterRequestAreFoundAndThoseElsewhereAreNone(_ first: String) async throws {
    let fixture = try await ServerFixture()
    for pieces in [1, 7, 10_000] {
      let connection = try fixture.connect()
      var rest = Array((first + first + get(" /b")).utf8)[...]
      while !rest.isEmpty {
        await connection.send(Array(rest.prefix(pieces)))
        rest = rest.dropFirst(pieces)
      }
      let response = await connection.readToEnd()
      #expect(response.components(separatedBy: " 200 OK").count == 3, "\(response)")
      #expect(response.components(separatedBy: " 400 Bad Request").count == 2 && !response.contains("/b"))
    }
    await fixture.stop()
  }

  @Test func aBodyOfEmptyLinesIsNotCutIntoThem() throws {
    let seen = Counter()
    let check = RequestLineCheck()
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandlers(
      check, PartCounter(seen), ByteToMessageHandler(HTTPRequestDecoder()), RequestLineCheck.End(of: check))
    let lines = String(repeating: "\n", count: 0x8000)
    try channel.writeInbound(
      ByteBuffer(
        string: get("/a", "Transfer-Encoding: chunked\r\n", method: "POST") + "8000\r\n\(lines)\r\n0\r\n\r\n"
          + get("/b")))
    // Two heads and a body.
    #expect(seen.value == 3)
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  @Test func theHostOfAnAbsoluteTargetCountsMoreThanTheField() async throws {
    let fixture = try await ServerFixture(respond: {
      .text($0.headers["host"].joined(separator: ","))
    })
    let response = try await fixture.exchange(get("http://other:1/a", Self.close))
    #expect(response.hasSuffix("\r\n\r\nother:1"))
    await fixture.stop()
  }
}

/// Counts what passes.
private final class PartCounter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let seen: Counter

  init(_ seen: Counter) { self.seen = seen }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    seen.increment()
    context.fireChannelRead(data)
  }
}
