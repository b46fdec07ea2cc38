import Foundation
import NIOHTTP1
import Testing

@testable import HTTPServer
@testable import TestSupport
@testable import ThumbnailCore
@testable import ThumbnailServer

/// The addresses that imgproxy's documentation shows.
@Suite(.timeLimit(.minutes(2))) struct ImgproxyTests {
  private static let longest = PixelSize.longestThumbnailSide

  @Test func theDocumentedSignatureIsAccepted() throws {
    // “Signing a URL”, the example with key and salt “secret” and “hello”.
    let key = try #require(ImgproxyKey(key: "736563726574", salt: "68656C6C6F"))
    let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
    let request = try ImgproxyRequest(path: "/oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8\(path)"[...])
    #expect(key.accepts(request))
    #expect(request.source == "http://example.com/images/curiosity.jpg")
    #expect(
      request.variant(accepted: .webp)
        == Variant(size: PixelSize(300, 400), fit: .cover, gravity: .attention, format: .png))
    for other in [
      path.replacing("300", with: "301"), path + "/", path.replacing("/aHR0", with: "//aHR0"),
      path.replacing("g:sm", with: "g%3Asm"),
    ] {
      let altered = try? ImgproxyRequest(path: "/oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8\(other)"[...])
      #expect(altered.map { key.accepts($0) } != true, "\(other)")
    }
    for signature in ["oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH9", "oKfUtW34", "insecure", "_"] {
      #expect(!key.accepts(try ImgproxyRequest(path: "/\(signature)\(path)"[...])))
    }
  }

  @Test func aPlainSourceIsSignedWithItsSlashes() throws {
    let key = try #require(ImgproxyKey(key: "736563726574", salt: "68656C6C6F"))
    let path =
      "/v4il5rmSYrVOW341NliE_MPcqrwWLyWyeHNDz9YGFBs/rs:fill:300:400:0/g:sm/plain/http://example.com/images/curiosity.jpg@png"
    let request = try ImgproxyRequest(path: path[...])
    #expect(request.source == "http://example.com/images/curiosity.jpg" && request.format == .png)
    #expect(key.accepts(request))
  }

  @Test(arguments: [
    ("rs:fit:300:200", 300, 200, Fit.contain), ("resize:fill:300:200", 300, 200, .cover),
    ("rs:force:300:200", 300, 200, .fill),
    ("rs::300:200", 300, 200, .contain), ("s:300:200", 300, 200, .contain), ("size:300", 300, longest, .contain),
    ("w:300/h:200/rt:fill", 300, 200, .cover), ("width:300", 300, longest, .contain), ("h:200", longest, 200, .contain),
    ("rs:fill:300:0", 300, longest, .contain), ("rs:fit:300:200/dpr:2", 600, 400, .contain),
  ])
  func resizingIsABoxAndAFit(options: String, width: Int, height: Int, fit: Fit) throws {
    let request = try ImgproxyRequest(path: "/insecure/\(options)/plain/https%3A%2F%2Fexample.org%2Fa.jpg"[...])
    let variant = request.variant(accepted: .webp)
    #expect(variant.size == PixelSize(width, height) && variant.fit == fit && variant.format == .webp)
    #expect(request.source == "https://example.org/a.jpg")
  }

  @Test func theOtherCommonOptionsCount() throws {
    let options = "rs:fill:30:20/g:no/q:55/f:avif/el:1/bg:255:128:0/sm:1/ar:1/scp:0/cb:v7/fn:a/exp:2000000000"
    let request = try ImgproxyRequest(path: "/_/\(options)/plain/local%2Fa%40b.jpg"[...])
    #expect(
      request.variant(accepted: .webp)
        == Variant(
          size: PixelSize(30, 20), fit: .cover, gravity: .north, format: .avif, quality: 55,
          background: RGBColor(red: 255, green: 128, blue: 0), enlarges: true))
    #expect(request.expires == 2_000_000_000 && request.source == "local/a@b.jpg")
    #expect(
      try ImgproxyRequest(path: "/_/bg:ff8000/w:1/plain/a"[...]).background == RGBColor(red: 255, green: 128, blue: 0))
  }

  @Test(arguments: [
    "", "/", "/a", "/a/", "/_/plain/", "/_/plain/%", "/_/w:x/plain/a", "/_/w:-1/plain/a", "/_/w:99999/plain/a",
    "/_/rs:auto:1:1/plain/a", "/_/blur:5/plain/a", "/_/g:fp:0.5:0.5/plain/a", "/_/q:101/plain/a", "/_/q:/plain/a",
    "/_/f:gif/plain/a", "/_/dpr:0/plain/a", "/_/dpr:nan/plain/a", "/_/bg:red/plain/a", "/_/bg:1:2/plain/a",
    "/_/w:1/plain/a@bmp", "/_/w:1/ÿ", "/_/w:1/!!!!", "/_/w:1/_____w", "/_/w:1", "/_/w:1/",
    "/_/exp:abc/plain/a", "/_/raw:1/plain/a", "/_/ar:0/plain/a", "/_/rs:fit:3:3:0:1/plain/a", "/_/g:no:0:5/plain/a",
  ])
  func whatIsNoAddressOrCannotBeDoneIsAnError(path: String) {
    #expect(throws: ImgproxyRequest.Problem.self) { try ImgproxyRequest(path: path[...]) }
  }

  @Test func enlargingNeedsASize() throws {
    #expect(try !ImgproxyRequest(path: "/_/el:1/plain/a").variant(accepted: .webp).enlarges)
  }

  @Test func anAddressIsServed() async throws {
    let key = try #require(ImgproxyKey(key: "736563726574", salt: "68656C6C6F"))
    let fixture = try ServiceFixture { $0.imgproxyKey = key }
    let open = try ServiceFixture()
    func signed(_ path: String) throws -> String {
      let digest = HMAC.sha256(Array("hello\(path)".utf8), key: Array("secret".utf8))
      return "/imgproxy/\(Base64URL.encode(digest))\(path)"
    }
    let path = "/rs:fit:40:40/plain/\(fixture.origin.url("/a.jpg"))"
    let response = await fixture.get(try signed(path), ["accept": "image/webp"])
    #expect(response.status == .ok && response["content-type"] == "image/webp" && response["vary"] == "Accept")
    let fixed = await fixture.get(try signed(path + "@jpg"), ["accept": "image/webp"])
    #expect(fixed["content-type"] == "image/jpeg" && fixed["vary"] == nil)
    #expect(await fixture.get("/imgproxy/insecure\(path)").status == .forbidden)
    #expect(await fixture.get(try signed("/exp:1\(path)")).status == .notFound)
    #expect(await fixture.get(try signed(path), method: .POST).status == .methodNotAllowed)
    #expect(await open.get("/imgproxy/insecure/w:40/plain/\(open.origin.url("/a.jpg"))").status == .ok)
    #expect(await open.get("/imgproxy/insecure/blur:4/plain/\(open.origin.url("/a.jpg"))").status == .notFound)
    #expect(ImgproxyKey(key: "", salt: "") == nil && ImgproxyKey(key: "xy", salt: "") == nil)
  }
}
