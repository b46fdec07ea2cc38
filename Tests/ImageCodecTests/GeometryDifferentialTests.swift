@testable import CodecTestSupport
@testable import ImageCodec

/// Thumbnails beside what libvips makes of the same files: read whole, turned upright, resized with Lanczos, cropped.
@Suite(.timeLimit(.minutes(5))) struct GeometryDifferentialTests {
  struct File: Sendable, CustomTestStringConvertible {
    var saver: String
    var options = ""
    var bands = 3
    var bits = 8
    var turns = true

    var testDescription: String { "\(saver) \(options) \(bands)x\(bits)" }
  }

  private static let files = [
    File(saver: "jpegsave_buffer", options: "Q=95,subsample-mode=on"),
    File(saver: "jpegsave_buffer", options: "Q=95,subsample-mode=off,interlace=true"),
    File(saver: "jpegsave_buffer", options: "Q=95", bands: 1),
    File(saver: "tiffsave_buffer", options: "compression=deflate,tile=true,tile-width=64,tile-height=48", bits: 16),
    File(saver: "tiffsave_buffer", bands: 1),
    File(saver: "webpsave_buffer", options: "lossless=true", bands: 4),
    File(saver: "pngsave_buffer", turns: false),
    File(saver: "pngsave_buffer", bands: 4, bits: 16, turns: false),
    File(saver: "pngsave_buffer", options: "interlace=true", bands: 2, turns: false),
    File(saver: "gifsave_buffer", options: "dither=0", turns: false),
  ]

  private static let size = PixelSize(317, 203)

  /// Waves of different lengths, without any symmetry; alpha from clear to opaque.
  static func picture(_ bands: Int) -> TestPicture {
    TestPicture(size.width, size.height, bands: bands) { x, y in
      let (u, v) = (Double(x), Double(y))
      let waves = [sin(u / 19 + v / 47), cos(u / 31 - v / 23), sin(u / 53) * cos(v / 17)]
      let colours = waves.map { UInt8(128 + 100 * $0) }
      let alpha = UInt8(min(255, (x + 2 * y) * 255 / 500 + 30))
      return bands < 3 ? [colours[0], alpha] : colours + [alpha]
    }
  }

  static func upright(_ file: [UInt8]) throws -> LibvipsImage {
    try Codec.start()
    let body = ByteSource.memory(file)
    let image = try BodyReader(body, cancellation: CancellationFlag()).load(try probe(body).format, VIPS_FAIL_ON_ERROR)
    return try TestPicture.apply("autorot", to: image, "")
  }

  /// What libvips makes of the file: upright, at `size`.
  private static func reference(_ file: [UInt8], _ size: PixelSize) throws -> DecodedPixels {
    var image = try upright(file)
    if image.bands == 2 || image.bands == 4 { image = try TestPicture.apply("premultiply", to: image, "") }
    let (across, down) = (
      Double(size.width) / Double(image.size.width), Double(size.height) / Double(image.size.height)
    )
    image = try TestPicture.apply("resize", to: image, "scale=\(across),vscale=\(down)")
    if image.bands == 2 || image.bands == 4 { image = try TestPicture.apply("unpremultiply", to: image, "") }
    image = try TestPicture.apply("colourspace", to: image, "space=srgb")
    return try DecodedPixels(try TestPicture.apply("cast", to: image, "format=uchar"))
  }

  private func expectAlike(_ file: [UInt8], _ variant: Variant, _ note: String) async throws {
    let upright = try probe(.memory(file)).size
    let thumbnail = try await TestRender.one(file, variant)
    let ours = try DecodedPixels(thumbnail.data)
    // The whole image at the thumbnail's scale.
    let ratios = [
      Double(variant.size.width) / Double(upright.width), Double(variant.size.height) / Double(upright.height),
    ]
    var view = variant.size
    if variant.fit != .fill {
      let scale = min(1, variant.fit == .cover ? max(ratios[0], ratios[1]) : min(ratios[0], ratios[1]))
      view = PixelSize(
        max(1, Int((Double(upright.width) * scale).rounded())), max(1, Int((Double(upright.height) * scale).rounded())))
    }
    let expected = PixelSize(min(view.width, variant.size.width), min(view.height, variant.size.height))
    #expect(ours.size == expected && thumbnail.size == expected, "\(note): \(ours.size)")
    guard ours.size == expected else { return }
    let (spareX, spareY) = (view.width - expected.width, view.height - expected.height)
    let (x, y) =
      switch variant.gravity {
      case .north: (spareX / 2, 0)
      case .south: (spareX / 2, spareY)
      case .west: (0, spareY / 2)
      case .east: (spareX, spareY / 2)
      default: (spareX / 2, spareY / 2)
      }
    let difference = ours.difference(from: try Self.reference(file, view), at: x, y)
    // Kernels are rounded differently, which of a few pixels that average many shows.
    #expect(difference < (expected.pixelCount < 9 ? 4 : 2.5), "\(note): \(difference)")
  }

  @Test(arguments: files) func everyOrientationFitAndGravityAgrees(_ file: File) async throws {
    var picture = Self.picture(file.bands)
    for orientation in file.turns ? 1...8 : 1...1 {
      picture.orientation = orientation
      let bytes = try picture.encoded(file.saver, file.options, bits: file.bits, widens: true)
      let sizes = [PixelSize(60, 80), PixelSize(90, 31)]
      // In the gate one of them for each orientation: both for upright images and for turned ones.
      let size = sizes[orientation % 4 / 2]
      for size in Thoroughness.cases(file.turns ? [size] : sizes, of: sizes) {
        let gravities: [Gravity] = [.centre, .north, .east, .south, .west]
        var variants = gravities.map { Variant(size: size, fit: .cover, gravity: $0, format: .png) }
        variants += [.contain, .fill].map { Variant(size: size, fit: $0, format: .png) }
        for variant in variants {
          let note = "orientation \(orientation), \(variant.fit) \(variant.gravity) \(size)"
          try await expectAlike(bytes, variant, note)
        }
      }
    }
  }

  /// The image's own size, one pixel less, one more, a single pixel, a line.
  @Test(arguments: files) func everySizeAtTheEdgeAgrees(_ file: File) async throws {
    let bytes = try Self.picture(file.bands).encoded(file.saver, file.options, bits: file.bits, widens: true)
    let (width, height) = (Self.size.width, Self.size.height)
    for (across, down) in [
      (width, height), (width - 1, height - 1), (width + 1, height + 1), (width, 1), (1, height), (1, 1), (2, 2),
      (width / 2, height / 2), (width / 2 + 1, height / 2 + 1), (width / 4, height / 4), (width / 8, height / 8),
    ] {
      // In a larger box only `contain` keeps the whole image.
      for fit in [Fit.contain, .cover, .fill] where fit == .contain || (across <= width && down <= height) {
        let variant = Variant(size: PixelSize(across, down), fit: fit, format: .png)
        try await expectAlike(bytes, variant, "\(fit) \(across)x\(down)")
      }
    }
  }
}
