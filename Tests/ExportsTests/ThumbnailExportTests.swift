import TestSupport

@testable import Exports
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct ThumbnailExportTests {
  private let directory: TemporaryDirectory
  private var folder: String { directory.url.appendingPathComponent("out").path }
  private let size = PixelSize(40, 40)

  init() throws { directory = try TemporaryDirectory() }

  private func thumbnail(_ text: String) -> Thumbnail {
    Thumbnail(
      data: Data(text.utf8), size: size, format: .jpeg,
      source: SourceDescription(size: size, format: .jpeg, byteCount: 1))
  }

  private func export(_ template: String? = nil) throws -> ThumbnailExport {
    try ThumbnailExport(folder: folder, name: try template.map { try NamingTemplate($0) }, sizeCount: 1)
  }

  private func files() throws -> [String: String] {
    var files: [String: String] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      files[name] = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
    return files
  }

  private func name(_ path: String) -> PictureName { PictureName(path, identity: path) }

  @Test func filesKeepTheTreeOfTheirSource() async throws {
    let export = try export()
    #expect(
      try await export.add(thumbnail("one"), of: name("x/y/1.png"), size: size) == .written(path: "\(folder)/x/y/1.jpg")
    )
    _ = try await export.add(thumbnail("two"), of: name("2.png"), size: size)
    #expect(try files() == ["x/y/1.jpg": "one", "2.jpg": "two"])
  }

  @Test func theDateInANameIsThatOfThePicturesFileAndOthersHaveNone() async throws {
    let file = directory.url.appending(path: "one.jpg")
    try Data(DateSamples.jpeg(exif: DateSamples.tiff([DateSamples.original: "2024:07:01 12:00:00"]))).write(to: file)
    var one = name("one.jpg")
    one.file = RawPath(file.path)
    let export = try export("{date}/{name}.{ext}")
    #expect(
      try await export.add(thumbnail("one"), of: one, size: size) == .written(path: "\(folder)/2024-07-01/one.jpg"))
    await #expect(throws: FileWriteError.self) {
      try await export.add(thumbnail("two"), of: name("two.jpg"), size: size)
    }
  }

  @Test func anotherRunFindsItsFilesAndLeavesThem() async throws {
    _ = try await export().add(thumbnail("one"), of: name("1.png"), size: size)
    #expect(
      try await export().add(thumbnail("one"), of: name("1.png"), size: size) == .unchanged(path: "\(folder)/1.jpg"))
  }

  @Test(arguments: ["mine", "new mine", "n", ""]) func whatIsThereStaysButForTheBeginningOfAFile(there: String)
    async throws
  {
    _ = try await export().add(thumbnail(there), of: name("1.png"), size: size)
    let outcome = try await export().add(thumbnail("new"), of: name("1.png"), size: size)
    let path = "\(folder)/1.jpg"
    #expect(outcome == (there.count < 2 ? .written(path: path) : .kept(path: path)))
    #expect(try files() == ["1.jpg": there.count < 2 ? "new" : there])
  }

  @Test func twoPicturesOfOneNameGetFilesOfTheirOwnInEveryRunAndOrder() async throws {
    let pictures = [("a", name("a/1.png")), ("b", name("b/1.png"))]
    for round in [pictures, pictures, pictures.reversed()] {
      let export = try export("{name}.{ext}")
      for (text, name) in round { _ = try await export.add(thumbnail(text), of: name, size: size) }
      let found = try files()
      #expect(found.values.sorted() == ["a", "b"] && found["1.jpg"] == "a", "\(found)")
    }
  }

  @Test func aFolderOrLinkInTheWayIsLeft() async throws {
    try FileManager.default.createDirectory(atPath: "\(folder)/1.jpg", withIntermediateDirectories: true)
    let outcome = try await export().add(thumbnail("one"), of: name("1.png"), size: size)
    #expect(outcome == .kept(path: "\(folder)/1.jpg"))
  }

  @Test func aFileInTheFoldersPlaceIsAnErrorBeforeAnythingIsMade() throws {
    try Data().write(to: URL(fileURLWithPath: folder))
    #expect(throws: FileWriteError(path: folder, reason: "Not a directory")) { _ = try export() }
  }

  /// Nor is its end an extension, which would leave no room for the digits of the second one.
  @Test func aLongNameWithADotAtItsBeginningIsCut() async throws {
    let export = try export("a.{name}{name}")
    for index in 0..<2 {
      let long = name("\(index)/\(String(repeating: "n", count: 145))")
      let outcome = try await export.add(thumbnail("\(index)"), of: long, size: size)
      guard case .written(let path) = outcome else { Issue.record("\(outcome)"); continue }
      #expect(RawPath(path).name.count <= 255)
    }
    #expect(try files().count == 2)
  }

  @Test func aNameLongerThanFileSystemsTakeIsCut() async throws {
    let long = String(repeating: "n", count: 140)
    let template = "{name}-{name}-{name}.{ext}"
    let export = try export(template)
    for index in 0..<2 { _ = try await export.add(thumbnail("\(index)"), of: name("\(index)/\(long).png"), size: size) }
    #expect(try files().count == 2 && files().keys.allSatisfy { $0.utf8.count <= 255 && $0.hasSuffix(".jpg") })
  }

  @Test func twoRunsThatExportTheSameAtOnceFindNothingInTheWay() async throws {
    let exports = [try export(), try export()]
    let outcomes = await withTaskGroup(of: ThumbnailExport.Outcome?.self) { group in
      for index in 0..<100 {
        for export in exports {
          group.addTask { [self] in
            try? await export.add(thumbnail("\(index)"), of: name("\(index).png"), size: size)
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let kept = outcomes.filter { if case .kept? = $0 { true } else { $0 == nil } }
    #expect(kept.isEmpty, "\(kept)")
    #expect(try files().count == 100)
  }

  @Test func nothingIsLeftUnderAnotherName() async throws {
    let export = try export()
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<20 {
        group.addTask { [self] in
          _ = try? await export.add(thumbnail("\(index)"), of: name("\(index).png"), size: size)
        }
      }
    }
    #expect(try files().count == 20 && files().keys.allSatisfy { !$0.hasPrefix(".") })
  }
}
