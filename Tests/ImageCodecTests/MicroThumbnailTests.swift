@testable import CodecTestSupport
@testable import ImageCodec

/// Micro thumbnails are small JPEGs of the raster that their thumbnail is encoded from.
@Suite(.timeLimit(.minutes(1)))
struct MicroThumbnailTests {
  /// The size and the pixel in the middle of a JPEG.
  private func middle(of data: Data) throws -> (PixelSize, [Int]) {
    let size = try probe(.memory([UInt8](data))).size
    let pixels = try DecodedPixels([UInt8](data), Variant(size: size, fit: .contain, format: .png))
    return (size, pixels[size.width / 2, size.height / 2].map { Int($0) })
  }

  @Test(arguments: [
    (PixelSize(400, 300), PixelSize(32, 24)), (PixelSize(33, 400), PixelSize(3, 32)),
    (PixelSize(7, 5), PixelSize(7, 5)), (PixelSize(900, 1), PixelSize(32, 1)),
  ])
  func theLongerSideHas32Pixels(size: PixelSize, expected: PixelSize) throws {
    let image = try Raster(size, bands: 3) { _, _ in [200, 40, 90] }
    let data = try #require(MicroThumbnail.data(of: image, frame: size, ground: .white))
    #expect(data.count <= 640)
    let (made, pixel) = try middle(of: data)
    #expect(made == expected)
    #expect(zip(pixel, [200, 40, 90]).allSatisfy { abs($0 - $1) <= 6 })
  }

  @Test func whatIsTransparentShowsTheGround() throws {
    let image = try Raster(PixelSize(80, 60), bands: 4) { _, _ in [0, 0, 0, 0] }
    let ground = RGBColor(red: 90, green: 160, blue: 210)
    let data = try #require(MicroThumbnail.data(of: image, frame: image.size, ground: ground))
    #expect(try zip(middle(of: data).1, [90, 160, 210]).allSatisfy { abs($0 - $1) <= 6 })
  }

  @Test func ofStackedFramesTheFirstIsShown() throws {
    let image = try Raster(PixelSize(40, 90), bands: 3) { _, y in y < 30 ? [250, 250, 250] : [0, 0, 0] }
    let data = try #require(MicroThumbnail.data(of: image, frame: PixelSize(40, 30), ground: .white))
    let (size, pixel) = try middle(of: data)
    #expect(size == PixelSize(32, 24) && pixel.allSatisfy { $0 > 240 })
  }

  @Test func inksGiveNone() throws {
    let image = try Raster(PixelSize(40, 30), bands: 4, space: .cmyk) { _, _ in [1, 2, 3, 4] }
    #expect(MicroThumbnail.data(of: image, frame: image.size, ground: .white) == nil)
  }
}
