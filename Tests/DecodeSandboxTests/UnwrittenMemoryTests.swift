@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import ImageCodec

/// Every sample that a thumbnail shows has been written: if glibc fills a helper's new and freed memory with one pattern
/// and with another, the thumbnails are the same. And a part shows what the whole image shows there.
@Suite(.timeLimit(.minutes(10))) struct UnwrittenMemoryTests {
  struct Kind: Sendable {
    var name: String
    var format: ImageFormat
    var file: @Sendable () throws -> [UInt8]
  }

  private static func picture(_ bands: Int) -> TestPicture {
    TestPicture(320, 128, bands: bands) { x, y in
      [UInt8(x / 2), UInt8(2 * y), UInt8(x / 20 % 2 * 90 + y), UInt8(255 - x / 2)].dropLast(4 - bands)
    }
  }

  private static let written = (ContentTests.inProcess + ContentTests.inHelper).map { sample in
    Kind(name: sample.name, format: sample.format) { try ContentTests.file(sample) }
  }

  private static let coded = [
    ("hevc", ImageFormat.heif, 8), ("hevc", .heif, 10), ("av1,effort=0", .avif, 8), ("av1,effort=0", .avif, 12),
  ].flatMap { coding, format, bits in
    [("on", 3), ("off", 3), ("on", 4), ("off", 4)].map { subsampling, bands in
      let options = "compression=\(coding),bitdepth=\(bits),subsample-mode=\(subsampling)"
      return Kind(name: "\(bands) bands, \(options)", format: format) {
        try picture(bands).encoded("heifsave_buffer", options, bits: bits > 8 ? 16 : 8, widens: bits > 8)
      }
    }
      + [nil, TileFile.Alpha.item, .grid, .tiles].map { alpha in
        Kind(name: "\(bits) bits, tiles of \(coding), alpha \(alpha.map { "\($0)" } ?? "none")", format: format) {
          try TileFile(format: format, side: 64, bits: bits, alpha: alpha).bytes(picture(4))
        }
      }
  }

  private static let stored = [
    ("jpeg-411.jpg", ImageFormat.jpeg), ("jpeg-422.jpg", .jpeg), ("jpeg-440.jpg", .jpeg), ("jpeg-ycck.jpg", .jpeg),
    ("orientation-6.jpg", .jpeg), ("orientation-7.jpg", .jpeg), ("jpeg-arithmetic.jpg", .jpeg),
    ("png-palette-interlaced.png", .png), ("png-rgba-interlaced.png", .png), ("gif-interlaced.gif", .gif),
    ("gif-transparent.gif", .gif), ("avif-pq-10-bit.avif", .avif), ("openexr.exr", .openEXR), ("svg.svg", .svg),
    ("avif-422-8-bit.avif", .avif), ("avif-422-10-bit.avif", .avif), ("heic-422-8-bit.heic", .heif),
    ("heic-422-10-bit.heic", .heif), ("gif-animated.gif", .gif), ("png-animated.png", .png),
    ("webp-animated.webp", .webp), ("pdf.pdf", .pdf), ("pnm.ppm", .pnm), ("tiff-cmyk.tif", .tiff),
  ].map { name, format in Kind(name: name, format: format) { Array(try TestImages.bytes("formats/\(name)")) } }

  /// Helpers whose memory has this pattern before it is written, and its complement after it is freed.
  private static func bench(_ pattern: Int, _ folder: URL) throws -> HelperBench {
    let launcher = folder.appending(path: "helper-\(pattern)")
    let tunables = "glibc.malloc.perturb=\(~pattern & 255):glibc.malloc.tcache_count=0"
    let script = "#!/bin/sh\nGLIBC_TUNABLES=\(tunables) exec '\(HelperBench.executable.path)' \"$@\"\n"
    let source = launcher.appendingPathExtension("text")
    try Data(script.utf8).write(to: source)
    // Not by this process: see `StrangeHelperTests`.
    try Process.run(URL(fileURLWithPath: "/usr/bin/install"), arguments: ["-m", "755", source.path, launcher.path])
      .waitUntilExit()
    return HelperBench(launcher)
  }

  private static func variant(_ size: PixelSize, _ change: (inout Variant) -> Void = { _ in }) -> Variant {
    var variant = Variant(size: size, fit: .contain, format: .png)
    change(&variant)
    return variant
  }

  @Test(arguments: [written, coded, stored]) func nothingUnwrittenIsShown(_ kinds: [Kind]) async throws {
    let directory = try TemporaryDirectory()
    let benches = try [0x5A, 0xE7].map { try Self.bench($0, directory.url) }
    for kind in kinds {
      let file = try kind.file()
      func same(_ variant: Variant) async throws -> Data {
        var made: [Data] = []
        for bench in benches {
          made.append(try #require(try await bench.render(file, kind.format, [variant]).first).get().data)
        }
        #expect(made[0] == made[1], "\(kind.name): \(variant)")
        return made[0]
      }
      let whole = try DecodedPixels(await same(Self.variant(PixelSize(1000, 1000))))
      let (size, shown) = (whole.size, PixelSize(whole.size.width / 4, whole.size.height / 4))
      // A drawing has no pixels of its own.
      for (x, y) in kind.format.isDrawing ? [] : [(0.72, 0.1), (0.01, 0.6)] {
        let (left, top) = (Int(x * Double(size.width)) | 1, Int(y * Double(size.height)) | 1)
        let crop = Framing.Crop(x: left, y: top, size: shown)
        let part = try DecodedPixels(await same(Self.variant(shown) { $0.framing.crop = crop }))
        let there = DecodedPixels(
          size: shown, bands: whole.bands,
          bytes: (top..<top + shown.height).flatMap { y in (left..<left + shown.width).flatMap { whole[$0, y] } })
        let difference = part.meanDifference(from: there)
        #expect(difference < 3, "\(kind.name), \(left): \(difference)")
      }
      for gravity in [Gravity.east, .west, .southeast] {
        _ = try await same(Self.variant(PixelSize(20, 20)) { ($0.fit, $0.gravity) = (.cover, gravity) })
      }
    }
  }
}
