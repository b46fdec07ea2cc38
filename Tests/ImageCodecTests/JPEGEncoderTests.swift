import Foundation
import Testing

@testable import ImageCodec
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5)))
struct JPEGEncoderTests {
  private func raster(_ pixel: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8)) throws -> Raster {
    try Raster(size: PixelSize(64, 48), bands: 3) { output in
      for y in 0..<48 {
        for x in 0..<64 {
          let (red, green, blue) = pixel(x, y)
          (output[(y * 64 + x) * 3], output[(y * 64 + x) * 3 + 1], output[(y * 64 + x) * 3 + 2]) = (red, green, blue)
        }
      }
    }
  }

  /// The sampling factors of the first component, from the frame header: 0x22 for halved chroma.
  private func sampling(_ data: Data) throws -> UInt8 {
    let bytes = [UInt8](data)
    let frame = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
    return bytes[frame + 11]
  }

  @Test func chromaIsHalvedUnlessSaturatedEdgesNeedIt() throws {
    let smooth = try raster { x, y in (UInt8(3 * x), UInt8(4 * y), 90) }
    let stripes = try raster { x, _ in x % 2 == 0 ? (255, 0, 0) : (0, 0, 255) }
    let gray = try raster { x, y in (x + y) % 2 == 0 ? (255, 255, 255) : (0, 0, 0) }
    for picture in [smooth, gray] { #expect(ChromaLoss.levels(picture) < 2) }
    #expect(ChromaLoss.levels(stripes) > 40)
    let encoder = JPEGEncoder(quality: 80)
    #expect(try sampling(encoder.encode(smooth)) == 0x22)
    #expect(try sampling(encoder.encode(gray)) == 0x22)
    #expect(try sampling(encoder.encode(stripes)) == 0x11)
    #expect(try sampling(JPEGEncoder(quality: 95).encode(smooth)) == 0x11)
  }

  @Test func lumaAndChromaAreWrittenAsTheyAre() throws {
    let picture = try raster { x, y in (UInt8(3 * x), UInt8(5 * y), UInt8(255 - 2 * x)) }
    let data = try JPEGEncoder(quality: 95).encode(picture)
    let planes = Raster(try picture.ycc(), space: .ycc)
    let same = try JPEGEncoder(quality: 95).encode(planes)
    let (shown, shownPlanes) = (try decoded(data), try decoded(same))
    let differences = zip(shown, shownPlanes).map { abs(Int($0) - Int($1)) }
    #expect(differences.max() ?? 255 <= 8 && Double(differences.reduce(0, +)) / Double(differences.count) < 1)
  }

  @Test func moreEffortSavesBytes() throws {
    let picture = try raster { x, y in (UInt8(3 * x), UInt8((x * y) & 255), UInt8(255 - 2 * x)) }
    let plain = try JPEGEncoder(quality: 80).encode(picture)
    let small = try JPEGEncoder(quality: 80, effort: 9).encode(picture)
    #expect(small.count < plain.count)
    #expect(try decoded(small) == decoded(plain))
  }

  private func decoded(_ data: Data) throws -> [UInt8] {
    try Raster(reading: [UInt8](data), within: PixelSize(64, 48)).withBytes { Array($0) }
  }
}

extension Raster {
  /// JFIF's luma and chroma of RGB.
  fileprivate func ycc() throws -> Raster {
    try mapped(to: 3) { source, target in
      let (red, green, blue) = (Double(source[0]), Double(source[1]), Double(source[2]))
      let luma = 0.299 * red + 0.587 * green + 0.114 * blue
      target[0] = UInt8(luma.rounded())
      target[1] = UInt8(max(0, min(255, (128 + (blue - luma) / 1.772).rounded())))
      target[2] = UInt8(max(0, min(255, (128 + (red - luma) / 1.402).rounded())))
    }
  }
}
