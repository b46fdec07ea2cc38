import TestSupport

@testable import DecodeSandbox
@testable import Exports
@testable import ImageCodec
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct ContactPrintTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func picture(_ image: String, _ format: ImageFormat) throws -> SheetCell.Picture {
    SheetCell.Picture(
      size: PixelSize(320, 240), byteCount: 1, file: (try TestImages.bytes(image), format))
  }

  /// The colour at a place of a JPEG.
  private func colours(_ data: Data, _ places: [(x: Int, y: Int)]) throws -> [[UInt8]] {
    let size = try probe(.memory(Array(data))).size
    let request = HelperRequest(.jpeg, [Variant(size: size, format: .png)])
    let raster = try request.raster(of: .memory(Array(data)), in: nil)
    return raster.withBytes { bytes in
      places.map { place in (0..<3).map { bytes[(place.y * size.width + place.x) * 3 + $0] } }
    }
  }

  @Test func elevenPicturesAreTwoRowsOfTen() async throws {
    let print = try ContactPrint(scratchFolder: directory.url.path)
    for _ in 0..<11 {
      try await print.add(SheetCell(name: "a", pictures: [try picture("formats/jpeg-420.jpg", .jpeg)]))
    }
    let data = try await print.finish("11 pictures, 0 failed")
    #expect(
      try probe(.memory(Array(data))).size
        == PixelSize(Montage.width, 6 + 2 * (Montage.cellSize.height + 6) + 32))
    // White beside the letterboxed picture, the picture in the middle, and the ground where a twelfth would be.
    let found = try colours(data, [(x: 12, y: 20), (x: 90, y: 90), (x: 6 + 178 + 80, y: 330)])
    #expect(found[0].allSatisfy { $0 > 250 } && !found[1].allSatisfy { $0 > 230 })
    #expect(found[2].allSatisfy { (0xE8...0xF4).contains($0) })
    #expect(print.leftOut == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
  }

  @Test func aFailureHasARedEdgeAndWhatCannotBeReadAnEmptyBox() async throws {
    let print = try ContactPrint(scratchFolder: directory.url.path)
    try await print.add(SheetCell(name: "<b>&\u{1B}", failure: "the file is empty; check what is at its address"))
    try await print.add(SheetCell(name: "cut", pictures: [try picture("broken/truncated-after-the-header.jpg", .jpeg)]))
    try await print.add(SheetCell(name: "drawing", pictures: [try picture("formats/svg.svg", .svg)]))
    let data = try await print.finish("")
    let found = try colours(data, [(x: 7, y: 100), (x: 6 + 178 + 86, y: 86), (x: 6 + 2 * 178 + 86, y: 86)])
    #expect(found[0][0] > 150 && found[0][1] < 90)
    #expect(found[1].allSatisfy { $0 > 250 } && found[2].allSatisfy { $0 > 250 })
  }

  @Test func aPathIsCutInFrontAndOtherTextAtItsEnd() {
    #expect(
      Montage.shortened(["2021/07/holidays/IMG_20210703.jpg", "320×240, 12 kB", "Somebody with / a long name"])
        == ["…lidays/IMG_20210703.jpg", "320×240, 12 kB", "Somebody with / a long …"])
    #expect(Montage.shortened(["A title that is too long for its line"]) == ["A title that is too lon…"])
    #expect(Montage.shortened(["holidays/IMG_20210703.jp"]) == ["holidays/IMG_20210703.jp"])
  }

  @Test func anEmptyPrintIsAPictureToo() async throws {
    let data = try await ContactPrint(scratchFolder: directory.url.path).finish("0 pictures, 0 failed")
    #expect(try probe(.memory(Array(data))).format == .jpeg)
  }

  @Test func theFirstThousandAreShownAndTheOthersCounted() async throws {
    let print = try ContactPrint(scratchFolder: directory.url.path)
    for _ in 0..<1012 { try await print.add(SheetCell(name: "", failure: "")) }
    let data = try await print.finish("1012 pictures")
    #expect(print.leftOut == 12)
    let size = try probe(.memory(Array(data))).size
    #expect(size.height == 6 + 100 * (Montage.cellSize.height + 6) + 32 && size.height < 65_500)
  }

  @Test func aFolderThatIsNotThereIsToldAtOnce() {
    #expect(throws: ExportError(path: "/nowhere/at all", reason: "No such file or directory")) {
      _ = try ContactPrint(scratchFolder: "/nowhere/at all")
    }
  }
}
