@testable import HTTPServer
import TestSupport
@testable import ThumbnailServer

/// The files of the page, and the lines of the access log.
@Suite(.timeLimit(.minutes(1))) struct PageFileTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/CGalleryPage/Page")

  @Test func eachFileOfTheFolderIsEmbedded() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(names.count > 10)
    for name in names {
      let file = try #require(PageFile.named(name), "\(name) is missing in page.c")
      let response = file.response(to: ServerRequest(.GET, "/page/\(name)"))
      let source = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
      // Scripts are sent without their comments, and with less space.
      let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
      let code = lines.filter { !$0.isEmpty && !Self.isComment($0) }
      let isScript = name.hasSuffix(".js")
      let sent = (isScript ? code : lines).joined(separator: "\n")
      let without = { (text: String) in isScript ? text.filter { !$0.isWhitespace } : text }
      #expect(without(response.text) == without(sent), "\(name)")
    }
  }

  /// Whether a line of the page's scripts, in their one style of comments, is a comment.
  private static func isComment(_ line: Substring) -> Bool {
    let text = line.drop { $0 == " " }
    return text.hasPrefix("//") || text.hasPrefix("/**") || text.hasPrefix("* ") || text == "*" || text == "*/"
  }

  @Test func thePageRunsNothingThatIsNotItsOwn() async throws {
    let fixture = try ServiceFixture()
    let response = await fixture.get("/page/index.html")
    let policy = try #require(response["content-security-policy"])
    #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
    #expect(
      !policy.contains("unsafe") && policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'none'"))
    #expect(response["x-content-type-options"] == "nosniff" && response["referrer-policy"] == "no-referrer")
    #expect(response["cross-origin-opener-policy"] == "same-origin")
    // Browsers ignore it over plain HTTP, and complain.
    for (client, isSecure) in [("192.0.2.1", false), ("192.0.2.1", true), ("::1", false)] {
      let served = await fixture.respond(
        ServerRequest(.GET, "/page/index.html", headers: ["host": "localhost"], client: client, isSecure: isSecure))
      #expect((served["cross-origin-opener-policy"] != nil) == (isSecure || client == "::1"))
    }
    let again = await fixture.get("/page/index.html", ["if-none-match": response["etag"] ?? ""])
    #expect(again.status == .notModified)
    for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) where name.hasSuffix(".html") {
      let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
      #expect(!text.contains("<style") && !text.contains(" style=") && !text.contains("javascript:"), "\(name)")
      for pattern in ["<script(?![^>]* src=)", " on[a-z]+=", "(src|href)=\"(https?:)?//"] {
        let found = text.contains(try Regex(pattern))
        #expect(!found, "\(name): \(pattern)")
      }
    }
  }

  @Test func withoutAGalleryTheHelpIsThePage() async throws {
    let fixture = try ServiceFixture()
    let page = await fixture.get("/")
    #expect(page.status == .ok && page["content-type"] == "text/html; charset=utf-8")
    #expect(await fixture.get("/help").data == page.data)
  }

  private static func line(_ format: AccessLog.Format, _ target: String, status: UInt? = 200) throws -> String {
    let directory = try TemporaryDirectory()
    let path = directory.url.appending(path: "log").path
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let log = AccessLog(format, to: descriptor)
    log.record(
      ServerExchange(
        client: "192.0.2.1", method: .GET, target: target, status: status.map { .init(statusCode: Int($0)) },
        byteCount: 7, duration: .microseconds(1_250)))
    log.flush()
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func aResponseIsALine() throws {
    #expect(try Self.line(.text, "/a?b=c") == "192.0.2.1 \"GET /a?b=c\" 200 7 1.2ms\n")
    #expect(
      try Self.line(.json, "/a?b=c", status: nil)
        == "{\"client\":\"192.0.2.1\",\"method\":\"GET\",\"target\":\"/a?b=c\",\"status\":499,\"bytes\":7,\"ms\":1.2}\n"
    )
  }

  @Test func noLineHasAKeyOrASignature() throws {
    for target in [
      "/thumb/4/a?key=k&expires=1&signature=SECRET", "/pipeline?operations=1&key=SECRET", "/pipeline?k%65y=SECRET&a=b",
      "/imgproxy/SECRET/w:1/plain/a", "//imgproxy//SECRET/w:1/plain/a", "/fit?signature=SECRET",
      "/pipeline?%6b%65%79=SECRET",
    ] { #expect(try !Self.line(.text, target).contains("SECRET"), "\(target)") }
  }

  private static let address = "http%3A%2F%2Fu%3APW%40example.org%2Fa%2Flake.jpg%3Ftoken%3DSECRET%23PART"

  @Test(arguments: [
    ("/thumb/50x50/\(address)", "/thumb/50x50/http://example.org/a/lake.jpg"),
    (
      "/thumb/50x50/\(address)?key=k&expires=9&signature=SECRET",
      "/thumb/50x50/http://example.org/a/lake.jpg?key=***&expires=9&signature=***"
    ),
    ("/thumb/50x50/\(address.replacing("%", with: "%25"))", "/thumb/50x50/http://example.org/a/lake.jpg"),
    (
      "/thumb/50x50/\(address.lowercased().replacing("secret", with: "SECRET"))",
      "/thumb/50x50/http://example.org/a/lake.jpg"
    ),
    ("/thumb/50x50/http://u:PW@example.org/a?token=SECRET", "/thumb/50x50/http://example.org/a?token=***"),
    ("/thumb/50x50/http%3A%2F%2Fu%3APW%40example.org%2F%FF%zz%3FSECRET", "/thumb/50x50/http://example.org/???%zz"),
    ("/thumb/50x50/albums/a%3Fb.jpg", "/thumb/50x50/albums/a%3Fb.jpg"),
    (
      "/cache?url=http://u:PW@example.org/a?x=1&token=SECRET&host=a",
      "/cache?url=http://example.org/a&token=***&host=a"
    ),
    ("/pipeline?operations=%5B%5D&u%72l=\(address)", "/pipeline?operations=%5B%5D&u%72l=http://example.org/a/lake.jpg"),
    ("/cache?url=\(address)", "/cache?url=http://example.org/a/lake.jpg"),
    ("/nothing/\(address)?a=\(address)", "/nothing/http://example.org/a/lake.jpg?a=http://example.org/a/lake.jpg"),
    ("/api/items?from=0&count=9", "/api/items?from=0&count=9"), ("/a?", "/a?"),
  ])
  func ofTheAddressOfASourceALineHasTheHostAndThePath(target: String, shown: String) throws {
    for format in AccessLog.Format.allCases {
      let line = try Self.line(format, target)
      #expect(line.contains(shown + "\""), "\(line)")
      for secret in ["SECRET", "PW", "PART", "token=S"] { #expect(!line.contains(secret), "\(line)") }
    }
  }

  @Test func aLineStaysALine() throws {
    for format in AccessLog.Format.allCases {
      let line = try Self.line(format, "/a\n192.0.2.2 \"GET /b\" \\ \u{1b}[0m ä")
      #expect(line.split(separator: "\n").count == 1 && !line.contains("\u{1b}") && !line.contains("ä"))
      #expect(try Self.line(format, "/" + String(repeating: "a", count: 8000)).utf8.count < 1200)
    }
    let json = try Self.line(.json, "/a\"b\\c")
    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(json.utf8)) }
  }
}
