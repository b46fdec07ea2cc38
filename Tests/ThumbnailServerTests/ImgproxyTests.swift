import NIOHTTP1

@testable import HTTPServer
import TestSupport
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
    let variant = request.variant(accepted: .webp)
    #expect(variant.size == PixelSize(300, 400) && variant.gravity == .attention && variant.format == .png)
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
    let options = "rs:fill-down:30:20/g:no/q:55/f:avif/el:1/bg:255:128:0/sm:1/ar:1/scp:0/cb:v7/fn:a/exp:2000000000"
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
    "/_/rs:none:1:1/plain/a", "/_/blur:5/plain/a", "/_/g:fp:0.5:1.5/plain/a", "/_/g:fp:0.5/plain/a",
    "/_/rot:45/plain/a",
    "/_/skp:png/plain/a", "/_/wm:0.5/plain/a", "/_/pr:sharp/plain/a", "/_/t:10/plain/a", "/_/ex:1:sm/plain/a",
    "/_/g:obj:face/plain/a", "/_/g:sm:1:1/plain/a", "/_/pd:a/plain/a", "/_/z:0/plain/a", "/_/fl:1:1:1/plain/a",
    "/_/w:1:2/plain/a", "/_/att:1/plain/a", "/_/c:9:9:sm/rs:fill:3:3/plain/a", "/_/w:1/plain/a@png@webp",
    "/_/q:101/plain/a", "/_/q:/plain/a",
    "/_/f:gif/plain/a", "/_/dpr:0/plain/a", "/_/dpr:nan/plain/a", "/_/bg:red/plain/a", "/_/bg:1:2/plain/a",
    "/_/w:1/plain/a@bmp", "/_/w:1/ÿ", "/_/w:1/!!!!", "/_/w:1/_____w", "/_/w:1", "/_/w:1/",
    "/_/exp:abc/plain/a", "/_/raw:1/plain/a", "/_/ar:0/plain/a",
  ])
  func whatIsNoAddressOrCannotBeDoneIsAnError(path: String) {
    #expect(throws: ImgproxyRequest.Problem.self) { try ImgproxyRequest(path: path[...]) }
  }

  /// What imgproxy's documentation and source say of a picture of 1920 × 1080 pixels.
  @Test(arguments: [
    ("rs:fit:300:300", 300, 169), ("rs:fill:300:300", 300, 300), ("rs:fill:3000:3000", 1920, 1080),
    ("rs:fill:1000:2000", 1000, 1080), ("rs:fill-down:3000:3000", 1080, 1080), ("rs:force:300:300", 300, 300),
    ("rs:force:3000:500", 1920, 320), ("rs:force:300:0", 300, 1080), ("rs:fill:3000:3000:1", 3000, 3000),
    ("rs:fit:300:300:0:1", 300, 300), ("rs:fit:3000:3000:0:1", 3000, 3000), ("rs:auto:300:200", 300, 200),
    ("rs:auto:200:300", 200, 113), ("w:300", 300, 169), ("h:200", 356, 200), ("s:300:200", 300, 169),
    ("rs:fit:300:300/dpr:2", 600, 338), ("rs:fill:1000:1000/dpr:2", 1080, 1080), ("rs:fit:200:0/mw:400", 200, 225),
    ("w:100/mh:300", 100, 300), ("mw:3000", 3000, 1688), ("z:0.5", 960, 540), ("z:0.5:0.25", 960, 270),
    ("z:2/rs:fit:300:300", 600, 338), ("z:2", 1920, 1080), ("z:2/el:1", 3840, 2160),
    ("rs:force:100:10/z:1e-320/mw:300", 1, 1),
    ("c:100:200", 100, 200),
    ("c:0.5:0.5", 960, 540), ("c:0:100", 1920, 100), ("c:3000:100", 1920, 100),
    ("c:400:400:nowe:10:20/w:100", 100, 100),
    ("c:400:200:sm/w:100", 100, 50), ("g:fp:0.1:0.9/rs:fill:300:300", 300, 300), ("ex:1/rs:fit:300:300", 300, 300),
    ("exar:1/rs:fit:300:150", 300, 150), ("exar:1/rs:fit:4000:4000", 1920, 1920), ("pd:10/rs:fit:300:300", 320, 189),
    ("pd:10:20:30:40/rs:fit:300:300", 360, 209), ("pd:10/dpr:2/rs:fit:300:300", 640, 378),
    ("rot:90/rs:fit:300:300", 169, 300), ("rot:-90", 1080, 1920), ("rot:90/c:200:100/w:50", 50, 25),
    ("fl:1", 1920, 1080),
    ("el:1", 1920, 1080), ("dpr:2", 1920, 1080), ("dpr:0.5/rs:fit:300:300", 150, 84),
  ])
  func aReplayedAddressHasItsSize(options: String, width: Int, height: Int) throws {
    let variant = try ImgproxyRequest(path: "/_/\(options)/plain/a"[...]).variant(accepted: .same)
    #expect(ThumbnailGeometry(source: PixelSize(1920, 1080), variant: variant).output == PixelSize(width, height))
  }

  @Test func offsetsAndPointsSayWhatIsKept() throws {
    func corner(_ options: String) throws -> PixelRectangle {
      let variant = try ImgproxyRequest(path: "/_/\(options)/plain/a"[...]).variant(accepted: .same)
      let geometry = ThumbnailGeometry(source: PixelSize(1920, 1080), variant: variant)
      return options.hasPrefix("c") ? geometry.region : geometry.cutRectangle
    }
    let square = PixelSize(540, 540)
    #expect(try corner("rs:fill:540:540/g:ea:10:0") == PixelRectangle(x: 410, y: 0, size: square))
    #expect(try corner("rs:fill:540:540/g:we:0.1:0") == PixelRectangle(x: 96, y: 0, size: square))
    #expect(try corner("rs:fill:540:540/g:ce:-20:0") == PixelRectangle(x: 190, y: 0, size: square))
    #expect(try corner("rs:fill:540:540/g:fp:0.5:0.5") == PixelRectangle(x: 210, y: 0, size: square))
    #expect(try corner("rs:fill:540:540/g:fp:1:0") == PixelRectangle(x: 420, y: 0, size: square))
    let crop = PixelSize(400, 300)
    #expect(try corner("c:400:300:soea:10:20") == PixelRectangle(x: 1510, y: 760, size: crop))
    #expect(try corner("c:400:300:noea:5000:0") == PixelRectangle(x: 0, y: 0, size: crop))
    #expect(try corner("c:400:300/g:so") == PixelRectangle(x: 760, y: 780, size: crop))
  }

  @Test func aClientThatNamesNoTypeGetsThePicturesOwnOrJPEGOrPNG() async throws {
    for (file, type) in [
      ("png-rgb.png", "image/png"), ("jpeg-420.jpg", "image/jpeg"), ("gif-still.gif", "image/gif"),
      ("orientation-6.webp", "image/jpeg"), ("orientation-6.tif", "image/jpeg"), ("avif-alpha.avif", "image/png"),
    ] {
      let picture = try TestImages.bytes("formats/\(file)")
      let fixture = try ServiceFixture { _ in
      } answer: { _ in
        .ok(picture, type: "application/octet-stream")
      }
      let response = await fixture.get("/imgproxy/_/w:20/plain/\(fixture.origin.url("/a"))")
      #expect(response.status == .ok && response["content-type"] == type, "\(file): \(response.text.prefix(100))")
    }
  }

  @Test func anyKeyOfSeveralMaySign() throws {
    let key = try #require(ImgproxyKey(key: "00ff,736563726574", salt: "0102,68656C6C6F"))
    let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
    #expect(key.accepts(try ImgproxyRequest(path: "/oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8\(path)"[...])))
    #expect(ImgproxyKey(key: "00ff,73", salt: "0102") == nil && ImgproxyKey(key: "00ff,", salt: "01,02") == nil)
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
