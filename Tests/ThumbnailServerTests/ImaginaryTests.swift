import NIOHTTP1

@testable import HTTPServer
import TestSupport
@testable import ThumbnailCore
@testable import ThumbnailServer

/// The requests of imaginary's clients: its documented examples, and those that Nextcloud sends.
@Suite(.timeLimit(.minutes(2))) struct ImaginaryTests {
  private static func variant(_ operation: String, _ query: String) throws -> Variant {
    try ImaginaryRequest(operation: operation, parameters: QueryItems(query[...]).values).variant
  }

  private static func variant(pipeline: String) throws -> Variant { try ImaginaryRequest(pipeline: pipeline).variant }

  private static let longest = PixelSize.longestThumbnailSide

  @Test func theDocumentedOperationsAreVariants() throws {
    // Documentation of imaginary, HTTP API: parameters of the operations.
    #expect(
      try Self.variant("fit", "width=300&height=200")
        == Variant(size: PixelSize(300, 200), fit: .contain, format: .same))
    let crop = try Self.variant("crop", "width=500&height=400&gravity=north&type=webp&quality=70")
    var framing = Framing()
    framing.shortfall = .enlargesUnlessBoth
    #expect(
      crop
        == Variant(
          size: PixelSize(500, 400), fit: .cover, gravity: .north, format: .webp, quality: 70, framing: framing))
    let smart = try Self.variant("smartcrop", "width=200&height=100")
    #expect(
      smart == Variant(size: PixelSize(200, 100), fit: .cover, gravity: .attention, format: .same, framing: framing))
    let resize = try Self.variant("resize", "width=300&type=jpeg")
    let black = RGBColor(red: 0, green: 0, blue: 0)
    #expect(
      resize == Variant(size: PixelSize(300, Self.longest), fit: .contain, format: .jpeg, background: black))
    #expect(try Self.variant("resize", "width=300&height=200&force=true").fit == .fill)
    #expect(try Self.variant("resize", "width=300&height=200&nocrop=false").fit == .cover)
    #expect(try Self.variant("resize", "width=300").size == PixelSize(300, Self.longest))
    #expect(try Self.variant("thumbnail", "height=100").size == PixelSize(Self.longest, 100))
    #expect(try Self.variant("enlarge", "width=800&height=600&nocrop=false").enlarges)
    #expect(try Self.variant("convert", "type=png").format == .png)
    let background = try Self.variant("fit", "width=10&height=10&background=255,200,150&quality=0")
    #expect(background.background == RGBColor(red: 255, green: 200, blue: 150) && background.quality == 80)
  }

  @Test func theDocumentedPipelineIsOneVariant() throws {
    let variant = try Self.variant(
      pipeline: """
        [{"operation": "crop", "params": {"width": 500, "height": 260}},
         {"operation": "convert", "params": {"type": "webp", "quality": 85, "stripmeta": true}}]
        """)
    #expect(variant.size == PixelSize(500, 260) && variant.fit == .cover)
    #expect(variant.format == .webp && variant.quality == 85)
  }

  @Test(arguments: [
    ("", 400), ("operations=", 400), ("operations=[]", 400), ("operations={}", 400), ("operations=[1]", 400),
    ("operations=[{%22operation%22:%22blur%22}]", 400), ("operations=[{%22operation%22:%22fit%22}]", 400),
    ("operations=[{%22operation%22:%22fit%22,%22params%22:{%22width%22:-1}}]", 400),
    ("operations=[{%22operation%22:%22fit%22,%22params%22:{%22width%22:1e99}}]", 400),
    ("operations=[{%22operation%22:%22fit%22,%22params%22:{%22width%22:{}}}]", 400),
    ("operations=[{%22operation%22:%22fit%22,%22params%22:{%22width%22:9,%22height%22:9,%22type%22:%22bmp%22}}]", 400),
    (
      "operations=[{%22operation%22:%22fit%22,%22params%22:{%22width%22:9,%22height%22:9,%22quality%22:%22101%22}}]",
      400
    ),
    (
      "operations=%5B%7B%22operation%22%3A%22fit%22%2C%22params%22%3A%7B%22width%22%3A9%2C%22height%22%3A9%7D%7D%5D",
      200
    ),
  ])
  func whatIsNoPipelineIsAnErrorThatClientsRead(query: String, status: UInt) async throws {
    let fixture = try ServiceFixture()
    let response = await fixture.post("/pipeline?\(query)", try TestImages.bytes("formats/jpeg-420.jpg"))
    #expect(response.status.code == status, "\(response.text)")
    if status != 200 {
      #expect(response.object["status"] as? Int == Int(status) && response.object["message"] is String)
    }
  }

  @Test(arguments: [
    ("fit", "width=300"), ("fit", "width=9&height=9&rotate=90"), ("fit", "width=9&height=9&force=true"),
    ("resize", "width=9&colorspace=bw"), ("resize", "width=9&aspectratio=1"),
    ("resize", "width=9&aspectratio=1:\(Int.max)"),
    ("resize", "width=9&sigma=3"),
    ("resize", "width=9&palette=true"), ("resize", "width=9&flip=maybe"), ("resize", "width=9&type=gif"),
    ("enlarge", "width=9"), ("rotate", ""), ("rotate", "rotate=45"), ("extract", "areawidth=9"), ("convert", ""),
    ("extract", "areawidth=9&areaheight=9&width=9"), ("blur", "sigma=3"), ("zoom", "factor=2"), ("watermark", "text=a"),
  ])
  func whatWouldGiveAnotherPictureIsRefused(operation: String, query: String) {
    #expect(throws: ImaginaryRequest.Problem.self) { try Self.variant(operation, query) }
  }

  /// The requests of imaginary's own tests of its server and its operations, with the sizes that these expect.
  @Test(arguments: [
    ("crop", "width=300", 1920, 1080, 300, 1080), ("crop", "width=200&height=200", 1920, 1080, 200, 200),
    ("resize", "width=300&nocrop=false", 1920, 1080, 300, 1080),
    ("enlarge", "width=300&height=200", 1920, 1080, 300, 200),
    ("extract", "top=100&left=100&areawidth=200&areaheight=120", 1920, 1080, 200, 120),
    ("fit", "width=300&height=300", 1920, 1080, 300, 169), ("resize", "width=300&height=300", 550, 740, 300, 300),
    ("resize", "width=300", 550, 740, 300, 404), ("resize", "width=300&nocrop=false", 550, 740, 300, 740),
    ("resize", "width=300&nocrop=true", 550, 740, 300, 404), ("fit", "width=300&height=300", 550, 740, 223, 300),
    ("autorotate", "", 550, 740, 550, 740), ("fit", "width=710&height=9999", 1280, 1000, 710, 555),
    ("fit", "width=710&height=9999", 1279, 1000, 710, 555), ("fit", "width=312&height=312", 900, 500, 312, 173),
    ("fit", "width=313&height=313", 900, 500, 313, 174), ("fit", "width=710&height=999", 1299, 2000, 649, 999),
    ("fit", "width=710&height=999", 1500, 2000, 710, 947),
    // What its documentation and its source say of other requests.
    ("resize", "width=300&height=200&force=true", 1920, 1080, 300, 200),
    ("rotate", "rotate=90", 1920, 1080, 1080, 1920),
    ("rotate", "rotate=100", 1920, 1080, 1080, 1920), ("rotate", "rotate=450", 1920, 1080, 1080, 1920),
    ("rotate", "rotate=90&width=300", 1920, 1080, 300, 533), ("flip", "", 1920, 1080, 1920, 1080),
    ("flop", "width=100", 1920, 1080, 100, 56), ("thumbnail", "width=100", 1920, 1080, 100, 56),
    ("thumbnail", "width=100&height=100", 1920, 1080, 100, 100), ("thumbnail", "width=100", 50, 20, 100, 40),
    ("crop", "width=300&aspectratio=16:9", 1920, 1080, 300, 162),
    ("crop", "width=1000&height=2000", 1920, 1080, 1000, 2000),
    ("crop", "width=3000&height=3000", 1920, 1080, 1920, 1080), ("smartcrop", "width=300", 1920, 1080, 300, 1080),
    ("resize", "width=600&height=700", 550, 740, 600, 700), ("resize", "width=900&height=900", 550, 740, 550, 740),
    ("enlarge", "width=1440&height=900&nocrop=true", 400, 300, 1200, 900),
    ("resize", "width=-300.4", 1920, 1080, 300, 169), ("convert", "type=png", 1920, 1080, 1920, 1080),
  ])
  func aReplayedRequestHasItsSize(
    operation: String, query: String, width: Int, height: Int, wide: Int, high: Int
  ) throws {
    let variant = try Self.variant(operation, query)
    #expect(ThumbnailGeometry(source: PixelSize(width, height), variant: variant).output == PixelSize(wide, high))
  }

  @Test(arguments: [
    ("", "image/jpeg"), ("image/webp,*/*", "image/webp"), ("image/png,*/*", "image/png"),
    ("image/webp;q=0.8,image/jpeg", "image/webp"),
    ("text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,image/apng,*/*;q=0.8", "image/webp"),
  ])
  func theTypeGoesByTheFirstThatIsAccepted(accept: String, type: String) async throws {
    let fixture = try ServiceFixture()
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let response = await fixture.post("/crop?width=30&type=auto", picture, ["accept": accept])
    #expect(response.status == .ok && response["content-type"] == type && response["vary"] == "Accept")
  }

  @Test func aPipelineIsOneThumbnailOrAnError() throws {
    let turned = try Self.variant(
      pipeline: """
        [{"operation": "rotate", "params": {"rotate": 90}}, {"operation": "crop", "ignore_failure": true},
         {"operation": "extract", "params": {"areawidth": 400, "areaheight": 400}},
         {"operation": "fit", "params": {"width": 100, "height": 100, "norotation": "true"}}]
        """)
    #expect(ThumbnailGeometry(source: PixelSize(1920, 1080), variant: turned).output == PixelSize(100, 100))
    #expect(turned.framing.turn == Orientation(degrees: 90) && !turned.framing.needsUpright)
    for pipeline in [
      #"[{"operation": "crop", "params": {"width": 9}}, {"operation": "rotate", "params": {"rotate": 90}}]"#,
      #"[{"operation": "crop", "params": {"width": 9}}, {"operation": "resize", "params": {"width": 5}}]"#,
      #"[{"operation": "blur", "ignore_failure": true, "params": {"sigma": 1}}]"#,
      #"[{"operation": "extract", "ignore_failure": true, "params": {"areawidth": 9, "areaheight": 9}}]"#,
      #"[{"operation": "convert", "params": {"type": 1}}]"#, #"[{"operation": "autorotate", "other": 1}]"#,
    ] { #expect(throws: ImaginaryRequest.Problem.self) { try Self.variant(pipeline: pipeline) } }
  }

  @Test func whatIsNotCarriedOutHasImaginarysStatus() async throws {
    let fixture = try ServiceFixture()
    let picture = try TestImages.bytes("formats/orientation-6.jpg")
    for operation in ["zoom", "watermark", "watermarkimage", "blur"] {
      let response = await fixture.post("/\(operation)", picture)
      #expect(response.status == .notImplemented && response.object["status"] as? Int == 501)
      #expect((response.object["message"] as? String)?.contains(operation) == true)
    }
    for query in [
      "/extract?areawidth=9000&areaheight=9", "/fit?width=9&height=9&norotation=true", "/rotate?", "/crop?width=x",
    ] {
      let response = await fixture.post(query, picture)
      #expect(response.status == .badRequest && response.object["status"] as? Int == 400, "\(query): \(response.text)")
    }
  }

  @Test func elevenOperationsAreTooMany() {
    let one = #"{"operation": "fit", "params": {"width": 9}}"#
    #expect(throws: ImaginaryRequest.Problem.self) {
      try ImaginaryRequest(pipeline: "[\(Array(repeating: one, count: 11).joined(separator: ","))]")
    }
  }

  /// What Nextcloud's `lib/private/Preview/Imaginary.php` sends, with PHP's encoding of queries.
  private static func nextcloud(
    _ width: Int, _ height: Int, crop: Bool = false, type: String = "jpeg", quality: String = "80",
    first: String? = #"{"operation":"autorotate"}"#, key: String = ""
  ) throws -> String {
    let operation = crop ? "smartcrop" : "fit"
    let last =
      #"{"operation":"\#(operation)","params":{"width":\#(width),"height":\#(height),"stripmeta":"true","type":"\#(type)","#
      + #""norotation":"true","quality":"\#(quality)"}}"#
    let operations = "[\([first, last].compactMap { $0 }.joined(separator: ","))]"
    let encoded = try #require(operations.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    return "/pipeline?operations=\(encoded)&key=\(key)"
  }

  @Test func nextcloudGetsItsPreviewAndItsSize() async throws {
    let fixture = try ServiceFixture()
    for (file, first) in [
      ("formats/jpeg-420.jpg", #"{"operation":"autorotate"}"#),
      ("formats/orientation-6.jpg", #"{"operation":"autorotate"}"#),
      ("formats/avif.avif", nil), ("formats/gif-still.gif", #"{"operation":"convert","params":{"type":"jpeg"}}"#),
    ] {
      for crop in [false, true] {
        let target = try Self.nextcloud(32, 16, crop: crop, first: first)
        let response = await fixture.post(target, try TestImages.bytes(file), ["content-type": "image/jpeg"])
        #expect(response.status == .ok && response["content-type"] == "image/jpeg", "\(file): \(response.text)")
        let size = try #require(response.size)
        #expect(response["image-width"] == "\(size.width)" && response["image-height"] == "\(size.height)")
        #expect(crop ? size == PixelSize(32, 16) : size.width <= 32 && size.height == 16, "\(file): \(size)")
      }
    }
  }

  @Test func nextcloudsPreviewsOfTransparentPicturesAndOfWebPKeepTheirType() async throws {
    let fixture = try ServiceFixture()
    let png = try await fixture.post(Self.nextcloud(16, 16, type: "png"), TestImages.bytes("formats/avif-alpha.avif"))
    #expect(png["content-type"] == "image/png")
    let webp = try await fixture.post(
      Self.nextcloud(16, 16, type: "webp", quality: "30"), TestImages.bytes("formats/jpeg-420.jpg"))
    #expect(webp["content-type"] == "image/webp")
  }

  @Test func nextcloudReadsTheMessageOfAnError() async throws {
    let fixture = try ServiceFixture { $0.imaginaryKey = "secret" }
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    #expect(try await fixture.post(Self.nextcloud(16, 16, key: "secret"), picture).status == .ok)
    let keyless = try await fixture.post(Self.nextcloud(16, 16), picture)
    #expect(keyless.status == .unauthorized && keyless.object["message"] is String)
    let text = try await fixture.post(Self.nextcloud(16, 16, key: "secret"), Data("no picture".utf8))
    #expect(text.status.code == 415 && text.object["message"] as? String == "this is not a picture")
    let empty = try await fixture.post(Self.nextcloud(16, 16, key: "secret"), Data())
    #expect(empty.status == .badRequest)
  }

  @Test func nothingOfAnUploadIsKept() async throws {
    let fixture = try ServiceFixture()
    let response = await fixture.post("/fit?width=16&height=16", try TestImages.bytes("formats/jpeg-420.jpg"))
    #expect(response["cache-control"] == "no-store")
    await fixture.library.flush()
    #expect(fixture.library.statistics.storedBytes == 0)
  }

  @Test func aFormsFileIsTheImage() async throws {
    let fixture = try ServiceFixture()
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    func form(_ parts: [(head: String, body: Data)], boundary: String = "x-y") -> Data {
      var body = Data()
      for part in parts {
        body +=
          Data("--\(boundary)\r\nContent-Disposition: form-data; \(part.head)\r\n\r\n".utf8) + part.body
          + Data("\r\n".utf8)
      }
      return body + Data("--\(boundary)--\r\n".utf8)
    }
    let type: HTTPHeaders = ["content-type": "multipart/form-data; boundary=x-y"]
    let good = form([("name=\"a\"", Data("1".utf8)), ("name=\"file\"; filename=\"a.jpg\"", picture)])
    #expect(await fixture.post("/fit?width=16&height=16", good, type).status == .ok)
    let quoted: HTTPHeaders = ["content-type": "Multipart/Form-Data; charset=a; boundary=\"x-y\""]
    #expect(await fixture.post("/fit?width=16&height=16", good, quoted).status == .ok)
    for bad in [
      form([("name=\"a\"", picture)]), form([("name=\"file\"; filename=\"a\"", Data())]), Data("--x-y".utf8),
      Data("--x-y\r\n\r\n".utf8), form([]), good.prefix(good.count / 2),
      Data("--x-y\r\n".utf8) + Data(repeating: 97, count: 100_000),
      form([("name=\"file\"; filename=\"\(String(repeating: "a", count: 10_000))\"", picture)]),
    ] { #expect(await fixture.post("/fit?width=16&height=16", bad, type).status == .badRequest) }
    for boundary in ["", String(repeating: "a", count: 100)] {
      let fields: HTTPHeaders = ["content-type": "multipart/form-data; boundary=\(boundary)"]
      #expect(await fixture.post("/fit?width=16&height=16", good, fields).status == .badRequest)
    }
  }

  @Test func infoTellsSizeAndType() async throws {
    let fixture = try ServiceFixture()
    let response = await fixture.post("/info", try TestImages.bytes("formats/orientation-6.jpg"))
    #expect(response.status == .ok && response.object["type"] as? String == "jpeg")
    #expect(response.object["width"] is Int && response.object["height"] is Int)
    let health = await fixture.get("/health")
    #expect(health.status == .ok && health.object["uptime"] is Int && health.object["allocatedMemory"] is Double)
  }

  @Test func aPictureMayBeNamedInsteadOfSent() async throws {
    let folder = try #require(ServedFolder(path: TestImages.url("formats").path))
    let fixture = try ServiceFixture { $0.folder = folder }
    #expect(await fixture.get("/resize?width=16&height=16&url=\(fixture.origin.url("/a.jpg"))").status == .ok)
    #expect(await fixture.get("/resize?width=16&height=16&file=jpeg-420.jpg").status == .ok)
    for query in ["", "&file=", "&file=../a", "&file=%2e%2e/a", "&url=ftp://a/b", "&file=/etc/passwd"] {
      #expect(await fixture.get("/resize?width=16&height=16\(query)").status == .badRequest, "\(query)")
    }
    let put = await fixture.get("/resize?width=16", method: .PUT)
    #expect(put.status == .methodNotAllowed && put["allow"] == "GET, POST")
  }
}
