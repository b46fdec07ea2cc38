import HEIFContainer

@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// PQ and HLG as sRGB, against levels computed from the formulas of the recommendations.
@Suite struct ToneMapTests {
  private static func colour(primaries: Int = 9, transfer: Int) -> CodedColour {
    CodedColour(primaries: primaries, transfer: transfer, matrix: 9, isFullRange: true)
  }

  /// The signal of PQ from 0 to 1 for a light in cd/m².
  private static func pq(_ light: Double) -> Double {
    let power = pow(light / 10_000, 0.159_301_757_812_5)
    return pow((0.835_937_5 + 18.851_562_5 * power) / (1 + 18.6875 * power), 78.843_75)
  }

  /// sRGB's level of 8 bits for light from 0 to 1.
  private static func level(_ light: Double) -> Double {
    255 * (light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055)
  }

  /// The levels of 8 bits of a pixel with these signals.
  private static func shown(_ map: ToneMap, _ signals: [Double]) -> [Double] {
    var row = signals.map { UInt16((max(0, min(1, $0)) * 65_535).rounded()) }
    row.withUnsafeMutableBytes { row in
      if let start = row.baseAddress { map.convert(start, count: 1, channels: signals.count) }
    }
    return row.map { Double($0) / 257 }
  }

  @Test(
    arguments: [
      (0, 0), (1, 15.4), (50, 136), (100, 185.7), (203, 229), (400, 249.7), (1000, 255), (4000, 255), (10_000, 255),
    ] as [(Double, Double)])
  func grayInPQFollowsTheCurve(light: Double, level: Double) throws {
    let map = try ToneMap(Self.colour(transfer: 16), peak: nil, isWide: true)
    for found in Self.shown(map, [Double](repeating: light > 0 ? Self.pq(light) : 0, count: 3)) {
      #expect(abs(found - level) < 0.7, "\(light) cd/m² is \(found)")
    }
  }

  @Test func referenceWhiteOfHLGIsThatOfPQ() throws {
    let map = try ToneMap(Self.colour(transfer: 18), peak: nil, isWide: true)
    for (signal, level) in [(0.0, 0.0), (0.75, 229.0), (1.0, 255.0)] {
      for found in Self.shown(map, [signal, signal, signal]) {
        #expect(abs(found - level) < 0.7, "\(signal) is \(found)")
      }
    }
  }

  @Test func brighterIsNeverDarker() throws {
    for transfer in [16, 18] {
      for peak in [nil, 0, 203, 600, 4000, 65_535] {
        let map = try ToneMap(Self.colour(transfer: transfer), peak: peak, isWide: true)
        let levels = (0...255).map { Self.shown(map, [Double](repeating: Double($0) / 255, count: 3))[1] }
        // The tables' steps are far below a level.
        #expect(zip(levels, levels.dropFirst()).allSatisfy { $0 <= $1 + 0.1 }, "\(transfer) to \(peak ?? -1)")
        #expect(levels[0] == 0 && levels[255] > 254.8)
      }
    }
  }

  @Test func whatIsNoBrighterThanWhiteIsNotRolledOff() throws {
    let map = try ToneMap(Self.colour(transfer: 16), peak: 203, isWide: true)
    for light in [20.0, 100, 150, 203] {
      let found = Self.shown(map, [Double](repeating: Self.pq(light), count: 3))[0]
      #expect(abs(found - Self.level(light / 203)) < 0.7, "\(light) cd/m² is \(found)")
    }
  }

  @Test func coloursOfSRGBComeBack() throws {
    let map = try ToneMap(Self.colour(transfer: 16), peak: nil, isWide: true)
    // BT.709's red, green, blue and a skin, at no more than 80 cd/m², in BT.2020's primaries.
    for colour in [[80.0, 0, 0], [0, 80, 0], [0, 0, 80], [70, 40, 25]] {
      let wide = [
        0.627_404 * colour[0] + 0.329_283 * colour[1] + 0.043_313 * colour[2],
        0.069_097 * colour[0] + 0.919_540 * colour[1] + 0.011_362 * colour[2],
        0.016_391 * colour[0] + 0.088_013 * colour[1] + 0.895_595 * colour[2],
      ]
      for (found, light) in zip(Self.shown(map, wide.map { Self.pq($0) }), colour) {
        #expect(abs(found - Self.level(light / 203)) < 2, "\(colour) has \(found)")
      }
    }
  }

  @Test func alphaStaysAsItIs() throws {
    let map = try ToneMap(Self.colour(primaries: 12, transfer: 18), peak: nil, isWide: true)
    #expect(Self.shown(map, [0.5, 0.5, 0.5, 0.25])[3] == Double(UInt16((0.25 * 65_535).rounded())) / 257)
  }

  @Test func rowsOfEightBitsAreMapped() throws {
    let map = try ToneMap(Self.colour(transfer: 16), peak: nil, isWide: false)
    var row: [UInt8] = [0, 0, 0, 148, 148, 148, 255, 255, 255]
    row.withUnsafeMutableBytes { row in if let start = row.baseAddress { map.convert(start, count: 3, channels: 3) } }
    // 148 of 255 is 202 cd/m².
    #expect(row == [0, 0, 0, 229, 229, 229, 255, 255, 255])
  }

  @Test func aChartInPQLooksLikeTheChart() throws {
    let bytes = [UInt8](try TestImages.bytes("formats/avif-pq-10-bit.avif"))
    let probed = try probe(.memory(bytes))
    #expect(probed.heif?.isHighDynamicRange == true && probed.bitsPerSample == 10)
    let variant = Variant(size: PixelSize(80, 80), fit: .contain, format: .png)
    let chart = try DecodedPixels([UInt8](TestImages.bytes("formats/png-rgb.png")), variant)
    // Its white is rolled off to 229 of 255. By libheif its signal is shown as if it were sRGB's.
    let ours = try DecodedPixels(bytes, variant)
    let theirs = try DecodedPixels(bytes, variant, mayReadCoefficients: false)
    #expect(ours.meanDifference(from: chart) < 12, "\(ours.meanDifference(from: chart))")
    #expect(theirs.meanDifference(from: chart) > 2 * ours.meanDifference(from: chart))
  }

  @Test func otherPrimariesAreHandedOver() {
    #expect(throws: CodecError.handedOver(reason: "high dynamic range with the primaries 22")) {
      _ = try ToneMap(Self.colour(primaries: 22, transfer: 16), peak: nil, isWide: true)
    }
  }

  @Test(arguments: [(ImageFormat.heif, 10, 16), (.heif, 10, 18), (.avif, 8, 16), (.avif, 12, 16), (.heif, 8, 18)])
  func filesAreShownInTheirBrightness(_ format: ImageFormat, bits: Int, transfer: Int) throws {
    // 148 of 255 is 202 cd/m² in PQ; 191 is 75 % of HLG.
    let signal: UInt8 = transfer == 16 ? 148 : 191
    let picture = TestPicture(128, 64) { x, _ in x < 64 ? [signal, signal, signal] : [20, 20, 20] }
    var file = TileFile(format: format, side: 64, colour: (9, transfer, 6), isFullRange: true)
    file.bits = bits
    let bytes = try file.bytes(picture)
    let probed = try probe(.memory(bytes))
    #expect(probed.heif?.isHighDynamicRange == true && probed.bitsPerSample == bits)
    for light in [Light.display, .linear] {
      let variant = Variant(size: PixelSize(64, 32), fit: .contain, format: .png, light: light)
      let pixels = try DecodedPixels(bytes, variant)
      #expect(pixels.isNear([229, 229, 229], 8, 16, tolerance: 3), "\(pixels[8, 16])")
      // 0.2 cd/m² in PQ and 0.6 in HLG.
      #expect(pixels[60, 16].allSatisfy { $0 < 12 }, "\(pixels[60, 16])")
    }
  }
}
