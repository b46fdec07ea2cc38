import Testing

@testable import Exports
@testable import ThumbnailCore

@Suite struct NamingTemplateTests {
  private let source = NamingTemplate.Source(
    folder: Array("2024/may/".utf8), name: Array("IMG_1.tar.JPG".utf8), absolutePath: RawPath("/home/IMG_1.tar.JPG"))

  private func path(_ template: NamingTemplate, _ size: String = "400x300", ext: String? = "webp") throws -> String? {
    let size = try #require(TargetSize(parsing: size))
    return template.path(for: source, size: size, ext: ext.map { Array($0.utf8) })
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    arguments: [
      ("{path}/{name}.{ext}", "400", "2024/may/IMG_1.tar.webp"), ("{name}-{size}.{ext}", "x300", "IMG_1.tar-x300.webp"),
      ("{name}_{width}x{height}", "400x300", "IMG_1.tar_400x300"),
      ("{width}-{height}/{name}", "400x", "400-auto/IMG_1.tar"), ("{name}-{size}", "400", "IMG_1.tar-400x400"),
      ("{name}.{oldext}.{ext}", "9", "IMG_1.tar.JPG.webp"), ("./a//{name}", "9", "a/IMG_1.tar"),
      ("{{{name}}}", "9", "{IMG_1.tar}"),
    ])
  func wordsStandForWhatTheySay(template: String, size: String, expected: String) throws {
    #expect(try path(NamingTemplate(template), size) == expected)
  }

  @Test func theHashTellsFullPathsApart() throws {
    let template = try NamingTemplate("{hash}")
    let name = try #require(try path(template))
    #expect(name.count == 16 && name.allSatisfy(\.isHexDigit))
    var other = source
    other.absolutePath = RawPath("/home/other.jpg")
    let size = TargetSize(PixelSize(9, 9))
    #expect(template.path(for: other, size: size, ext: nil) != template.path(for: source, size: size, ext: nil))
  }

  @Test func aDateIsThatOfTheSourceAndWithoutOneThereIsNoName() throws {
    let template = try NamingTemplate("{date}-{name}")
    #expect(template.usesDate)
    #expect(try path(template) == nil)
    var dated = source
    dated.date = "2026-11-20"
    #expect(
      template.path(for: dated, size: TargetSize(PixelSize(9, 9)), ext: nil) == Array("2026-11-20-IMG_1.tar".utf8))
  }

  @Test func theStandardNameHasTheSizeOnlyWhereThereAreSeveral() throws {
    #expect(try path(.standard(sizeCount: 1)) == "2024/may/IMG_1.tar.webp")
    #expect(try path(.standard(sizeCount: 2)) == "2024/may/IMG_1.tar-400x300.webp")
    #expect(NamingTemplate.standard(sizeCount: 2).description == "{path}/{name}-{size}.{ext}")
  }

  @Test(
    arguments: [
      ("{nmae}", "{nmae}"), ("{name", "no }"), ("name}", "no {"), ("fixed.{ext}", "{name} or {hash}"),
      ("../\u{301}{name}", "out of the output folder"),
      ("../{name}", "out of the output folder"), ("/tmp/{name}", "out of the output folder"), ("{name}/", "slash"),
      ("{name}\0", "zero byte"),
    ])
  func whatCannotBeANameIsRefusedWithTheReason(template: String, reason: String) {
    #expect { _ = try NamingTemplate(template) } throws: { error in
      guard let text = (error as? InvalidValue)?.message else { return false }
      return text.contains(template) && text.contains(reason)
    }
  }

  @Test(arguments: ["...jpg", ".thumbs-index.jpg", ".thumbs-0.tmp.jpg"])
  func aNameThatWouldLeaveTheFolderOrHitTheRunsOwnFilesIsNone(name: String) throws {
    let template = try NamingTemplate("{path}/{name}")
    let source = NamingTemplate.Source(folder: [], name: Array(name.utf8), absolutePath: RawPath("/a"))
    #expect(template.path(for: source, size: TargetSize(PixelSize(9, 9)), ext: nil) == nil)
  }

  @Test func aDotAtTheStartBeginsNoEnd() {
    #expect(NamingTemplate.stem(".jpg".utf8) == Array(".jpg".utf8) && NamingTemplate.end(".jpg".utf8).isEmpty)
    #expect(NamingTemplate.stem("a".utf8) == Array("a".utf8) && NamingTemplate.end("a.".utf8).isEmpty)
  }

  @Test(arguments: [
    ("400x300", 400, 300, "400x300"), ("400", 400, 400, "400x400"), ("400x", 400, 16383, "400x"),
    ("x300", 16383, 300, "x300"), ("16383", 16383, 16383, "16383x16383"),
  ])
  func aSizeIsABoxOrOneSide(text: String, width: Int, height: Int, description: String) throws {
    let size = try #require(TargetSize(parsing: text))
    #expect(size.box == PixelSize(width, height) && size.description == description)
    #expect(size.isOpen == (description.hasPrefix("x") || description.hasSuffix("x")))
    // A variant knows the box alone.
    #expect(TargetSize(size.box) == size)
  }

  @Test(arguments: ["", "x", "0", "0x", "-4", "4.5", "16384", "4x5x6", "+4"]) func whatIsNoSizeIsRefused(text: String) {
    #expect(TargetSize(parsing: text) == nil)
  }
}
