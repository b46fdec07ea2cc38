import Foundation
import Testing

@testable import CodecTestSupport
@testable import ImageCodec
@testable import TestSupport
@testable import ThumbnailCore

/// The thumbnail in the container of a HEIC: 80×60 of a picture of 160×120.
@Suite struct HEIFThumbnailTests {
  private let bytes: [UInt8]
  private let stranger: [UInt8]
  private let variants = [Variant(size: PixelSize(64, 64), fit: .contain, format: .png)]

  init() throws {
    bytes = [UInt8](try TestImages.bytes("formats/heic-grid.heic"))
    stranger = [UInt8](try TestImages.bytes("formats/heic-grid-thumbnail-of-another-picture.heic"))
  }

  private func plan(_ bytes: [UInt8], _ previews: PreviewUse = .auto) throws -> PreviewPlan? {
    PreviewPlan(variants, probe: try probe(.memory(bytes)), memoryBudget: 64 << 20, previews: previews)
  }

  @Test func isFoundWithItsSize() throws {
    let preview = try #require(try probe(.memory(bytes)).preview)
    #expect(preview.size == PixelSize(60, 80) && preview.neededRanges.upperBound <= bytes.count)
    for name in ["heic.heic", "avif.avif"] {
      #expect(try probe(.memory([UInt8](TestImages.bytes("formats/\(name)")))).preview == nil)
    }
  }

  @Test func isShownUprightWhereThePictureIsAlike() throws {
    let preview = try #require(try plan(bytes))
    let made = try #require(Downsampler.render(.memory(bytes), preview: preview))
    let thumbnail = try #require(made.first).result.get()
    #expect(thumbnail.size == PixelSize(64, 48) && thumbnail.source.size == PixelSize(160, 120))
    let whole = try DecodePlan.make(
      probe: try probe(.memory(bytes)), bodyLength: bytes.count, variants: variants, memoryBudget: 64 << 20)
    let image = try #require(
      Downsampler.render(.memory(bytes), plan: whole).first
    ).result.get()
    #expect(try DecodedPixels(thumbnail.data).meanDifference(from: DecodedPixels(image.data)) < 6)
  }

  @Test func isNotShownWhereThePictureIsAnother() throws {
    let preview = try #require(try plan(stranger))
    #expect(Downsampler.render(.memory(stranger), preview: preview) == nil)
  }

  @Test func isUsedUnlessPreviewsAreOff() throws {
    #expect(try plan(bytes, .auto) != nil && plan(bytes, .on) != nil && plan(bytes, .off) == nil)
  }

  @Test func isNotUsedForLargerThumbnails() throws {
    let probed = try probe(.memory(bytes))
    for size in [PixelSize(81, 81), PixelSize(160, 120)] {
      let variant = Variant(size: size, fit: .contain)
      #expect(PreviewPlan([variant], probe: probed, memoryBudget: 64 << 20) == nil)
    }
  }
}
