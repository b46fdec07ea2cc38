@testable import PhotoSources
@testable import ThumbnailCore

@Suite struct PhotoTests {
  private func photo(_ forms: PhotoForms, size: PixelSize? = PixelSize(3000, 2000)) -> Photo {
    Photo(id: "7", provider: "test", title: "A lake", size: size, location: .served(forms))
  }

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  private func urls(_ source: ImageSource) -> [String] {
    ([source.url] + source.alternates).map(\.absoluteString)
  }

  @Test func everyKindOfPhotoSurvivesBeingStored() throws {
    var photo = photo(
      PhotoForms(server: .commons, url: try url("https://a/5px-x.jpg"), original: try url("https://a/x")))
    photo.author = "Ada"
    photo.licence = PhotoLicence(name: "CC0", url: try url("https://l"))
    photo.attribution = "Ada, CC0"
    photo.downloadLocation = try url("https://d")
    let others = [
      Photo(id: "f", provider: "folder", title: nil, location: .file(RawPath("/a b"))),
      Photo(id: "g", provider: "folder", title: nil, location: .file(RawPath(bytes: [0x2F, 0xE9]))),
      Photo(id: "u", provider: "urls", source: ImageSource(try url("https://a/b.jpg"), identity: "lasting")),
    ]
    for photo in [photo] + others {
      let stored = try JSONEncoder().encode(photo)
      let restored = try JSONDecoder().decode(Photo.self, from: stored)
      #expect(restored == photo)
      let box = PixelSize(200, 200)
      #expect(restored.source(for: box, fit: .cover).key == photo.source(for: box, fit: .cover).key)
    }
  }

  @Test func credentialsAreNotStored() throws {
    let source = ImageSource(try url("https://a/b.jpg"), headers: [HTTPHeader("Authorization", "Bearer SECRET")])
    let stored = try JSONEncoder().encode(Photo(id: "u", provider: "urls", source: source))
    #expect(!String(decoding: stored, as: UTF8.self).contains("SECRET"))
  }

  @Test func allFormsOfAPhotoAreOnePictureToTheCache() throws {
    let thumbnail = try url("https://thumb.example.org/a/ab/X.jpg/500px-X.jpg?utm_source=a")
    let other = try url("https://other.example.org/a/ab/X.jpg/500px-X.jpg?utm_source=b")
    let keys = [thumbnail, other].flatMap { url in
      let photo = photo(PhotoForms(server: .commons, url: url, original: url))
      return [
        photo.source(for: PixelSize(100, 100), fit: .cover).key,
        photo.source(for: PixelSize(900, 900), fit: .cover).key,
        photo.source(for: PixelSize(1, 1), fit: .contain).key,
      ]
    }
    #expect(Set(keys).count == 1)
  }

  @Test(arguments: [
    // The box is covered by a width of 300, 600 and 1440 pixels.
    (PixelSize(200, 200), ["330px", "500px", "X.jpg"]), (PixelSize(400, 400), ["960px", "X.jpg"]),
    (PixelSize(960, 960), ["1920px", "X.jpg"]), (PixelSize(300, 200), ["330px", "500px", "X.jpg"]),
    (PixelSize(480, 320), ["500px", "X.jpg"]),
    // No step is as wide: the original, and the widest step in its place.
    (PixelSize(2500, 200), ["X.jpg", "1920px"]),
  ])
  func commonsHasCertainWidths(box: PixelSize, expected: [String]) throws {
    let photo = photo(
      PhotoForms(
        server: .commons, url: try url("https://thumb.example.org/a/ab/X.jpg/500px-X.jpg?utm_source=a"),
        original: try url("https://up.example.org/a/ab/X.jpg")))
    let urls = urls(photo.source(for: box, fit: .cover))
    #expect(
      urls
        == expected.map {
          $0 == "X.jpg"
            ? "https://up.example.org/a/ab/X.jpg"
            : "https://thumb.example.org/a/ab/X.jpg/\($0)-X.jpg?utm_source=a"
        })
    #expect(photo.source(for: box, fit: .cover).downloadsPerHost == 2)
  }

  @Test func aFileOfCommonsThatHasNoThumbnailsIsTakenItself() throws {
    let original = try url("https://up.example.org/a/ab/X-20px-wide.jpg")
    let small = photo(PhotoForms(server: .commons, url: original, original: original), size: PixelSize(300, 200))
    #expect(urls(small.source(for: PixelSize(400, 400), fit: .cover)) == [original.absoluteString])
    let odd = try url("https://up.example.org/lossy-page1-500px-X.tif.jpg")
    let page = photo(PhotoForms(server: .commons, url: odd, original: original))
    #expect(
      urls(page.source(for: PixelSize(100, 100), fit: .cover)).first
        == "https://up.example.org/lossy-page1-250px-X.tif.jpg")
  }

  @Test func pexelsMakesAnySize() throws {
    let photo = photo(PhotoForms(server: .pexels, url: try url("https://a.example/1.jpeg?h=9&cs=srgb")))
    #expect(
      urls(photo.source(for: PixelSize(400, 400), fit: .cover))
        == ["https://a.example/1.jpeg?w=600&h=400&auto=compress&cs=tinysrgb&dpr=1"])
  }
}

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
