@testable import HTTPServer
@testable import ThumbnailCore
@testable import ThumbnailServer

/// The requests that Nextcloud sends to imaginary.
@Suite(.timeLimit(.minutes(5))) struct ImaginaryTests {
  private static func operation(_ name: String, _ parameters: String = "") -> String {
    #"{"operation":"\#(name)"\#(parameters.isEmpty ? "" : #","params":{\#(parameters)}"#)}"#
  }

  private static let box = #""width":40,"height":"30""#

  @Test func theOperationsAreOneVariant() throws {
    let fit = try ImaginaryPipeline.variant("[\(Self.operation("fit", Self.box))]")
    #expect(fit == Variant(size: PixelSize(40, 30), format: .same))
    let black = RGBColor(red: 0, green: 0, blue: 0)
    let crop = Self.operation("smartcrop", Self.box + #","type":"jpeg","quality":"70","norotation":"true""#)
    var framing = Framing()
    framing.enlargesUnlessBoth = true
    for first in [Self.operation("autorotate"), Self.operation("convert", #""type":"png""#)] {
      #expect(
        try ImaginaryPipeline.variant("[\(first),\(crop)]")
          == Variant(
            size: PixelSize(40, 30), fit: .cover, gravity: .attention, format: .jpeg, quality: 70, background: black,
            framing: framing))
    }
  }

  /// The sizes that imaginary's own tests expect.
  @Test(arguments: [
    ("fit", 300, 300, 1920, 1080, 300, 169), ("fit", 300, 300, 550, 740, 223, 300),
    ("fit", 710, 9999, 1279, 1000, 710, 555), ("fit", 313, 313, 900, 500, 313, 174),
    ("fit", 710, 999, 1299, 2000, 649, 999), ("smartcrop", 200, 200, 1920, 1080, 200, 200),
    // One side too short is enlarged, two are not.
    ("smartcrop", 1000, 2000, 1920, 1080, 1000, 2000), ("smartcrop", 3000, 3000, 1920, 1080, 1920, 1080),
  ])
  func aPreviewHasImaginarysSize(
    operation: String, width: Int, height: Int, wide: Int, high: Int, across: Int, down: Int
  ) throws {
    let pipeline = "[\(Self.operation(operation, #""width":\#(width),"height":\#(height)"#))]"
    let variant = try ImaginaryPipeline.variant(pipeline)
    #expect(ThumbnailGeometry(source: PixelSize(wide, high), variant: variant).output == PixelSize(across, down))
  }

  @Test(arguments: [
    ("", "operations"), ("[]", "fit"), ("{}", "operations"), ("[1]", "operations"), ("[{}]", "operation"),
    (operation("blur"), "blur"), (operation("fit"), "width"), (operation("fit", #""width":-1,"height":9"#), "width"),
    (operation("fit", #""width":9,"height":1e99"#), "height"), (operation("fit", #""width":{},"height":9"#), "width"),
    (operation("fit", box + #","type":"bmp""#), "bmp"), (operation("fit", box + #","quality":"101""#), "quality"),
    (operation("fit", box + #","rotate":90"#), "rotate"),
    (operation("fit", box + #","norotation":false"#), "norotation"),
    (operation("autorotate", #""width":9"#), "width"), (operation("convert", #""type":"gif""#), "gif"),
    (operation("autorotate"), "fit"), (operation("fit", box) + "," + operation("fit", box), "another fit"),
    (#"{"operation":"autorotate","ignore_failure":true}"#, "ignore_failure"),
  ])
  func whatNextcloudDoesNotSendIsRefusedByItsName(operations: String, name: String) async throws {
    let fixture = try ServiceFixture()
    let json = operations.hasPrefix(#"{""#) ? "[\(operations)]" : operations
    let response = await fixture.post(
      "/pipeline?operations=\(queryEncoded(json))", try TestImages.bytes("formats/jpeg-420.jpg"))
    #expect(response.status == .badRequest && response.object["status"] as? Int == 400)
    #expect((response.object["message"] as? String)?.contains(name) == true, "\(response.text)")
  }

  @Test func whatWasRemovedSaysSo() async throws {
    let fixture = try ServiceFixture()
    for path in ["/fit?width=9&height=9", "/resize", "/blur", "/info", "/health", "/imgproxy/a/w:40/plain/a"] {
      let response = await fixture.get(path)
      #expect(response.status == (path == "/blur" ? .notFound : .gone), "\(path)")
    }
    #expect(await fixture.get("/pipeline").status == .methodNotAllowed)
  }

  @Test func nextcloudGetsItsPreviewAndItsSize() async throws {
    let fixture = try ServiceFixture()
    for (file, first) in [
      ("formats/jpeg-420.jpg", #"{"operation":"autorotate"}"#),
      ("formats/orientation-6.jpg", #"{"operation":"autorotate"}"#),
      ("formats/avif.avif", nil), ("formats/gif-still.gif", #"{"operation":"convert","params":{"type":"jpeg"}}"#),
    ] {
      for crop in [false, true] {
        let target = nextcloudPreview(32, 16, crop: crop, first: first)
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
    let png = try await fixture.post(nextcloudPreview(16, 16, type: "png"), TestImages.bytes("formats/avif-alpha.avif"))
    #expect(png["content-type"] == "image/png")
    let webp = try await fixture.post(
      nextcloudPreview(16, 16, type: "webp", quality: "30"), TestImages.bytes("formats/jpeg-420.jpg"))
    #expect(webp["content-type"] == "image/webp")
  }

  @Test func nextcloudReadsTheMessageOfAnError() async throws {
    let fixture = try ServiceFixture { $0.imaginaryKey = "secret" }
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    #expect(await fixture.post(nextcloudPreview(16, 16, key: "secret"), picture).status == .ok)
    let keyless = await fixture.post(nextcloudPreview(16, 16), picture)
    #expect(keyless.status == .unauthorized && keyless.object["message"] is String)
    let text = await fixture.post(nextcloudPreview(16, 16, key: "secret"), Data("no picture".utf8))
    #expect(text.status.code == 415 && text.object["message"] as? String == "this is not a picture")
    let empty = await fixture.post(nextcloudPreview(16, 16, key: "secret"), Data())
    #expect(empty.status == .badRequest)
  }

  @Test func nothingOfAnUploadIsKept() async throws {
    let fixture = try ServiceFixture()
    let response = await fixture.post(nextcloudPreview(16, 16), try TestImages.bytes("formats/jpeg-420.jpg"))
    #expect(response["cache-control"] == "no-store")
    await fixture.library.flush()
    #expect(fixture.library.statistics.storedBytes == 0)
  }
}
