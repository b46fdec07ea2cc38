@testable import CodecTestSupport
@testable import ImageCodec

/// The project's own pictures of every format and feature, and its broken files.
@Suite(.timeLimit(.minutes(5))) struct TestImagesTests {
  private static let root = URL(fileURLWithPath: "TestImages")
  private static let isPresent = FileManager.default.fileExists(atPath: root.appending(path: "formats").path)

  private static func files(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).sorted()
  }

  private static func bytes(_ folder: String, _ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: root.appending(path: folder).appending(path: name)))
  }

  private func render(_ name: String, _ variant: Variant) async throws -> DecodedPixels {
    try await TestRender.pixels(Self.bytes("formats", name), variant)
  }

  private static let variant = Variant(size: PixelSize(80, 80), fit: .contain, format: .png)

  /// Expects that all files look like the first, with a mean difference of so many levels at most.
  private func expectAlike(_ names: [String], tolerance: Double, as variant: Variant = variant) async throws {
    let first = try await render(try #require(names.first), variant)
    for name in names.dropFirst() {
      let difference = try await render(name, variant).meanDifference(from: first)
      #expect(difference <= tolerance, "\(name) differs from \(names[0]) by \(difference)")
    }
  }

  @Test(.enabled(if: isPresent, "TestImages is absent")) func everyFormatLooksLikeTheChart() async throws {
    // Those that show another picture, or the chart with less than its colours, are compared among themselves.
    let others = [
      "orientation-", "size-", "png-gray", "jpeg-gray", "tiff-gray", "tiff-1-bit", "png-palette-2", "svg.", "avif-pq",
    ]
    let notRead = [
      "bmp.bmp", "ico.ico", "jpeg2000.jp2", "jpeg-xl.jxl", "openexr.exr", "radiance.hdr", "svg.svg", "svg-gzip.svgz",
      "pdf.pdf", "pnm.ppm",
    ]
    let charts = try Self.files(in: "formats").filter { name in
      !others.contains { name.hasPrefix($0) } && !notRead.contains(name) && !name.contains("cmyk")
        && !name.contains("ycck") && !["alpha", "rgba", "colour-key", "transparent"].contains { name.contains($0) }
    }
    #expect(charts.count > 40)
    try await expectAlike(["png-rgb.png"] + charts, tolerance: 4)
  }

  @Test(.enabled(if: isPresent, "TestImages is absent")) func filesOfOnePictureLookAlike() async throws {
    try await expectAlike(["tiff-cmyk.tif", "jpeg-cmyk.jpg", "jpeg-ycck.jpg"], tolerance: 4)
    // On a ground, since nobody sees which colour a clear pixel has.
    var flat = Self.variant
    flat.background = .white
    try await expectAlike(
      ["png-rgba.png", "png-rgba-16.png", "png-rgba-interlaced.png", "tiff-alpha.tif", "webp-lossless-alpha.webp"],
      tolerance: 3, as: flat)
    try await expectAlike(
      ["png-gray.png", "png-gray-16.png", "png-gray-4.png", "tiff-gray.tif", "jpeg-gray.jpg"], tolerance: 5)
    try await expectAlike(["png-gray-1.png", "png-gray-1-interlaced.png"], tolerance: 0)
    let turned = try Self.files(in: "formats").filter { $0.hasPrefix("orientation-") }
    try await expectAlike(["orientation-1.jpg"] + turned, tolerance: 3)
  }

  @Test(.enabled(if: isPresent, "TestImages is absent")) func whatIsNotReadInProcessIsRefusedByItsName() throws {
    for (name, format) in [
      ("bmp.bmp", ImageFormat.bmp), ("ico.ico", .ico), ("jpeg2000.jp2", .jpeg2000), ("svg.svg", .svg),
      ("pdf.pdf", .pdf), ("pnm.ppm", .pnm), ("jpeg-xl.jxl", .jpegXL), ("openexr.exr", .openEXR),
      ("radiance.hdr", .radiance),
    ] {
      #expect(throws: CodecError.unsupportedFormat(format)) { try probe(.memory(Self.bytes("formats", name))) }
    }
  }

  @Test(.enabled(if: isPresent, "TestImages is absent")) func everyBrokenFileIsRefusedOrGood() async throws {
    // What is whole as far as the thumbnail goes, and damage that no decoder can see.
    let good = [
      "endless-directories.tif", "flipped-bits.jpg", "frames-2000.png", "frames-2000.webp", "frames-5000.gif",
      "pages-2000.tif", "scans-694.jpg",
      "truncated-by-its-end-chunk.png", "truncated-by-its-end-marker.jpg",
      "truncated-in-the-second-frame.gif",
    ]
    for name in try Self.files(in: "broken") {
      let error = await refusal(name)
      if good.contains(name) {
        #expect(error == nil, "\(name)")
        continue
      }
      let description = error?.description ?? "rendered"
      switch error {
      case .truncated:
        #expect(name.hasPrefix("truncated") || name.contains("-only") || name.contains("-then-"), "\(name)")
      case .limitExceeded, .exceedsMemoryBudget:
        let isBomb = ["claims", "bomb", "scans"].contains { name.hasPrefix($0) }
        #expect(isBomb, "\(name): \(description)")
      case .unsupported: #expect(name.hasPrefix("zero-height"), "\(name): \(description)")
      case .notAPicture, .empty, .damaged: #expect(!name.hasPrefix("truncated"), "\(name): \(description)")
      default: Issue.record("\(name): \(description)")
      }
    }
  }

  @Test(.enabled(if: isPresent, "TestImages is absent")) func theTolerantOptionTakesWhatHasPixels() async throws {
    for name in try Self.files(in: "broken") where name.hasPrefix("truncated") && name.hasSuffix(".jpg") {
      let hasPixels = !name.hasSuffix("-header.jpg")
      #expect(await (refusal(name, isTolerant: true) == nil) == hasPixels, "\(name)")
    }
    #expect(await refusal("truncated.png", isTolerant: true) == nil)
    #expect(await refusal("truncated.gif", isTolerant: true) == nil)
  }

  private func refusal(_ name: String, isTolerant: Bool = false) async -> CodecError? {
    do {
      _ = try await TestRender.one(try Self.bytes("broken", name), Self.variant, isTolerant: isTolerant)
      return nil
    } catch {
      if !(error is CodecError) { Issue.record(error) }
      return error as? CodecError
    }
  }
}
