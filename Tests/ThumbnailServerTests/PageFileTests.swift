@testable import HTTPServer
@testable import ThumbnailServer

/// The files of the page.
@Suite(.timeLimit(.minutes(5))) struct PageFileTests {
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
}
