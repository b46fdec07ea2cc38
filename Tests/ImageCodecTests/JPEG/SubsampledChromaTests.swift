@testable import JPEGCoefficients
import CVips
import Testing

@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// Chroma that is subsampled in the file is as fine as luma in what is read.
@Suite(.timeLimit(.minutes(5)))
struct SubsampledChromaTests {
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
}
