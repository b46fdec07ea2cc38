@testable import HTTPServer
@testable import HTTPTransport
@testable import ThumbnailServer

/// Patterns of hosts, names of the server, origins of requests, and rates.
@Suite(.timeLimit(.minutes(5))) struct AccessTests {
  @Test(arguments: [
    ("example.org", "http://example.org/a", true), ("example.org", "https://EXAMPLE.org:8443/a", true),
    ("Example.org", "http://example.org", true), ("example.org", "http://a.example.org", false),
    ("example.org", "http://example.org.evil.com", false), ("example.org", "http://evilexample.org", false),
    ("example.org", "http://evil.com/example.org", false), ("example.org", "http://evil.com?example.org", false),
    ("example.org", "http://evil.com#@example.org/", false), ("example.org", "http://example.org@evil.com/", false),
    ("example.org", "http://example.org%2eevil.com/", false),
    ("example.org", "http://example.org./", false),
    ("*.example.org", "http://a.example.org", true), ("*.example.org", "http://a.b.example.org", true),
    ("*.example.org", "http://example.org", false), ("*.example.org", "http://aexample.org", false),
    ("[::1]", "http://[::1]:80/", true), ("127.0.0.1", "http://127.0.0.1/", true),
    ("127.0.0.1", "http://2130706433/", false),
  ])
  func aPatternIsAWholeNameOrAllBelowOne(pattern: String, url: String, matches: Bool) throws {
    let pattern = try #require(HostPattern(parsing: pattern))
    #expect(URL(string: url).map { pattern.matches($0) } ?? false == matches)
  }

  @Test(arguments: ["", "*", "*.", "a*", "*a", "a.*", "*.*.org", "a/b", "a:80", "a@b", "a b", "http://a"])
  func whatIsNoPatternIsRefused(text: String) { #expect(HostPattern(parsing: text) == nil) }

  private static func problem(
    _ fields: HTTPHeaders, _ method: HTTPMethod = .GET, _ route: Route = .api, hosts: Set<String>? = nil
  ) -> String? {
    let known = hosts ?? ThumbnailServer.Configuration().hosts.union(["gallery.example.org"])
    return RequestGuard(hosts: known, token: "token").problem(
      with: ServerRequest(method, "/api/sessions", headers: fields), route
    )?.code
  }

  @Test(arguments: [
    "localhost", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080", "[::1]", "gallery.example.org:443", "192.168.1.5:80",
    "[fe80::1]:8080", "0.0.0.0:8080",
  ])
  func theServersOwnNamesAndAddressesAreAnswered(host: String) { #expect(Self.problem(["host": host]) == nil) }

  @Test(arguments: [
    "", "evil.com", "localhost.evil.com", "evil.localhost", "localhost.", "gallery.example.org.evil.com",
    "xgallery.example.org", "[::1].evil.com", "127.0.0.1.evil.com", "127.1", "0x7f000001", "2130706433",
  ])
  func aNameThatSomebodyHasPointedHereIsRefused(host: String) {
    #expect(Self.problem(["host": host]) == "wrong-host")
    #expect(Self.problem(["host": host], hosts: []) == nil)
    #expect(Self.problem(["host": host], .GET, .health) == nil)
  }

  @Test(arguments: [
    ("http://localhost:8080", nil), ("https://localhost:8080", nil), ("http://localhost:3000", "wrong-origin"),
    ("http://localhost", "wrong-origin"), ("http://evil.com", "wrong-origin"), ("null", "wrong-origin"),
    ("http://evil.com/localhost:8080", "wrong-origin"), ("", "wrong-origin"), ("file://", "wrong-origin"),
  ])
  func onlyPagesOfTheSameOriginChangeAnything(origin: String, problem: String?) {
    let fields: HTTPHeaders = ["host": "localhost:8080", "origin": origin, RequestGuard.tokenField: "token"]
    for method in [HTTPMethod.POST, .PUT, .DELETE] { #expect(Self.problem(fields, method) == problem) }
    #expect(Self.problem(fields, .POST, .imaginary) == problem)
    #expect(Self.problem(fields, .GET) == nil)
  }

  @Test func aBrowsersWordOfAnotherSiteCounts() {
    for (site, problem) in [
      ("cross-site", "wrong-origin"), ("same-site", "wrong-origin"), ("same-origin", nil), ("none", nil),
    ] {
      let fields: HTTPHeaders = ["host": "localhost", "sec-fetch-site": site, RequestGuard.tokenField: "token"]
      #expect(Self.problem(fields, .POST) == problem)
    }
  }

  @Test func thePageHasToSendItsToken() {
    #expect(Self.problem(["host": "localhost"], .POST) == "no-token")
    #expect(Self.problem(["host": "localhost", RequestGuard.tokenField: "tokem"], .POST) == "no-token")
    #expect(Self.problem(["host": "localhost", RequestGuard.tokenField: ""], .POST) == "no-token")
    #expect(Self.problem(["host": "localhost", RequestGuard.tokenField: "token"], .POST) == nil)
    // Programs that upload have a key of their own.
    #expect(Self.problem(["host": "localhost"], .POST, .imaginary) == nil)
  }

  @Test func aTrustedProxyNamesItsClient() throws {
    let proxies = TrustedProxies([try AddressRange("127.0.0.1"), try AddressRange("10.0.0.0/8")])
    func client(_ peer: String, _ fields: String...) -> String {
      proxies.client(peer, HTTPHeaders(fields.map { ("X-Forwarded-For", $0) }))
    }
    #expect(client("127.0.0.1", "192.0.2.1") == "192.0.2.1")
    #expect(client("local", "192.0.2.1") == "192.0.2.1")
    // The client says that it is another: what its proxy adds counts.
    #expect(client("127.0.0.1", "198.51.100.7, 192.0.2.1") == "192.0.2.1")
    #expect(client("127.0.0.1", "198.51.100.7", "192.0.2.1,10.1.2.3") == "192.0.2.1")
    #expect(client("127.0.0.1", "10.1.2.3") == "10.1.2.3")
    #expect(client("127.0.0.1", "192.0.2.1:4711") == "192.0.2.1")
    #expect(client("127.0.0.1", "[2001:db8::1]:4711") == "2001:db8::1")
    // As a proxy with an IPv6 socket writes an IPv4 address.
    #expect(client("127.0.0.1", "192.0.2.1, ::ffff:10.1.2.3") == "192.0.2.1")
    #expect(client("127.0.0.1", "::ffff:192.0.2.1") == "192.0.2.1")
    for odd in ["", "unknown", "192.0.2.1, _hidden", " , "] { #expect(client("127.0.0.1", odd) == "127.0.0.1") }
    // Nobody else is believed.
    #expect(client("192.0.2.9", "192.0.2.1") == "192.0.2.9")
    #expect(TrustedProxies([]).client("127.0.0.1", ["x-forwarded-for": "192.0.2.1"]) == "127.0.0.1")
  }

  @Test func aClientHasABurstAndThenItsRate() {
    let limiter = RateLimiter(rate: 2, burst: 4)
    let begin = NIODeadline.uptimeNanoseconds(1_000_000_000)
    #expect((0..<5).map { _ in limiter.admits("a", at: begin) } == [true, true, true, true, false])
    #expect(limiter.admits("b", at: begin))
    #expect(!limiter.admits("a", at: begin + .milliseconds(400)))
    #expect(limiter.admits("a", at: begin + .milliseconds(600)))
    #expect((0..<6).map { _ in limiter.admits("a", at: begin + .seconds(3600)) }.filter { $0 }.count == 4)
  }

  @Test func theAddressesOfOneNetworkAreOneClient() {
    let limiter = RateLimiter(rate: 0.5, burst: 1)
    let begin = NIODeadline.uptimeNanoseconds(1_000_000_000)
    #expect(limiter.admits("2001:db8:1:2::1", at: begin))
    #expect(!limiter.admits("2001:db8:1:2:ffff::9", at: begin))
    #expect(limiter.admits("2001:db8:1:3::1", at: begin))
    #expect(limiter.admits("local", at: begin) && limiter.admits("192.0.2.1", at: begin))
    #expect(!limiter.admits("::ffff:192.0.2.1", at: begin) && limiter.admits("::ffff:192.0.2.2", at: begin))
  }

  @Test func aCrowdOfAddressesTakesNoMoreMemory() {
    let limiter = RateLimiter(rate: 0.001, burst: 2)
    var time = NIODeadline.uptimeNanoseconds(1_000_000_000)
    for _ in 0..<2 { #expect(limiter.admits("10.0.0.0", at: time)) }
    for number in 1..<30_000 {
      time = time + .microseconds(100)
      #expect(limiter.admits("10.\(number >> 16).\(number >> 8 & 255).\(number & 255)", at: time))
    }
    #expect(limiter.clientCount <= 20_000)
    // Who has used up the burst is not forgotten among those who have not.
    #expect(!limiter.admits("10.0.0.0", at: time))
  }
}
