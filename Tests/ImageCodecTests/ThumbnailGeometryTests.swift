import Testing

@testable import ImageCodec
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct ThumbnailGeometryTests {
  private func geometry(_ w: Int, _ h: Int, _ box: PixelSize, _ fit: Fit, enlarges: Bool = false) -> ThumbnailGeometry {
    ThumbnailGeometry(source: PixelSize(w, h), variant: Variant(size: box, fit: fit, enlarges: enlarges))
  }

  /// A helper that has been taken over may claim such sizes of a drawing; nothing overflows.
  @Test func drawingsOfAnySizeHaveAGeometry() {
    var enlarged = Framing()
    enlarged.enlargesUnlessBoth = true
    var cropped = Framing()
    cropped.crop = Framing.Crop(PixelSize(1, 1_000_000), at: .south)
    let (longest, side) = (PixelSize.longestThumbnailSide, 1 << 30)
    for framing in [Framing(), enlarged, cropped] {
      for source in [PixelSize(1, side), PixelSize(side, 1), PixelSize(side, side), PixelSize(1, 1)] {
        for box in [PixelSize(256, 256), PixelSize(longest, longest), PixelSize(1, longest)] {
          for fit in Fit.allCases {
            for enlarges in [false, true] {
              let variant = Variant(size: box, fit: fit, enlarges: enlarges, framing: framing)
              let found = ThumbnailGeometry(source: source, variant: variant, isDrawing: true)
              #expect(found.whole.width > 0 && found.whole.height > 0 && found.cut.width <= found.output.width)
            }
          }
        }
      }
    }
  }

  @Test func containKeepsTheAspectAndRounds() {
    #expect(geometry(6000, 4000, PixelSize(256, 256), .contain).output == PixelSize(256, 171))
    #expect(geometry(4000, 6000, PixelSize(256, 256), .contain).output == PixelSize(171, 256))
    #expect(geometry(1, 10000, PixelSize(100, 100), .contain).output == PixelSize(1, 100))
    #expect(geometry(65500, 1, PixelSize(100, 100), .contain).output == PixelSize(100, 1))
  }

  @Test func coverGivesExactlyTheBox() {
    let wide = geometry(6000, 4000, PixelSize(400, 400), .cover)
    #expect(wide.view == PixelSize(600, 400))
    #expect(wide.cut == PixelSize(400, 400))
    #expect(geometry(401, 1000, PixelSize(400, 3), .cover).output == PixelSize(400, 3))
  }

  @Test func theWholeImageIsNeverSmallerThanItsPartRequires() {
    var variant = Variant(size: PixelSize(10, 10), fit: .cover)
    variant.framing.crop = Framing.Crop(x: 0, y: 0, size: PixelSize(33, 50))
    let geometry = ThumbnailGeometry(source: PixelSize(100, 100), variant: variant)
    #expect(geometry.view == PixelSize(10, 15) && geometry.whole == PixelSize(31, 30))
  }

  @Test func nothingIsEnlargedUnlessAsked() {
    let box = PixelSize(400, 400)
    #expect(geometry(300, 200, box, .contain).output == PixelSize(300, 200))
    #expect(geometry(300, 200, box, .cover).output == PixelSize(200, 200))
    #expect(geometry(1000, 100, box, .cover).output == PixelSize(100, 100))
    #expect(geometry(300, 1000, box, .fill).output == PixelSize(300, 400))
    #expect(geometry(300, 200, box, .contain, enlarges: true).output == PixelSize(400, 267))
    #expect(geometry(300, 200, box, .cover, enlarges: true).output == box)
    #expect(geometry(300, 1000, box, .fill, enlarges: true).output == box)
    // Even then only the piece that is kept grows.
    #expect(geometry(65500, 1, box, .cover, enlarges: true).view == PixelSize(65500, 1))
  }

  @Test(arguments: [(1, 1), (1, 10000), (65500, 1), (3, 7), (399, 400), (400, 400), (401, 400), (60000, 4000)])
  func everySideIsAtLeastOneAndNeverLargerThanThePicture(_ width: Int, _ height: Int) {
    for fit in Fit.allCases {
      for box in [PixelSize(1, 1), PixelSize(400, 400), PixelSize(16383, 1), PixelSize(7, 1000)] {
        let geometry = geometry(width, height, box, fit)
        for size in [geometry.view, geometry.cut, geometry.output] {
          #expect(size.width >= 1 && size.height >= 1 && size.width <= width && size.height <= height)
        }
        #expect(geometry.cut.width <= geometry.view.width && geometry.cut.height <= geometry.view.height)
        #expect(geometry.output.width <= box.width && geometry.output.height <= box.height)
      }
    }
  }

  @Test(arguments: 1...8) func aRectangleFindsItsWayIntoTheStoredPicture(_ exif: Int) {
    let orientation = Orientation(exif: exif)
    let stored = exif >= 5 ? PixelSize(20, 30) : PixelSize(30, 20)
    let whole = PixelRectangle(x: 0, y: 0, size: PixelSize(30, 20))
    #expect(orientation.upright(stored) == whole.size)
    #expect(orientation.stored(whole, in: stored) == PixelRectangle(x: 0, y: 0, size: stored))
    let part = orientation.stored(PixelRectangle(x: 1, y: 2, size: PixelSize(10, 5)), in: stored)
    #expect(part.x >= 0 && part.x + part.size.width <= stored.width)
    #expect(part.y >= 0 && part.y + part.size.height <= stored.height)
  }
}
