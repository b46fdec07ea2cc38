@testable import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// Chroma that is subsampled in the file is as fine as luma in what is read.
@Suite(.timeLimit(.minutes(5))) struct SubsampledChromaTests {
  /// Strokes of red on blue, as wide as those of large letters: of nearly the same luma.
  private static let text = TestPicture(640, 480) { x, y in
    let isStroke = (x / 12 * 7 + y / 40 * 3) % 5 < 2 && y % 40 < 28 || (x / 60 + y / 20) % 4 == 0 && y % 20 < 9
    return isStroke ? [230, 20, 30, 255] : [20, 30, 200, 255]
  }

  @Test(arguments: [JPEGScale.eighth, .quarter], [false, true])
  func redTextOnBlueIsAsLegibleAsLibjpegReadsIt(_ scale: JPEGScale, _ isProgressive: Bool) throws {
    try Codec.start()
    let file = try Self.text.encoded("jpegsave_buffer", "Q=90,subsample-mode=on,interlace=\(isProgressive)")
    let raster = try TestJPEG.read(file, scale).raster
    // The image reads the raster's memory, which nothing else keeps.
    let ours = try withExtendedLifetime(raster) { try DecodedPixels(raster.image()) }
    let reader = BodyReader(.memory(file), cancellation: CancellationFlag())
    let theirs = try DecodedPixels(reader.load(.jpeg, VIPS_FAIL_ON_ERROR, option: .shrink(scale.rawValue)))
    #expect(structuralSimilarity(ours, theirs) >= 0.94, "\(scale)")
  }

  /// Soft waves of colour, each channel with its own.
  private static let waves = TestPicture(401, 303) { x, y in
    func level(_ range: Double, _ phase: Double) -> UInt8 { UInt8(128 + range * sin(phase)) }
    let (x, y) = (Double(x), Double(y))
    return [level(50, x / 9 + y / 21), level(40, x / 13 - y / 8), level(60, x / 30 + y / 7), 255]
  }

  /// Lanczos over the samples of halved chroma, which shows more of the quantisers' error, differs by 1.74, 1.61 and 1.79.
  @Test(arguments: [(200, 1.6), (160, 1.52), (401, 1.68)], [false, true])
  func halvedChromaStaysCloseToTheOriginal(_ expected: (side: Int, most: Double), _ isProgressive: Bool) async throws {
    let options = "Q=75,subsample-mode=on,interlace=\(isProgressive)"
    let variant = Variant(size: PixelSize(expected.side, expected.side), format: .png)
    let ours = try await TestRender.one(Self.waves.encoded("jpegsave_buffer", options), variant)
    let original = try await TestRender.one(Self.waves.encoded(), variant)
    let difference = try DecodedPixels(ours.data).meanDifference(from: DecodedPixels(original.data))
    #expect(difference < expected.most, "\(difference)")
  }
}
