@testable import CodecTestSupport
@testable import ImageCodec

/// The thumbnail in the container of a HEIC or AVIF.
@Suite struct HEIFThumbnailTests {
  private let variants = [Variant(size: PixelSize(64, 64), fit: .contain, format: .png)]
  private let grid: [UInt8]

  init() throws { grid = [UInt8](try TestImages.bytes("formats/heic-grid.heic")) }

  private func plan(_ bytes: [UInt8], _ previews: PreviewUse = .auto, isBodyWhole: Bool = true) throws -> PreviewPlan? {
    PreviewPlan(
      variants, probe: try probe(.memory(bytes)), memoryBudget: 64 << 20, previews: previews, isBodyWhole: isBodyWhole)
  }

  /// The thumbnail made of the preview; nil if it does not match.
  private func shown(_ bytes: [UInt8], isBodyWhole: Bool = true) throws -> Thumbnail? {
    let preview = try #require(try plan(bytes, isBodyWhole: isBodyWhole))
    return try Downsampler.render(.memory(bytes), preview: preview, of: probe(.memory(bytes)))?.first?.result.get()
  }

  /// To compare that of a picture in one piece or few tiles would take as long as to decode the picture.
  @Test func isFoundWithItsSize() throws {
    let bytes = try PhonePicture.bytes()
    let preview = try #require(try probe(.memory(bytes)).preview)
    #expect(preview.size == PixelSize(96, 64) && preview.neededRanges.upperBound <= bytes.count)
    for file in [grid, try PhonePicture.whole()] { #expect(try probe(.memory(file)).preview == nil) }
  }

  @Test(arguments: [ImageFormat.heif, .avif]) func isShownWhereThePictureIsAlike(_ format: ImageFormat) throws {
    let bytes = try PhonePicture.bytes(format: format)
    #expect(try plan(bytes) != nil)
    let thumbnail = try #require(try shown(bytes))
    #expect(thumbnail.size == PixelSize(64, 43) && thumbnail.source.size == PhonePicture.size)
    #expect(try DecodedPixels(thumbnail.data).meanDifference(from: DecodedPixels(bytes, variants[0])) < 6)
    // Of a part of the file all that is always compared is there.
    #expect(try shown(bytes, isBodyWhole: false) != nil)
  }

  @Test(arguments: PhonePicture.Edit.allCases)
  func isNotShownWhereThePictureWasEdited(_ edit: PhonePicture.Edit) throws {
    let bytes = try PhonePicture.bytes(edit)
    #expect(try plan(bytes) != nil && shown(bytes) == nil && shown(bytes, isBodyWhole: false) == nil)
  }

  @Test func isUsedUnlessPreviewsAreOff() throws {
    let bytes = try PhonePicture.bytes()
    #expect(try plan(bytes, .auto) != nil && plan(bytes, .off) == nil)
  }

  @Test func isNotUsedForLargerThumbnails() throws {
    let probed = try probe(.memory(PhonePicture.bytes()))
    for size in [PixelSize(97, 97), PhonePicture.size] {
      let variant = Variant(size: size, fit: .contain)
      #expect(PreviewPlan([variant], probe: probed, memoryBudget: 64 << 20) == nil)
    }
  }

  @Test(arguments: [
    (6, 8, [0, 7, 18, 21, 26, 29, 40, 47]), (2, 8, [0, 2, 5, 7, 8, 10, 13, 15]), (1, 16, [0, 2, 4, 5, 6, 8, 10, 15]),
    (2, 2, [0, 1, 2, 3]), (1, 1, []),
  ])
  func isComparedWithTilesThatAreSpreadOverThePicture(_ rows: Int, _ columns: Int, _ tiles: [Int]) {
    #expect(HEIFTraits.Comparison.spread(rows: rows, columns: columns) == tiles)
  }
}
