@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import ImageCodec

/// What confined decoders do not show: what docs/security.md says that the walls cost.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ConfinementCostTests {
  /// Whether a white drawing with an image all over it stays white.
  private func isWhite(_ image: String) async throws -> Bool {
    let drawing = """
      <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40">\
      <rect width="40" height="40" fill="white"/>\
      <image width="40" height="40" preserveAspectRatio="none" xlink:href="\(image)"/></svg>
      """
    let variant = Variant(size: PixelSize(40, 40), fit: .contain, format: .png)
    let thumbnail = try #require(try await HelperBench().render(Array(drawing.utf8), .svg, [variant]).first).get()
    try Codec.start()
    let pixels = try DecodedPixels(thumbnail.data)
    return (0..<40).allSatisfy { pixels.isNear([255, 255, 255], $0, 20, tolerance: 2) }
  }

  @Test(arguments: [("icc-display-p3.webp", "webp"), ("orientation-6.tif", "tiff"), ("bmp.bmp", "bmp")])
  func aDrawingShowsNoImagesOfOtherFormats(name: String, type: String) async throws {
    let bytes = try TestImages.bytes("formats/\(name)")
    #expect(try await isWhite("data:image/\(type);base64,\(bytes.base64EncodedString())"))
    // The same drawing shows others.
    let png = try TestImages.bytes("formats/icc-display-p3.png")
    #expect(try await !isWhite("data:image/png;base64,\(png.base64EncodedString())"))
  }

  @Test func aDrawingShowsNoFiles() async throws {
    #expect(try await isWhite(TestImages.url("formats/icc-display-p3.png").absoluteString))
  }

  @Test(arguments: ["iso-8859-16", "viscii"]) func aDrawingInARareEncodingIsRefused(_ encoding: String) async throws {
    let drawing = """
      <?xml version="1.0" encoding="\(encoding)"?>\
      <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10"/></svg>
      """
    #expect(try await HelperBench().failure(Array(drawing.utf8), .svg) != nil)
  }
}
