import Foundation
import Testing

@testable import PhotoSources
@testable import ThumbnailCore

@Suite struct PhotoFormsTests {
  @Test(arguments: [
    // A box of 400×300 from 6000×4000: covered by 450×300, contained at 400×267.
    (PixelSize(6000, 4000), PixelSize(400, 300), Fit.cover, PixelSize(450, 300)),
    (PixelSize(6000, 4000), PixelSize(400, 300), Fit.contain, PixelSize(400, 267)),
    (PixelSize(6000, 4000), PixelSize(400, 300), Fit.fill, PixelSize(450, 300)),
    (PixelSize(4000, 6000), PixelSize(400, 400), Fit.cover, PixelSize(400, 600)),
    // Never larger than the picture.
    (PixelSize(300, 200), PixelSize(400, 400), Fit.cover, PixelSize(300, 200)),
    (PixelSize(300, 200), PixelSize(400, 150), Fit.contain, PixelSize(225, 150)),
    (PixelSize(1_000_000, 1), PixelSize(100, 100), Fit.contain, PixelSize(100, 1)),
    (PixelSize(.max, .max), PixelSize(.max, .max), Fit.cover, PixelSize(1_000_000, 1_000_000)),
  ])
  func asksForTheWholePictureJustLargeEnough(source: PixelSize, box: PixelSize, fit: Fit, expected: PixelSize) {
    #expect(PhotoForms.Cell(box: box, fit: fit).scaledSize(of: source) == expected)
  }

  @Test func setsItsParametersAndKeepsTheOthers() throws {
    let raw = try #require(
      URL(string: "https://images.example.com/photo-1?ixid=M3%3D%7C&w=200&fit=crop&auto=format&dpr=2&ixlib=rb-4.1.0"))
    let cell = PhotoForms.Cell(box: PixelSize(400, 400), fit: .cover)
    let url = PhotoForms(server: .imgix, url: raw).imgixURL(ofSize: PixelSize(6000, 4000), for: cell)
    #expect(
      url.absoluteString
        == "https://images.example.com/photo-1?ixid=M3%3D%7C&ixlib=rb-4.1.0&w=600&h=400&fit=max&q=85&fm=jpg&dpr=1")
  }
}
