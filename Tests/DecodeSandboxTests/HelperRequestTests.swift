import Testing

@testable import DecodeSandbox
@testable import ImageCodec
@testable import ThumbnailCore

/// What a helper that has been taken over says of an image.
struct HelperRequestTests {
  /// Sides of drawings have no limit but this one, and a thumbnail follows from them.
  @Test func aThumbnailBeyondAnyIsRefusedWhateverSizeADrawingHas() {
    let (longest, side) = (PixelSize.longestThumbnailSide, 1 << 30)
    var enlarged = Framing()
    enlarged.enlargesUnlessBoth = true
    let source = PixelSize(1, side)
    for fit in Fit.allCases {
      for box in [PixelSize(longest, longest), PixelSize(256, longest)] {
        let variant = Variant(size: box, fit: fit, enlarges: true, framing: enlarged)
        let request = HelperRequest(.svg, [variant], mostBytes: 64 << 20)
        let geometry = ThumbnailGeometry(source: source, variant: variant, isDrawing: true)
        let pixels = HelperResponse.Pixels(size: geometry.output, rasterSize: geometry.cut, space: .rgb, bands: 3)
        #expect(throws: HelperFailure.nonsense(detail: "a thumbnail that is none")) {
          try request.check(HelperResponse(size: source, outcomes: [.pixels(pixels)]))
        }
      }
    }
  }

  @Test func allThumbnailsTogetherHaveNoMoreBytesThanWereReserved() throws {
    let size = PixelSize(30, 30)
    let variants = [40, 50].map { Variant(size: PixelSize($0, $0)) }
    let pixels = HelperResponse.Pixels(size: size, rasterSize: size, space: .gray, bands: 1)
    let response = HelperResponse(size: size, outcomes: [.pixels(pixels), .pixels(pixels)])
    #expect(try HelperRequest(.png, variants, mostBytes: 1800).check(response) == size)
    #expect(throws: HelperFailure.nonsense(detail: "thumbnails of more than 1799 bytes")) {
      try HelperRequest(.png, variants, mostBytes: 1799).check(response)
    }
  }

  @Test func whatAHelperHasOrMayNotHaveIsNotNeeded() throws {
    var request = HelperRequest(.jpeg, [Variant(size: PixelSize(40, 40))])
    request.terms = DecodeTerms(memory: 100, share: 200, most: 300)
    func isTaken(_ need: DecodeNeed) -> Bool {
      (try? Optional(request.check(HelperResponse(outcomes: [], need: need)))) != nil
    }
    let needs: [DecodeNeed] = [100, 101, 300, 301].map { .memory($0) } + [.wholeBody, .bodyOfImage]
    #expect(needs.map(isTaken) == [false, true, true, false, false, false])
    request.terms.part = DecodeTerms.Part(known: RangeSet([0..<9]))
    #expect(isTaken(.wholeBody) && !isTaken(.bodyOfImage))
    request.terms.previews = .auto
    #expect(isTaken(.bodyOfImage) && isTaken(.refusal(.empty)) && !isTaken(.refusal(.cancelled)))
    #expect(throws: HelperFailure.self) {
      try request.check(HelperResponse(outcomes: [.failure(.empty)], need: .wholeBody))
    }
  }
}
