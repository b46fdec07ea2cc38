@testable import CodecTestSupport
@testable import ImageCodec

/// Thumbnails show what the whole picture shows: SSIM of at least 0.99 against a full decode that libvips resizes with
/// Lanczos, for each format and each type of pixels that is read.
@Suite(.timeLimit(.minutes(5))) struct ContentTests {
  /// A file of one pixel type.
  struct Sample: Sendable, CustomTestStringConvertible {
    var name: String
    var format: ImageFormat
    var saver = ""
    var options = ""
    /// The operations that make the pixels, with their options, in turn.
    var steps: [(String, String)] = []
    var bands = 3
    /// Whether the file holds the picture's own colours, but for what a lossy encoder takes.
    var isFaithful = true

    var testDescription: String { name }
  }

  private static let rgb16 = [("colourspace", "space=rgb16")]
  private static let gray16 = [("colourspace", "space=grey16")]
  private static let float = [("colourspace", "space=scrgb")]
  private static let gray = [("colourspace", "space=b-w")]

  static let inProcess: [Sample] = [
    Sample(name: "JPEG", format: .jpeg, saver: "jpegsave_buffer", options: "Q=95,subsample-mode=off"),
    Sample(name: "JPEG progressive", format: .jpeg, saver: "jpegsave_buffer", options: "Q=95,interlace=true"),
    Sample(name: "JPEG gray", format: .jpeg, saver: "jpegsave_buffer", options: "Q=95", steps: gray),
    Sample(
      name: "JPEG CMYK", format: .jpeg, saver: "jpegsave_buffer", options: "Q=95",
      steps: [("colourspace", "space=cmyk")], isFaithful: false),
    Sample(name: "PNG", format: .png, saver: "pngsave_buffer"),
    Sample(name: "PNG alpha", format: .png, saver: "pngsave_buffer", bands: 4),
    Sample(name: "PNG interlaced", format: .png, saver: "pngsave_buffer", options: "interlace=true", bands: 4),
    Sample(name: "PNG gray", format: .png, saver: "pngsave_buffer", steps: gray),
    Sample(name: "PNG gray alpha", format: .png, saver: "pngsave_buffer", steps: gray, bands: 4),
    Sample(name: "PNG 16", format: .png, saver: "pngsave_buffer", steps: rgb16),
    Sample(name: "PNG 16 alpha", format: .png, saver: "pngsave_buffer", steps: rgb16, bands: 4),
    Sample(name: "PNG 16 gray", format: .png, saver: "pngsave_buffer", steps: gray16),
    Sample(name: "PNG 16 gray alpha", format: .png, saver: "pngsave_buffer", steps: gray16, bands: 4),
    Sample(
      name: "PNG palette", format: .png, saver: "pngsave_buffer", options: "palette=true,dither=0", isFaithful: false),
    Sample(
      name: "PNG palette alpha", format: .png, saver: "pngsave_buffer", options: "palette=true,dither=0", bands: 4,
      isFaithful: false),
    Sample(
      name: "PNG 4 bits", format: .png, saver: "pngsave_buffer", options: "bitdepth=4", steps: gray, isFaithful: false),
    Sample(
      name: "PNG 1 bit", format: .png, saver: "pngsave_buffer", options: "bitdepth=1", steps: gray, isFaithful: false),
    Sample(name: "WebP", format: .webp, saver: "webpsave_buffer", options: "Q=95"),
    Sample(name: "WebP alpha", format: .webp, saver: "webpsave_buffer", options: "Q=95", bands: 4),
    Sample(name: "WebP lossless", format: .webp, saver: "webpsave_buffer", options: "lossless=true"),
    Sample(name: "WebP lossless alpha", format: .webp, saver: "webpsave_buffer", options: "lossless=true", bands: 4),
    Sample(name: "GIF", format: .gif, saver: "gifsave_buffer", options: "dither=0", isFaithful: false),
    Sample(name: "GIF alpha", format: .gif, saver: "gifsave_buffer", options: "dither=0", bands: 4, isFaithful: false),
    Sample(name: "TIFF", format: .tiff, saver: "tiffsave_buffer"),
    Sample(name: "TIFF alpha", format: .tiff, saver: "tiffsave_buffer", options: "compression=deflate", bands: 4),
    Sample(name: "TIFF tiles", format: .tiff, saver: "tiffsave_buffer", options: "tile=true,compression=lzw"),
    Sample(name: "TIFF JPEG", format: .tiff, saver: "tiffsave_buffer", options: "compression=jpeg,Q=95"),
    Sample(name: "TIFF gray", format: .tiff, saver: "tiffsave_buffer", steps: gray),
    Sample(name: "TIFF 16", format: .tiff, saver: "tiffsave_buffer", steps: rgb16),
    Sample(name: "TIFF 16 alpha", format: .tiff, saver: "tiffsave_buffer", steps: rgb16, bands: 4),
    Sample(name: "TIFF 16 gray", format: .tiff, saver: "tiffsave_buffer", steps: gray16),
    Sample(name: "TIFF float", format: .tiff, saver: "tiffsave_buffer", steps: float),
    Sample(name: "TIFF float alpha", format: .tiff, saver: "tiffsave_buffer", steps: float, bands: 4),
    Sample(name: "TIFF float gray", format: .tiff, saver: "tiffsave_buffer", steps: gray + [("cast", "format=float")]),
    Sample(
      name: "TIFF CMYK", format: .tiff, saver: "tiffsave_buffer", steps: [("colourspace", "space=cmyk")],
      isFaithful: false),
    Sample(name: "TIFF Lab", format: .tiff, saver: "tiffsave_buffer", steps: [("colourspace", "space=lab")]),
    Sample(name: "TIFF Lab 16", format: .tiff, saver: "tiffsave_buffer", steps: [("colourspace", "space=labs")]),
    Sample(
      name: "TIFF 1 bit", format: .tiff, saver: "tiffsave_buffer", options: "bitdepth=1", steps: gray, isFaithful: false
    ),
    Sample(name: "AVIF", format: .avif, saver: "heifsave_buffer", options: "compression=av1,effort=0,Q=85"),
    Sample(
      name: "AVIF alpha", format: .avif, saver: "heifsave_buffer", options: "compression=av1,effort=0,Q=85", bands: 4),
    Sample(name: "HEIC", format: .heif, saver: "heifsave_buffer", options: "compression=hevc,effort=0,Q=90"),
    Sample(
      name: "HEIC alpha", format: .heif, saver: "heifsave_buffer", options: "compression=hevc,effort=0,Q=90", bands: 4),
    Sample(
      name: "AVIF 12 bits", format: .avif, saver: "heifsave_buffer",
      options: "compression=av1,effort=0,Q=85,bitdepth=12", steps: rgb16),
    Sample(
      name: "AVIF 12 bits alpha", format: .avif, saver: "heifsave_buffer",
      options: "compression=av1,effort=0,Q=85,bitdepth=12", steps: rgb16, bands: 4),
  ]

  static let inHelper: [Sample] = [
    Sample(name: "JPEG XL", format: .jpegXL, saver: "jxlsave_buffer", options: "distance=0.5,effort=3"),
    Sample(name: "JPEG XL alpha", format: .jpegXL, saver: "jxlsave_buffer", options: "distance=0.5,effort=3", bands: 4),
    Sample(
      name: "JPEG XL 16 alpha", format: .jpegXL, saver: "jxlsave_buffer", options: "distance=0.5,effort=3",
      steps: rgb16, bands: 4),
    Sample(name: "JPEG XL float", format: .jpegXL, saver: "jxlsave_buffer", options: "lossless=true", steps: float),
    Sample(
      name: "JPEG XL float alpha", format: .jpegXL, saver: "jxlsave_buffer", options: "lossless=true", steps: float,
      bands: 4),
    Sample(name: "JPEG 2000", format: .jpeg2000, saver: "jp2ksave_buffer", options: "lossless=true"),
    Sample(name: "JPEG 2000 alpha", format: .jpeg2000, saver: "jp2ksave_buffer", options: "lossless=true", bands: 4),
    Sample(name: "JPEG 2000 gray", format: .jpeg2000, saver: "jp2ksave_buffer", options: "lossless=true", steps: gray),
    Sample(name: "JPEG 2000 16", format: .jpeg2000, saver: "jp2ksave_buffer", options: "lossless=true", steps: rgb16),
    Sample(name: "BMP", format: .bmp, saver: "magicksave_buffer", options: "format=bmp"),
    Sample(name: "BMP alpha", format: .bmp, saver: "magicksave_buffer", options: "format=bmp", bands: 4),
    Sample(name: "BMP gray", format: .bmp, saver: "magicksave_buffer", options: "format=bmp", steps: gray),
    Sample(
      name: "ICO", format: .ico, saver: "magicksave_buffer", options: "format=ico",
      steps: [("resize", "scale=0.7")], bands: 4, isFaithful: false),
    Sample(name: "Radiance", format: .radiance, saver: "radsave_buffer", steps: float),
  ]

  /// Waves and edges, of every colour and, with alpha, of every opacity.
  private static let picture = TestPicture(360, 270, bands: 4) { x, y in
    let (u, v) = (Double(x) / 360, Double(y) / 270)
    let wave = sin(u * 9 + v * 4) * cos(v * 11)
    let isInside = (u - 0.6) * (u - 0.6) + (v - 0.4) * (v - 0.4) < 0.06
    let alpha = 255 * min(1, max(0, 1.3 - 1.4 * abs(u - v)))
    return [
      UInt8(128 + 100 * wave), UInt8(isInside ? 210 - 60 * v : 60 + 120 * u), UInt8(40 + 170 * v * (1 - u * u)),
      UInt8(alpha),
    ]
  }

  private static let variant = Variant(size: PixelSize(120, 90), fit: .contain, format: .png, background: .white)

  /// The picture with or without its alpha, converted, as libvips has it in memory.
  private static func pixels(_ bands: Int, _ steps: [(String, String)] = []) throws -> LibvipsImage {
    try Codec.start()
    let image = try picture.pixels.withUnsafeBytes { memory in
      try #require(vips_image_new_from_memory_copy(memory.baseAddress, memory.count, 360, 270, 4, VIPS_FORMAT_UCHAR))
    }
    var pixels = try LibvipsImage(owning: image).applying { cvips_reinterpret($0, $1, VIPS_INTERPRETATION_sRGB) }
    if bands == 3 { pixels = try pixels.applying { cvips_extract_bands($0, $1, 0, 3) } }
    for (operation, options) in steps { pixels = try TestPicture.apply(operation, to: pixels, options) }
    return pixels
  }

  static func file(_ sample: Sample) throws -> [UInt8] {
    // Starting libvips blocks them.
    try Codec.start()
    let others = ["VipsForeignSaveJp2k", "VipsForeignSaveMagick", "VipsForeignLoadJp2k", "VipsForeignLoadPpm"]
    for operation in others { vips_operation_block_set(operation, 0) }
    return try TestPicture.save(try pixels(sample.bands, sample.steps), sample.saver, sample.options)
  }

  /// What a full decode shows at the thumbnail's size, on white.
  private static func fullDecode(_ bytes: [UInt8], _ format: ImageFormat) throws -> DecodedPixels {
    Codec.unblockLoaders()
    if format == .bmp || format == .ico {
      return try bytes.withUnsafeBytes { memory in
        try shown(
          LibvipsImage.make(.header) { cvips_load_magick(memory.baseAddress, memory.count, $0, VIPS_FAIL_ON_ERROR) })
      }
    }
    let reader = BodyReader(.memory(bytes), cancellation: CancellationFlag())
    let picture = try reader.load(format, VIPS_FAIL_ON_ERROR)
    let unpacked = format == .radiance ? try picture.applying { cvips_apply("rad2float", $0, $1) } : picture
    return try shown(unpacked)
  }

  /// A picture in sRGB, on white, at the thumbnail's size: nothing of it is left out before.
  private static func shown(_ picture: LibvipsImage) throws -> DecodedPixels {
    let colours = try TestPicture.apply("colourspace", to: picture, "space=srgb")
    let flat = colours.hasAlpha ? try TestPicture.apply("flatten", to: colours, "background=255") : colours
    let small = try flat.applying {
      cvips_resize(
        $0, $1, Double(variant.size.width) / Double(flat.size.width),
        Double(variant.size.height) / Double(flat.size.height))
    }
    return try DecodedPixels(try TestPicture.apply("cast", to: small, "format=uchar"))
  }

  private static func shown(_ thumbnail: Thumbnail) throws -> DecodedPixels {
    let body = BodyReader(.memory(Array(thumbnail.data)), cancellation: CancellationFlag())
    let stored = try body.load(thumbnail.format, VIPS_FAIL_ON_ERROR)
    let flat = stored.hasAlpha ? try TestPicture.apply("flatten", to: stored, "background=255") : stored
    return try DecodedPixels(try TestPicture.apply("colourspace", to: flat, "space=srgb"))
  }

  private func expectAlike(_ sample: Sample, _ thumbnail: Thumbnail, _ file: [UInt8]) throws {
    let seen = try Self.shown(thumbnail)
    let full = structuralSimilarity(seen, try Self.fullDecode(file, sample.format))
    #expect(full >= 0.99, "\(sample.name): \(full)")
    guard sample.isFaithful else { return }
    let isGray = sample.steps.contains { $0.1 == "space=b-w" || $0.1 == "space=grey16" }
    let original = structuralSimilarity(seen, try Self.shown(try Self.pixels(sample.bands, isGray ? Self.gray : [])))
    #expect(original >= 0.98, "\(sample.name) against the picture: \(original)")
  }

  @Test(arguments: inProcess) func thumbnailsOfEveryPixelTypeLookLikeAFullDecode(_ sample: Sample) async throws {
    let file = try Self.file(sample)
    #expect(try probe(.memory(file)).format == sample.format)
    try expectAlike(sample, try await TestRender.one(file, Self.variant), file)
  }

  @Test func thumbnailsMadeInAHelperLookLikeAFullDecode() async throws {
    let bench = HelperBench()
    for sample in Self.inHelper {
      let file = try Self.file(sample)
      let result = try #require(try await bench.render(file, sample.format, [Self.variant]).first)
      try expectAlike(sample, try result.get(), file)
    }
  }

  // MARK: What libvips does not write

  private static let opaque = TestPicture(360, 270) { x, y in
    let start = (y * 360 + x) * 4
    return Array(picture.pixels[start..<start + 3])
  }

  /// A netpbm file of 8 or 16 bits.
  private static func netpbm(_ kind: String) -> [UInt8] {
    let samples = opaque.pixels
    switch kind {
    case "P6": return Array("P6 360 270 255\n".utf8) + samples
    case "P6 16": return Array("P6 360 270 65535\n".utf8) + samples.flatMap { [$0, $0] }
    default: return Array("P5 360 270 255\n".utf8) + stride(from: 1, to: samples.count, by: 3).map { samples[$0] }
    }
  }

  private static func seenGreen() throws -> LibvipsImage {
    let green = try TestPicture.apply("extract_band", to: try pixels(3), "band=1")
    return try green.applying { cvips_reinterpret($0, $1, VIPS_INTERPRETATION_B_W) }
  }

  @Test(arguments: ["P6", "P6 16", "P5"]) func netpbmFilesLookLikeTheirPixels(_ kind: String) async throws {
    let thumbnail = try #require(try await HelperBench().render(Self.netpbm(kind), .pnm, [Self.variant]).first)
    let seen = try Self.shown(try thumbnail.get())
    let whole = try Self.shown(kind == "P5" ? Self.seenGreen() : try Self.pixels(3))
    let likeness = structuralSimilarity(seen, whole)
    #expect(likeness >= 0.99, "\(kind): \(likeness)")
  }

  @Test func whatIsCutShortIsTruncatedAndReadableAsDamaged() async throws {
    // Its last row is first: what is missing is above, and the rest stands where it belongs.
    let format = ImageFormat.bmp
    let whole = try Self.file(Sample(name: "", format: format, saver: "magicksave_buffer", options: "format=bmp"))
    let file = Array(whole.dropLast(whole.count / 3))
    let strict = try #require(try await HelperBench().render(file, format, [Self.variant]).first)
    #expect(throws: CodecError.self) { try strict.get() }
    let salvaged = try await HelperBench().render(file, format, [Self.variant], acceptsDamage: true).first
    let thumbnail = try #require(salvaged).get()
    #expect(thumbnail.isDamaged && thumbnail.size == PixelSize(120, 90))
    let (seen, picture) = (try Self.shown(thumbnail), try Self.shown(try Self.pixels(3)))
    #expect(seen.isNear(picture[60, 80], 60, 80))
    #expect(!seen.isNear(picture[30, 5], 30, 5))
  }

  @Test func anOpenEXRWithAlphaLooksLikeAFullDecode() async throws {
    let place = "formats/openexr.exr"
    let variant = Variant(size: PixelSize(40, 30), fit: .contain, format: .png, background: .white)
    let result = try await HelperBench().render(Array(try TestImages.bytes(place)), .openEXR, [variant]).first
    let thumbnail = try #require(result).get()
    Codec.unblockLoaders()
    let picture = try LibvipsImage.make(.header) {
      cvips_load_openexr(TestImages.url(place).path, $0, VIPS_FAIL_ON_ERROR)
    }
    #expect(picture.hasAlpha && picture.isFloatingPoint)
    let colours = try TestPicture.apply("colourspace", to: picture, "space=srgb")
    let flat = try TestPicture.apply("flatten", to: colours, "background=255")
    let whole = try TestPicture.apply("cast", to: try flat.applying { cvips_resize($0, $1, 0.5, 0.5) }, "format=uchar")
    let likeness = structuralSimilarity(try Self.shown(thumbnail), try DecodedPixels(whole))
    #expect(likeness >= 0.99, "\(likeness)")
  }
}
