@testable import CodecTestSupport
@testable import ImageCodec

/// Placeholders equal those of other implementations of ThumbHash, from which the expected bytes are.
@Suite(.timeLimit(.minutes(5))) struct ThumbHashTests {
  private func raster(_ size: PixelSize, bands: Int, _ pixel: (Int, Int) -> [Int]) throws -> Raster {
    try Raster(size, bands: bands) { x, y in pixel(x, y).map { UInt8($0) } }
  }

  @Test func anOpaqueImageHasTheHashThatOthersGiveIt() throws {
    let image = try raster(PixelSize(32, 24), bands: 3) { x, y in
      [(x * x * 3 + y * 11) % 256, (x * 7 + y * y) % 256, (x * y * 2 + 40) % 256]
    }
    let expected: [UInt8] = [
      94, 8, 6, 13, 134, 64, 85, 102, 4, 84, 101, 35, 119, 72, 167, 164, 230, 15, 250, 105, 123,
    ]
    #expect(Placeholder(image).map { Array($0.thumbHash) } == expected)
  }

  @Test func transparencyIsInTheHash() throws {
    let image = try raster(PixelSize(20, 32), bands: 4) { x, y in
      [(x * x + y * 3) % 256, (40 + y * y / 5) % 256, (y * 7 + x) % 256, x * 3 < y + 20 ? 255 : 64]
    }
    let expected: [UInt8] = [
      92, 215, 141, 27, 8, 59, 85, 80, 152, 120, 135, 70, 159, 56, 241, 40, 111, 119, 132, 105, 119, 120, 120,
    ]
    #expect(Placeholder(image).map { Array($0.thumbHash) } == expected)
  }

  @Test(arguments: [PixelSize(1, 1), PixelSize(256, 256), PixelSize(300, 2), PixelSize(1, 4000)])
  func oneColourIsThatColour(size: PixelSize) throws {
    let placeholder = try #require(Placeholder(raster(size, bands: 3) { _, _ in [200, 10, 30] }))
    #expect(placeholder.colour == RGBColor(red: 200, green: 10, blue: 30))
    // The mean luminance in 6 bits.
    #expect(placeholder.thumbHash.first.map { $0 & 63 } == 20)
    #expect(Placeholder(bytes: placeholder.bytes) == placeholder)
  }

  @Test func lumaAndChromaGiveWhatTheirColoursGive() throws {
    let colours = try raster(PixelSize(64, 48), bands: 3) { [$0 * 3, $1 * 4, 255 - $0 * 2] }
    let (one, other) = try (#require(Placeholder(colours)), #require(Placeholder(colours.ycc())))
    #expect(one.thumbHash.count == other.thumbHash.count)
    #expect(abs(Int(one.colour.red) - Int(other.colour.red)) <= 1)
    #expect(abs(Int(one.colour.blue) - Int(other.colour.blue)) <= 1)
  }

  @Test func storedBytesThatAreNoneAreNoPlaceholder() {
    #expect(Placeholder(bytes: Data()) == nil)
    #expect(Placeholder(bytes: Data(count: 7)) == nil)
    #expect(Placeholder(bytes: Data(count: 29)) == nil)
    #expect(Placeholder(bytes: Data(count: 28))?.thumbHash.count == 25)
  }
}
