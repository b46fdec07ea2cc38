@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5))) struct JPEGEncoderTests {
  private func raster(_ pixel: (_ x: Int, _ y: Int) -> [UInt8]) throws -> Raster {
    try Raster(PixelSize(64, 48), bands: 3, pixel)
  }

  /// The sampling factors of the first component, from the frame header: 0x22 for halved chroma.
  private func sampling(_ data: Data) throws -> UInt8 {
    let bytes = [UInt8](data)
    let frame = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
    return bytes[frame + 11]
  }

  @Test func chromaIsHalvedUnlessSaturatedEdgesNeedIt() throws {
    let smooth = try raster { x, y in [UInt8(3 * x), UInt8(4 * y), 90] }
    let stripes = try raster { x, _ in x % 2 == 0 ? [255, 0, 0] : [0, 0, 255] }
    let gray = try raster { x, y in (x + y) % 2 == 0 ? [255, 255, 255] : [0, 0, 0] }
    for picture in [smooth, gray] { #expect(ChromaLoss.levels(picture) < 2) }
    #expect(ChromaLoss.levels(stripes) > 40)
    for (picture, quality, factors): (Raster, Int, UInt8) in [
      (smooth, 80, 0x22), (gray, 80, 0x22), (stripes, 80, 0x11), (smooth, 95, 0x11),
    ] { #expect(try sampling(JPEGEncoder(quality: quality).encode(picture)) == factors) }
  }

  @Test func lumaAndChromaAreWrittenAsTheyAre() throws {
    let picture = try raster { x, y in [UInt8(3 * x), UInt8(5 * y), UInt8(255 - 2 * x)] }
    let shown = try decoded(JPEGEncoder(quality: 95).encode(picture))
    let shownPlanes = try decoded(JPEGEncoder(quality: 95).encode(picture.ycc()))
    let differences = zip(shown, shownPlanes).map { abs(Int($0) - Int($1)) }
    #expect(differences.max() ?? 255 <= 8 && Double(differences.reduce(0, +)) / Double(differences.count) < 1)
  }

  @Test func moreEffortSavesBytes() throws {
    let picture = try raster { x, y in [UInt8(3 * x), UInt8((x * y) & 255), UInt8(255 - 2 * x)] }
    let plain = try JPEGEncoder(quality: 90).encode(picture)
    let small = try JPEGEncoder(quality: 90, effort: 9).encode(picture)
    #expect(small.count < plain.count)
    #expect(try decoded(small) == decoded(plain))
  }

  private func decoded(_ data: Data) throws -> [UInt8] { try DecodedPixels(data).bytes }
}
