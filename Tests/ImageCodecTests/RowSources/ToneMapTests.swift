import HEIFContainer

@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// PQ and HLG as sRGB, against levels computed from the formulas of the recommendations.
@Suite struct ToneMapTests {
  private static func map(primaries: Int = 9, transfer: Int, peak: Int? = nil, isWide: Bool = true) throws -> ToneMap {
    let colour = CodedColour(primaries: primaries, transfer: transfer, matrix: 9, isFullRange: true)
    return ToneMap(try #require(CodedLight(colour, peakLight: peak)), isWide: isWide)
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
    let map = try Self.map(transfer: 16)
    for found in Self.shown(map, [Double](repeating: light > 0 ? Self.pq(light) : 0, count: 3)) {
      #expect(abs(found - level) < 0.7, "\(light) cd/m² is \(found)")
    }
  }

  @Test func referenceWhiteOfHLGIsThatOfPQ() throws {
    let map = try Self.map(transfer: 18)
    for (signal, level) in [(0.0, 0.0), (0.75, 229.0), (1.0, 255.0)] {
      for found in Self.shown(map, [signal, signal, signal]) {
        #expect(abs(found - level) < 0.7, "\(signal) is \(found)")
      }
    }
  }

  @Test func brighterIsNeverDarker() throws {
    for transfer in [16, 18] {
      for peak in [nil, 0, 203, 600, 4000, 65_535] {
        let map = try Self.map(transfer: transfer, peak: peak)
        let levels = (0...255).map { Self.shown(map, [Double](repeating: Double($0) / 255, count: 3))[1] }
        // The tables' steps are far below a level.
        #expect(zip(levels, levels.dropFirst()).allSatisfy { $0 <= $1 + 0.1 }, "\(transfer) to \(peak ?? -1)")
        #expect(levels[0] == 0 && levels[255] > 254.8)
      }
    }
  }

  @Test func whatIsNoBrighterThanWhiteIsNotRolledOff() throws {
    let map = try Self.map(transfer: 16, peak: 203)
    for light in [20.0, 100, 150, 203] {
      let found = Self.shown(map, [Double](repeating: Self.pq(light), count: 3))[0]
      #expect(abs(found - Self.level(light / 203)) < 0.7, "\(light) cd/m² is \(found)")
    }
  }

  @Test func coloursOfSRGBComeBack() throws {
    let map = try Self.map(transfer: 16)
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
    let map = try Self.map(primaries: 12, transfer: 18)
    #expect(Self.shown(map, [0.5, 0.5, 0.5, 0.25])[3] == Double(UInt16((0.25 * 65_535).rounded())) / 257)
  }

  @Test func rowsOfEightBitsAreMapped() throws {
    let map = try Self.map(transfer: 16, isWide: false)
    var row: [UInt8] = [0, 0, 0, 148, 148, 148, 255, 255, 255]
    row.withUnsafeMutableBytes { row in if let start = row.baseAddress { map.convert(start, count: 3, channels: 3) } }
    // 148 of 255 is 202 cd/m².
    #expect(row == [0, 0, 0, 229, 229, 229, 255, 255, 255])
  }

  @Test func aChartInPQLooksLikeTheChart() throws {
    let bytes = [UInt8](try TestImages.bytes("formats/avif-pq-10-bit.avif"))
    let probed = try probe(.memory(bytes))
    #expect(probed.codedLight?.transfer == .pq && probed.bitsPerSample == 10)
    let variant = Variant(size: PixelSize(80, 80), fit: .contain, format: .png)
    let chart = try DecodedPixels([UInt8](TestImages.bytes("formats/png-rgb.png")), variant)
    // Its white is rolled off to 229 of 255. The samples are our own reader's, and libheif's.
    for mayReadCoefficients in [true, false] {
      let shown = try DecodedPixels(bytes, variant, mayReadCoefficients: mayReadCoefficients)
      #expect(shown.meanDifference(from: chart) < 12, "\(shown.meanDifference(from: chart))")
    }
  }

  @Test func otherPrimariesAreTakenForThoseOfSRGB() throws {
    let signals = [80.0, 20, 40].map { Self.pq($0) }
    let (smpte, sRGB) = (try Self.map(primaries: 22, transfer: 16), try Self.map(primaries: 1, transfer: 16))
    #expect(Self.shown(smpte, signals) == Self.shown(sRGB, signals))
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
    #expect(probed.codedLight?.transfer == (transfer == 16 ? .pq : .hlg) && probed.bitsPerSample == bits)
    let pixels = try DecodedPixels(bytes, Variant(size: PixelSize(64, 32), fit: .contain, format: .png))
    #expect(pixels.isNear([229, 229, 229], 8, 16, tolerance: 3), "\(pixels[8, 16])")
    // 0.2 cd/m² in PQ and 0.6 in HLG.
    #expect(pixels[60, 16].allSatisfy { $0 < 12 }, "\(pixels[60, 16])")
  }

  // MARK: Formats

  /// Left 203 cd/m² or 75 % of HLG, right almost black.
  private static func picture(_ transfer: Int, bands: Int = 3, black: Int = 0, range: Int = 255) -> TestPicture {
    let white: UInt8 = transfer == 16 ? 148 : 191
    return TestPicture(128, 64, bands: bands) { x, _ in
      var pixel = [UInt8](repeating: UInt8(black + Int(x < 64 ? white : 20) * range / 255), count: 4)
      if bands % 2 == 0 { pixel[bands - 1] = 255 }
      return pixel
    }
  }

  private static func expectLight(_ pixels: DecodedPixels, _ note: String) {
    let colours = pixels.bands < 3 ? 1 : 3
    #expect(pixels.isNear([229, 229, 229].dropLast(3 - colours), 8, 16, tolerance: 3), "\(note): \(pixels[8, 16])")
    #expect(pixels[60, 16].prefix(colours).allSatisfy { $0 < 12 }, "\(note): \(pixels[60, 16])")
  }

  @Test(arguments: [(9, 1), (9, 14), (11, 6), (12, 13), (12, 2), (1, 13), (12, 8)], [false, true])
  func widerPrimariesOfStandardRangeAreConverted(_ code: (primaries: Int, transfer: Int), isWide: Bool) throws {
    let stored: [[UInt8]] = [[180, 100, 80], [60, 140, 90]]
    let wanted: [[UInt8]] =
      code.transfer == 8 || code.primaries == 1
      ? stored : code.primaries == 9 ? [[215, 83, 74], [0, 147, 83]] : [[193, 95, 74], [0, 142, 85]]
    let picture = TestPicture(128, 64) { x, _ in stored[x / 64] }
    let chunk = TestPNG.chunk("cICP", [UInt8(code.primaries), UInt8(code.transfer), 0, 1])
    func with(_ profile: [UInt8], _ chunk: [UInt8]) throws -> [UInt8] {
      let image = try picture.image(bits: isWide ? 16 : 8, widens: isWide)
      if !profile.isEmpty { vips_image_set_blob_copy(image.pointer, VIPS_META_ICC_NAME, profile, profile.count) }
      var file = try TestPicture.save(image, "pngsave_buffer", "")
      file.insert(contentsOf: chunk, at: 33)
      return file
    }
    var files = [try with([], chunk)]
    for format in [ImageFormat.heif, .avif] {
      var file = TileFile(format: format, side: 64, colour: (code.primaries, code.transfer, 6), isFullRange: true)
      // libaom ends the program at 10 bits.
      file.bits = isWide ? 12 : 8
      files.append(try file.bytes(picture))
    }
    for file in files {
      for mayReadCoefficients in [true, false] {
        let variant = Variant(size: PixelSize(64, 32), fit: .contain, format: .png)
        let made = try DecodedPixels(file, variant, mayReadCoefficients: mayReadCoefficients)
        for (colour, x) in zip(wanted, [8, 56]) { #expect(made.isNear(colour, x, 16, tolerance: 5), "\(made[x, 16])") }
      }
    }
    // A profile describes the samples itself.
    let variant = Variant(size: PixelSize(64, 32), fit: .contain, format: .png)
    let profile = TestProfile().bytes
    let (told, untold) = (try with(profile, chunk), try with(profile, []))
    #expect(try DecodedPixels(told, variant).bytes == DecodedPixels(untold, variant).bytes)
  }

  @Test(arguments: [16, 18], [(8, 3), (16, 3), (16, 1), (16, 2), (8, 4), (16, 4)])
  func codePointsOfAPNGAreObeyed(_ transfer: Int, _ kind: (bits: Int, bands: Int)) throws {
    for (range, picture) in [
      (1, Self.picture(transfer, bands: kind.bands)),
      (0, Self.picture(transfer, bands: kind.bands, black: 16, range: 219)),
    ] {
      var file = try picture.encoded(bits: kind.bits, widens: kind.bits > 8)
      file.insert(contentsOf: TestPNG.chunk("cICP", [9, UInt8(transfer), 0, UInt8(range)]), at: 33)
      for isTolerant in [false, true] {
        let variant = Variant(size: PixelSize(64, 32), fit: .contain, format: .png)
        let made = try TestRender.inPlace(
          .memory(file), probe(.memory(file)), [variant], budget: 1 << 30, isTolerant: isTolerant, CancellationFlag())
        try Self.expectLight(DecodedPixels(#require(made.first).result.get().data), "\(range) \(isTolerant)")
      }
    }
  }

  @Test(
    arguments: [16, 18],
    [
      ("pngsave_buffer", "", 8), ("pngsave_buffer", "", 16), ("jpegsave_buffer", "Q=95", 8),
      ("jpegsave_buffer", "Q=95,interlace=true", 8), ("webpsave_buffer", "Q=95", 8), ("tiffsave_buffer", "", 8),
      ("tiffsave_buffer", "compression=deflate", 16), ("heifsave_buffer", "compression=av1,effort=0", 8),
      ("jxlsave_buffer", "lossless=true", 8), ("jxlsave_buffer", "lossless=true", 16),
    ])
  func profilesOfACodedLightAreToneMapped(
    _ transfer: Int, _ kind: (saver: String, options: String, bits: Int)
  ) async throws {
    let range = try #require(CodedLight(CodedColour(primaries: 9, transfer: transfer, matrix: 0, isFullRange: true)))
    let curve =
      Array("curv".utf8) + [0, 0, 0, 0] + TestPNG.long(1025)
      + (0...1024).flatMap { TestPNG.long(Int(range.light(Double($0) / 1024) * 65_535)).suffix(2) }
    let tag = Array("cicp".utf8) + [0, 0, 0, 0, 9, UInt8(transfer), 0, 1]
    for profile in [TestProfile(curve: curve).bytes, TestProfile(others: [("cicp", tag)]).bytes] {
      let picture = try Self.picture(transfer).image(bits: kind.bits, widens: kind.bits > 8)
      vips_image_set_blob_copy(picture.pointer, VIPS_META_ICC_NAME, profile, profile.count)
      let file = try TestPicture.save(picture, kind.saver, kind.options)
      let variant = Variant(size: PixelSize(64, 32), fit: .contain, format: .png, metadata: .profile)
      let thumbnail =
        kind.saver.hasPrefix("jxl")
        ? try #require(try await HelperBench().render(file, .jpegXL, [variant]).first).get()
        : try await TestRender.one(file, variant)
      let shown = try BodyReader(.memory(Array(thumbnail.data)), cancellation: CancellationFlag())
        .load(.png, VIPS_FAIL_ON_ERROR)
      // The profile would make it darker.
      #expect(shown.profile == nil)
      try Self.expectLight(DecodedPixels(shown), "\(kind) \(profile.count)")
    }
  }
}
