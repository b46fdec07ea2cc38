@testable import CodecTestSupport
@testable import ImageCodec

@Suite struct PNGEncoderTests {
  private enum Content: CaseIterable {
    case flat, ramp, noise
  }

  private func raster(_ size: PixelSize, bands: Int, _ content: Content) throws -> Raster {
    var random = SplitMix(state: 7)
    return try Raster(size, bands: bands) { x, y in
      (0..<bands).map { band in
        switch content {
        case .flat: UInt8(band * 60)
        case .ramp: UInt8(truncatingIfNeeded: x + y)
        case .noise: .random(in: 0...255, using: &random)
        }
      }
    }
  }

  @Test(arguments: [(1, 1), (1, 900), (900, 1), (3, 3), (257, 120)], 1...4)
  func everyReaderSeesTheSamePixels(sides: (Int, Int), bands: Int) throws {
    let size = PixelSize(sides.0, sides.1)
    for content in Content.allCases {
      let raster = try raster(size, bands: bands, content)
      let file = Array(try #require(try PNGEncoder.encode(raster)))
      let probe = try probe(.memory(file))
      #expect(probe.format == .png && probe.size == size && probe.channels == bands)
      // Our own reader, and libvips with libpng.
      for read in try [PNGRows(.memory(file)), PNGRows(libvips: file)] {
        let plane = read.rows.layout.planes[0]
        #expect(plane.size == size && plane.channels == bands && read.rows.planes == [raster.bytes], "\(content)")
      }
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
