import CVips
import Foundation
import Testing

@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

@Suite struct PNGEncoderTests {
  private enum Content: CaseIterable {
    case flat, ramp, noise
  }

  private func raster(_ size: PixelSize, bands: Int, _ content: Content) throws -> Raster {
    var state: UInt32 = 7
    return try Raster(size: size, bands: bands) { buffer throws(CodecError) in
      for index in buffer.indices {
        state = state &* 1_664_525 &+ 1_013_904_223
        buffer[index] =
          switch content {
          case .flat: UInt8(index % bands * 60)
          case .ramp: UInt8(truncatingIfNeeded: index / bands % size.width + index / (bands * size.width))
          case .noise: UInt8(state >> 24)
          }
      }
    }
  }

  @Test(arguments: [(1, 1), (1, 900), (900, 1), (3, 3), (257, 120)], 1...4)
  func everyReaderSeesTheSamePixels(sides: (Int, Int), bands: Int) throws {
    let size = PixelSize(sides.0, sides.1)
    for content in Content.allCases {
      let raster = try raster(size, bands: bands, content)
      let expected = raster.withBytes { Array($0) }
      let file = Array(try #require(try PNGEncoder.encode(raster)))
      let probe = try probe(.memory(file))
      #expect(probe.format == .png && probe.size == size && probe.channels == bands)
      // Our own reader, and libvips with libpng.
      let source = try PNGRowSource(.memory(file), probe: probe)
      var read: [UInt8] = []
      while try source.read({ band in
        for row in 0..<band.count {
          read += UnsafeRawBufferPointer(start: band.start + row * band.stride, count: size.width * bands)
        }
      }) {}
      #expect(read == expected, "\(content)")
      try Codec.start()
      let reader = BodyReader(.memory(file), cancellation: CancellationFlag())
      let theirs = try withExtendedLifetime(reader) {
        try Raster(computing: reader.load(.png, VIPS_FAIL_ON_ERROR))
      }
      #expect(theirs.size == size && theirs.bands == bands, "\(content)")
      #expect(theirs.withBytes { Array($0) } == expected, "\(content)")
    }
  }

  @Test func whatDiffersLittleFromRowToRowIsSmall() throws {
    let file = try #require(try PNGEncoder.encode(try raster(PixelSize(400, 300), bands: 3, .ramp)))
    #expect(file.count < 4000)
  }

  @Test func whatCannotBeCompressedGrowsByLittle() throws {
    let file = try #require(try PNGEncoder.encode(try raster(PixelSize(400, 300), bands: 4, .noise)))
    #expect(file.count < 400 * 300 * 4 + 2000)
  }
}
