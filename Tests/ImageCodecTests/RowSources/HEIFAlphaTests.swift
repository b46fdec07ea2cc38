@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// Alpha of HEIC and AVIF, however it is stored, is where the image's colours are.
@Suite(.timeLimit(.minutes(5))) struct HEIFAlphaTests {
  /// Red, green and alpha say where a pixel is stored.
  private static func pixel(_ x: Int, _ y: Int) -> [UInt8] { [UInt8(2 * x), UInt8(4 * y), 60, UInt8(255 - x)] }

  /// Boxes that turn, mirror and crop, the size after them, and the place in which each pixel is stored.
  struct Showing: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var boxes: [[UInt8]] = []
    var size = PixelSize(128, 64)
    var place: @Sendable (Int, Int) -> (x: Int, y: Int)
  }

  private static let part = TileFile.box("clap", [96, 1, 32, 1, 8, 1, -4, 1].flatMap { TileFile.number($0, 4) })
  private static func turned(_ turns: UInt8) -> [UInt8] { TileFile.box("irot", [turns]) }
  private static func mirrored(_ axis: UInt8) -> [UInt8] { TileFile.box("imir", [axis]) }

  static let showings = [
    Showing(testDescription: "as stored") { ($0, $1) },
    Showing(testDescription: "irot 1", boxes: [turned(1)], size: PixelSize(64, 128)) { (127 - $1, $0) },
    Showing(testDescription: "irot 2", boxes: [turned(2)]) { (127 - $0, 63 - $1) },
    Showing(testDescription: "irot 3", boxes: [turned(3)], size: PixelSize(64, 128)) { ($1, 63 - $0) },
    Showing(testDescription: "imir 0", boxes: [mirrored(0)]) { ($0, 63 - $1) },
    Showing(testDescription: "imir 1", boxes: [mirrored(1)]) { (127 - $0, $1) },
    Showing(testDescription: "clap", boxes: [part], size: PixelSize(96, 32)) { (24 + $0, 12 + $1) },
    Showing(testDescription: "all", boxes: [part, turned(1), mirrored(1)], size: PixelSize(32, 96)) {
      (24 + 95 - $1, 12 + 31 - $0)
    },
  ]

  @Test(arguments: showings, TileFile.Alpha.allCases)
  func alphaIsShownAsItsImageIs(_ showing: Showing, _ alpha: TileFile.Alpha) throws {
    let picture = TestPicture(128, 64, bands: 4, Self.pixel)
    let codings = [(ImageFormat.avif, 8), (.heif, 10), (.heif, 8), (.avif, 12)]
    for (index, (format, bits)) in codings.enumerated() {
      // Colours in tiles and in one item.
      for side in alpha == .item ? [64, 128] : [64] {
        var file = TileFile(format: format, side: side, isFullRange: true, bits: bits, alpha: alpha)
        (file.showing, file.showsAlpha, file.isPremultiplied) = (showing.boxes, index % 2 == 1, index % 3 == 1)
        let variant = Variant(size: showing.size, fit: .contain, format: .png)
        let shown = try DecodedPixels(file.bytes(picture), variant)
        #expect(shown.size == showing.size && shown.bands == 4, "\(format) \(bits)")
        for (x, y) in [(5, 5), (20, 9), (9, 25), (27, 27), (showing.size.width - 6, showing.size.height - 6)] {
          let place = showing.place(x, y)
          let expected = Self.pixel(place.x, place.y)
          #expect(shown.isNear(expected, x, y, tolerance: 10), "\(format) \(bits) \(side): \(shown[x, y]), \(expected)")
        }
      }
    }
  }
}
