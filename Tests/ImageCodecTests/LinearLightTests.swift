import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// Averages in linear light, of every kind of source.
@Suite(.timeLimit(.minutes(5)))
struct LinearLightTests {
  private static let small = PixelSize(32, 32)

  private static func variant(_ light: Light, size: PixelSize = small, scaling: Scaling = .good) -> Variant {
    Variant(size: size, fit: .contain, format: .png, scaling: scaling, light: light)
  }

  /// Black and white pixels in turn, and with four bands of half opacity.
  private static func chequered(bands: Int) -> TestPicture {
    TestPicture(192, 192, bands: bands) { x, y in
      let value: UInt8 = (x + y) % 2 == 0 ? 255 : 0
      return bands == 2 ? [value, 128] : [value, value, value, 128]
    }
  }

  @Test func anImageOfLittleDetailIsReadAtTwiceTheSizeAllTheSame() throws {
    let file = try TestPicture(64, 64) { _, _ in TestPicture.green }.encoded("jpegsave_buffer", "Q=50")
    let rule = ScaleRule(try probe(.memory(file)), bodyLength: 100)
    #expect(rule.leastReduction(.good, readAt: 2) == 1 && rule.leastReduction(.good, readAt: 2, .linear) == 2)
  }

  // MARK: Tables

  @Test func everyLevelIsTheSameAfterBothConversions() {
    let levels = (0...255).map { UInt8($0) }
    var linear = [Int16](repeating: 0, count: 256)
    var back = [UInt8](repeating: 0, count: 256)
    LinearLight.decode(levels, count: 256, channels: 1, hasAlpha: false, into: &linear)
    LinearLight.encode(linear, count: 256, into: &back)
    #expect(back == levels)
    #expect(linear[0] == 0 && linear[1] == 5 && linear[188] == 8207 && linear[255] == 16_320)
    let wide = (0...65_535).map { UInt16($0) }
    linear = [Int16](repeating: 0, count: 65_536)
    back = [UInt8](repeating: 0, count: 65_536)
    LinearLight.decode(wide, count: 65_536, channels: 1, hasAlpha: false, into: &linear)
    LinearLight.encode(linear, count: 65_536, into: &back)
    let worst = zip(wide, back).map { abs(Double($0) / 257 - Double($1)) }.max()
    #expect(worst.map { $0 < 0.62 } == true, "\(worst ?? 0)")
  }

  @Test func overshootIsBlackOrWhite() {
    var back = [UInt8](repeating: 7, count: 4)
    LinearLight.encode([-1, -3000, 16_321, 20_000], count: 4, into: &back)
    #expect(back == [0, 0, 255, 255])
    LinearLight.unpremultiply([17_000, 16_400, -9, 0], pixels: 2, channels: 2, into: &back)
    #expect(back == [255, 255, 0, 0])
  }

  @Test func coloursOfPremultipliedPixelsComeBack() {
    for alpha in [1, 2, 17, 128, 254, 255] as [UInt8] {
      let pixels = (0...255).flatMap { [UInt8($0), alpha] }
      var linear = [Int16](repeating: 0, count: 512)
      var back = [UInt8](repeating: 0, count: 512)
      LinearLight.decode(pixels, count: 256, channels: 2, hasAlpha: true, into: &linear)
      LinearLight.unpremultiply(linear, pixels: 256, channels: 2, into: &back)
      let worst = zip(pixels, back).map { abs(Int($0) - Int($1)) }.max() ?? 0
      // With little opacity there are few levels between black and white.
      if alpha >= 128 { #expect(worst <= 1, "\(alpha)") }
      #expect(back.enumerated().allSatisfy { $0.offset % 2 == 0 || $0.element == alpha })
    }
  }

  // MARK: Sources

  @Test(
    arguments: [
      ("PNG", 3, "pngsave_buffer", ""), ("PNG gray", 1, "pngsave_buffer", ""), ("PNG alpha", 4, "pngsave_buffer", ""),
      ("PNG gray alpha", 2, "pngsave_buffer", ""), ("PNG interlaced", 3, "pngsave_buffer", "interlace=true"),
      ("PNG palette", 3, "pngsave_buffer", "palette=true,dither=0"), ("TIFF", 3, "tiffsave_buffer", ""),
      ("TIFF alpha", 4, "tiffsave_buffer", ""), ("WebP", 3, "webpsave_buffer", "lossless=true"),
      ("WebP alpha", 4, "webpsave_buffer", "lossless=true"), ("WebP lossy", 3, "webpsave_buffer", "Q=100"),
      ("GIF", 3, "gifsave_buffer", "dither=0"), ("JPEG", 3, "jpegsave_buffer", "Q=100,subsample-mode=off"),
      ("JPEG 4:2:0", 3, "jpegsave_buffer", "Q=100,subsample-mode=on"), ("JPEG gray", 1, "jpegsave_buffer", "Q=100"),
      ("JPEG progressive", 3, "jpegsave_buffer", "Q=100,interlace=true"),
    ] as [(String, Int, String, String)])
  func blackAndWhiteInTurnBecome188(name: String, bands: Int, saver: String, options: String) async throws {
    let file = try Self.chequered(bands: bands).encoded(saver, options)
    let variants = [Self.variant(.display), Self.variant(.linear)]
    for rendered in try await TestRender.all(.memory(file), variants) {
      let pixels = try DecodedPixels(try rendered.result.get().data)
      let expected: UInt8 = rendered.variant.light == .linear ? 188 : 128
      let opacity: UInt8? = bands % 2 == 0 ? 128 : nil
      let colour =
        Array(repeating: expected, count: pixels.bands - (opacity == nil ? 0 : 1)) + (opacity.map { [$0] } ?? [])
      #expect(pixels.isNear(colour, 9, 9, tolerance: 2), "\(name): \(pixels[9, 9])")
      #expect(pixels.isNear(colour, 0, 31, tolerance: 3), "\(name): \(pixels[0, 31])")
    }
  }

  @Test func samplesOf16BitsAndInksBecome188() async throws {
    try Codec.start()
    let picture = Self.chequered(bands: 3)
    let image = try picture.pixels.withUnsafeBytes { memory in
      try #require(
        vips_image_new_from_memory_copy(memory.baseAddress, memory.count, 192, 192, 3, VIPS_FORMAT_UCHAR))
    }
    let srgb = try LibvipsImage(owning: image).applying { cvips_reinterpret($0, $1, VIPS_INTERPRETATION_sRGB) }
    let kinds = [
      (VIPS_INTERPRETATION_RGB16, "pngsave_buffer", ""), (VIPS_INTERPRETATION_GREY16, "pngsave_buffer", ""),
      (VIPS_INTERPRETATION_RGB16, "tiffsave_buffer", ""), (VIPS_INTERPRETATION_CMYK, "jpegsave_buffer", "Q=100"),
      (VIPS_INTERPRETATION_scRGB, "tiffsave_buffer", ""), (VIPS_INTERPRETATION_LAB, "tiffsave_buffer", ""),
    ]
    for (space, saver, options) in kinds {
      let converted = try srgb.applying { cvips_colourspace($0, $1, space) }
      let file = try TestPicture.save(converted, saver, options)
      let pixels = try await TestRender.pixels(file, Self.variant(.linear))
      // Printed black and white are not quite those of a screen.
      let tolerance = space == VIPS_INTERPRETATION_CMYK ? 8 : 2
      let expected = Array(repeating: UInt8(188), count: pixels.bands)
      #expect(pixels.isNear(expected, 9, 9, tolerance: tolerance), "\(space) \(saver): \(pixels[9, 9])")
    }
  }

  @Test func allFramesOfAnAnimationAreAveragedInLinearLight() async throws {
    let picture = TestPicture(64, 128) { x, y in
      (x + y) % 2 == 0 ? [255, 255, 255] : y < 64 ? [0, 0, 0] : [255, 0, 0]
    }
    let file = try picture.encoded("webpsave_buffer", "lossless=true,page-height=64")
    try #require(try probe(.memory(file)).frameCount == 2)
    for (light, value) in [(Light.display, UInt8(128)), (.linear, 188)] {
      let variant = Variant(
        size: PixelSize(8, 8), fit: .contain, format: .webp, quality: 100, frames: .all, light: light)
      let thumbnail = try await TestRender.one(file, variant)
      let pixels = try DecodedPixels(thumbnail.data)
      #expect(pixels.isNear([value, value, value], 4, 4, tolerance: 6), "\(light): \(pixels[4, 4])")
    }
  }

  @Test func smallerThumbnailsOfOneDecodeAreInLinearLightToo() async throws {
    let file = try Self.chequered(bands: 3).encoded()
    let sizes = [64, 32, 8].map { PixelSize($0, $0) }
    let variants = sizes.flatMap { [Self.variant(.linear, size: $0), Self.variant(.display, size: $0)] }
    let rendered = try await TestRender.all(.memory(file), variants)
    #expect(Set(rendered.map(\.variant)) == Set(variants))
    for one in rendered {
      let value: UInt8 = one.variant.light == .linear ? 188 : 128
      let pixels = try DecodedPixels(try one.result.get().data)
      #expect(pixels.isNear([value, value, value], 4, 4, tolerance: 2), "\(one.variant): \(pixels[4, 4])")
    }
  }

  @Test(arguments: [1, 3, 4]) func equalsALanczosFilterOfTheLightItself(bands: Int) async throws {
    // Points of all brightnesses on black; with alpha opaque, as clear pixels have no colour to compare.
    var random = SplitMix(state: 7)
    let size = PixelSize(96, 96)
    let picture = TestPicture(size.width, size.height, bands: bands) { _, _ in
      let isPoint = random.next() % 9 == 0
      return (0..<3).map { _ in isPoint ? UInt8(truncatingIfNeeded: random.next() >> 20) : 0 } + [255]
    }
    let pixels = try await TestRender.pixels(try picture.encoded(), Self.variant(.linear, size: PixelSize(24, 24)))
    for band in 0..<min(3, bands) {
      let plane = stride(from: band, to: picture.pixels.count, by: bands).map { picture.pixels[$0] }
      let exact = Self.reduced(plane.map(Self.light), width: size.width, by: 4).map(Self.display)
      let worst = zip(exact, pixels.plane(min(band, pixels.bands - 1))).map { abs($0 - $1) }.max() ?? 255
      #expect(worst <= 2, "\(bands) bands: \(worst)")
    }
  }

  private static func light(_ value: UInt8) -> Double {
    let part = Double(value) / 255
    return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
  }

  private static func display(_ light: Double) -> Double {
    let part = max(0, min(1, light))
    return 255 * (part <= 0.0031308 ? part * 12.92 : 1.055 * pow(part, 1 / 2.4) - 0.055)
  }

  /// A square plane reduced by a whole factor with Lanczos of three lobes, the edges repeated.
  private static func reduced(_ plane: [Double], width: Int, by factor: Int) -> [Double] {
    func lanczos(_ x: Double) -> Double {
      if abs(x) < 1e-9 { return 1 }
      return abs(x) < 3 ? 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x) : 0
    }
    let count = width / factor
    let kernel: [[(index: Int, weight: Double)]] = (0..<count).map { target in
      let middle = (Double(target) + 0.5) * Double(factor) - 0.5
      let taps = (Int(middle) - 3 * factor...Int(middle) + 3 * factor + 1).map {
        (index: max(0, min(width - 1, $0)), weight: lanczos((Double($0) - middle) / Double(factor)))
      }
      let sum = taps.reduce(0) { $0 + $1.weight }
      return taps.map { ($0.index, $0.weight / sum) }
    }
    let rows = (0..<width).map { y in
      kernel.map { taps in taps.reduce(0.0) { $0 + plane[y * width + $1.index] * $1.weight } }
    }
    return kernel.flatMap { taps in
      (0..<count).map { x in taps.reduce(0.0) { $0 + rows[$1.index][x] * $1.weight } }
    }
  }

  @Test func transparentPixelsDoNotBleed() async throws {
    let picture = TestPicture(96, 96, bands: 4) { x, y in (x + y) % 2 == 0 ? [220, 30, 30, 255] : [0, 255, 0, 0] }
    let pixels = try await TestRender.pixels(try picture.encoded(), Self.variant(.linear))
    #expect(pixels.isNear([220, 30, 30, 128], 9, 9, tolerance: 2), "\(pixels[9, 9])")
  }

  // MARK: Plans

  @Test func onlyTheCoefficientDecoderReadsLessUnlessFast() throws {
    var jpeg = ImageProbe(format: .jpeg, storedSize: PixelSize(6000, 4000))
    jpeg.isProgressive = false
    var webp = ImageProbe(format: .webp, storedSize: PixelSize(6000, 4000))
    webp.frameCount = 1
    func plan(_ probe: ImageProbe, _ scaling: Scaling, _ light: Light) throws -> DecodePlan {
      try DecodePlan.make(
        probe: probe, bodyLength: 0, variants: [Self.variant(light, size: PixelSize(200, 200), scaling: scaling)],
        memoryBudget: .max)
    }
    for (probe, reduced) in [(jpeg, "jpeg 1/8, 750x500"), (webp, "webp scaled")] {
      let whole = "\(probe.format.rawValue), 6000x4000 → 200x133 in linear light"
      for (scaling, light, description) in [
        (Scaling.good, Light.display, reduced), (.fast, .linear, reduced), (.good, .linear, whole),
        (.best, .linear, whole),
      ] { #expect(try plan(probe, scaling, light).description.hasPrefix(description)) }
    }
    jpeg.isProgressive = true
    jpeg.jpeg = JPEGFrameTraits(process: .progressive, components: [1, 2, 3])
    // The scans that linear light needs come late in the file.
    for (scaling, light, description, scale) in [
      (Scaling.good, Light.display, "jpeg coefficients 1/8", JPEGScale.eighth),
      (.good, .linear, "jpeg coefficients 1/8", nil), (.best, .linear, "jpeg, 6000x4000", nil),
    ] {
      let plan = try plan(jpeg, scaling, light)
      #expect(plan.description.hasPrefix(description) && plan.coefficientScale == scale)
    }
  }

  @Test func aPreviewIsNotUsed() {
    let picture = ImageProbe(format: .jpeg, storedSize: PixelSize(6000, 4000))
    let preview = EmbeddedPreview(range: 0..<9, size: PixelSize(600, 400), orientation: nil)
    #expect(preview.serves([Self.variant(.display)], of: picture))
    #expect(!preview.serves([Self.variant(.display), Self.variant(.linear)], of: picture))
  }
}
