import TestSupport

@testable import Exports
@testable import ThumbnailCore

@Suite struct ContactSheetTests {
  private func thumbnail(_ image: String = "formats/jpeg-420.jpg") throws -> Thumbnail {
    Thumbnail(
      data: try TestImages.bytes(image), size: PixelSize(320, 240), format: .jpeg,
      source: SourceDescription(size: PixelSize(4000, 3000), format: .jpeg, byteCount: 3 << 20))
  }

  @Test func aCellHasTheColourOfItsImage() throws {
    var thumbnail = try thumbnail()
    #expect(!ContactSheet.figure(SheetCell(name: "a", pictures: [thumbnail])).contains("--tint"))
    let colour = RGBColor(red: 1, green: 160, blue: 255)
    thumbnail.placeholder = Placeholder(thumbHash: Data(1...20), colour: colour)
    let figure = ContactSheet.figure(SheetCell(name: "a", pictures: [thumbnail]))
    #expect(figure.contains("<div class=\"cell\" style=\"--tint:#01a0ff\"><img "))
  }

  @Test func aFigureShowsTheThumbnailItselfWithNameSizesAndThanks() throws {
    let thumbnail = try thumbnail()
    var cell = SheetCell(
      name: "Lake & Sky", url: URL(string: "https://example.org/photo?a=1&b=2"), pictures: [thumbnail])
    (cell.attribution, cell.authorURL) = ("Photo by Ada on Unsplash", URL(string: "https://example.org/@ada"))
    (cell.licence, cell.source) = ("CC0", thumbnail.source)
    let figure = ContactSheet.figure(cell)
    #expect(figure.contains("src=\"data:image/jpeg;base64,\(thumbnail.data.base64EncodedString())\""))
    #expect(figure.contains("href=\"https://example.org/photo?a=1&amp;b=2\""))
    #expect(figure.contains("<bdi>Lake &amp; Sky</bdi>") && figure.contains("320×240"))
    #expect(figure.contains("of 4000×3000 JPEG, 3.0 MiB"))
    #expect(
      figure.contains("<a href=\"https://example.org/@ada\" rel=\"noreferrer\"><bdi>Photo by Ada on Unsplash</bdi>"))
    #expect(figure.contains("CC0") && !figure.contains("failed"))
  }

  @Test func aFailureIsRedAndSaysWhy() {
    let figure = ContactSheet.figure(SheetCell(name: "a.jpg", failure: "the file is empty"))
    #expect(figure.hasPrefix("<figure class=\"failed\">") && figure.contains("the file is empty"))
    #expect(!figure.contains("<img"))
  }

  @Test(arguments: [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "a\u{202E}gpj.exe", "a\u{0}b\u{1B}[2Jc\u{9B}d",
    "--></figure>",
  ])
  func nothingOfANameBecomesMarkup(name: String) throws {
    let plain = ContactSheet.figure(SheetCell(name: "name"))
    let figure = ContactSheet.figure(
      SheetCell(name: name, pictures: [try thumbnail()]))
    #expect(!figure.contains(name) && !figure.contains("<script") && !figure.contains("onerror=alert(1)>\""))
    // The tags are those of the page's own.
    #expect(figure.filter { $0 == "<" }.count == plain.filter { $0 == "<" }.count + 5)
    #expect(!figure.unicodeScalars.contains { $0.value < 32 && $0 != "\n" || (0x7F..<0xA0).contains($0.value) })
  }

  @Test(arguments: [
    "javascript:alert(1)", "data:text/html,<b>", "file:///etc/passwd", "ftp://example.org/a", "nothing",
  ])
  func onlyAddressesOfTheWebBecomeLinks(address: String) throws {
    let url = try #require(URL(string: address))
    var cell = SheetCell(name: "a", url: url)
    (cell.author, cell.authorURL, cell.licence, cell.licenceURL) = ("b", url, "c", url)
    #expect(!ContactSheet.figure(cell).contains("href"))
  }

  @Test func namesAndPasswordsInAddressesStayBehind() {
    let figure = ContactSheet.figure(SheetCell(name: "a", url: URL(string: "https://me:secret@example.org/a.jpg")))
    #expect(figure.contains("href=\"https://example.org/a.jpg\"") && !figure.contains("secret"))
  }

  @Test func theAddressOfAPictureItselfHasNoSecrets() throws {
    let signed = try #require(URL(string: "https://me:secret@example.org/a%20b.jpg?X-Amz-Signature=1&w=2#x"))
    #expect(SheetCell.publicAddress(of: signed)?.absoluteString == "https://example.org/a%20b.jpg")
  }

  @Test func whereSomeThumbnailsFailedTheOthersAreShown() throws {
    let figure = ContactSheet.figure(SheetCell(name: "a", pictures: [try thumbnail()], failure: "too <large>"))
    #expect(figure.hasPrefix("<figure class=\"failed\"><div class=\"cell\"><img "))
    #expect(figure.contains("<span class=\"failed\">too &lt;large&gt;</span>"))
  }

  @Test func aPageOfHeadFiguresAndFootClosesWhatItOpens() throws {
    let page =
      ContactSheet.head(title: "<lake>") + ContactSheet.figure(SheetCell(name: "a", pictures: [try thumbnail()]))
      + ContactSheet.figure(SheetCell(name: "b", failure: "gone"))
      + ContactSheet.foot(images: 2, failed: 1)
    #expect(page.contains("<title>&lt;lake&gt;</title>") && page.contains("script-src 'none'"))
    for tag in [
      "html", "head", "body", "h1", "main", "figure", "figcaption", "div", "strong", "span", "footer", "p", "style",
      "title",
    ] {
      let opened = page.matches(of: try Regex("<\(tag)[ >]")).count
      let closed = page.matches(of: try Regex("</\(tag)>")).count
      #expect(opened > 0 && opened == closed, "\(tag)")
    }
  }
}
