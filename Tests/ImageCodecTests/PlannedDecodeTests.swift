import JPEGCoefficients
import TestSupport
import Testing

@testable import ImageCodec
@testable import ThumbnailCore

/// What is asked for before a decode begins, and what follows.
struct PlannedDecodeTests {
  private static let files = [
    "jpeg-420.jpg", "jpeg-progressive.jpg", "jpeg-arithmetic.jpg", "png-rgb.png", "png-rgb-interlaced.png",
    "gif-still.gif", "orientation-6.webp", "orientation-6.tif", "heic.heic", "avif.avif",
  ]

  private func decode(_ bytes: [UInt8], _ terms: DecodeTerms, _ sizes: [Int] = [24]) throws -> DecodedImage {
    let body = ByteSource.memory(bytes)
    let variants = sizes.map { Variant(size: PixelSize($0, $0)) }
    var decode = PlannedDecode(
      body, try probe(body, limits: DecodeLimits()), terms, cancellation: CancellationFlag())
    return decode.run(variants, limits: DecodeLimits())
  }

  @Test(arguments: files) func aDecodeThatTakesMoreThanIsGrantedIsNotBegun(name: String) throws {
    let bytes = [UInt8](try TestImages.bytes("formats/\(name)"))
    let free = try decode(bytes, DecodeTerms())
    #expect(free.need == nil && !free.plan.isEmpty && (try? free.results[0].result.get()) != nil)
    let refused = try decode(bytes, DecodeTerms(memory: free.planBytes - 1))
    #expect(refused.need == .memory(free.planBytes) && refused.results.isEmpty && refused.plan.isEmpty)
    #expect(try decode(bytes, DecodeTerms(memory: free.planBytes)).plan == free.plan)
  }

  @Test func ofSeveralSizesThoseAreMadeThatThereIsMemoryFor() throws {
    let bytes = [UInt8](try TestImages.bytes("formats/png-rgb.png"))
    let needed = try [8, 160].map { try decode(bytes, DecodeTerms(), [$0]).planBytes }
    let most = (needed[0] + needed[1]) / 2
    let made = try decode(bytes, DecodeTerms(share: most, most: most), [8, 160])
    #expect(made.need == nil && needed[0] < needed[1] && made.results.count == 2)
    #expect(made.results.map { (try? $0.result.get()) != nil ? $0.variant.size.width : 0 } == [8, 0])
    guard case .refusal(.exceedsMemoryBudget)? = try decode(bytes, DecodeTerms(share: 1, most: 1)).need else {
      Issue.record("not even the smallest fits into a byte")
      return
    }
  }

  @Test func ofAPartOnlyWhatItSufficesForIsMade() throws {
    let bytes = [UInt8](try TestImages.bytes("formats/jpeg-progressive.jpg"))
    var terms = DecodeTerms()
    terms.part = DecodeTerms.Part(known: RangeSet([0..<bytes.count]), finestScale: .eighth)
    #expect(try decode(bytes, terms, [8]).need == nil)
    #expect(try decode(bytes, terms, [64]).need == .wholeBody)
    terms.part?.finestScale = nil
    #expect(try decode(bytes, terms, [8]).need == .wholeBody)
  }
}
