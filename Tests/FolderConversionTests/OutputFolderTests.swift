import TestSupport

@testable import Exports
@testable import FolderConversion
@testable import ThumbnailCore

@Suite struct OutputFolderTests {
  private let directory: TemporaryDirectory
  private var path: RawPath { RawPath(directory.url.appendingPathComponent("a/b").path) }

  init() throws { directory = try TemporaryDirectory() }

  private func bytes(_ name: String) -> Data? {
    try? Data(contentsOf: directory.url.appendingPathComponent("a/b/\(name)"))
  }

  private func names() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path.description).sorted()
  }

  @Test func makesItsFoldersAndReplacesWhatIsThere() throws {
    let folder = try OutputFolder(path)
    try folder.write(
      [(Array("x/y/1.jpg".utf8), Data("one".utf8)), (Array("2.jpg".utf8), Data("two".utf8))], times: nil)
    #expect(bytes("x/y/1.jpg") == Data("one".utf8) && bytes("2.jpg") == Data("two".utf8))
    try folder.write([(Array("x/y/1.jpg".utf8), Data("new".utf8))], times: nil)
    #expect(bytes("x/y/1.jpg") == Data("new".utf8))
    #expect(try names() == [".thumbs-index", "2.jpg", "x", "x/y", "x/y/1.jpg"])
  }

  @Test func aFolderThatSomebodyRemovesMeanwhileIsMadeAgain() throws {
    let folder = try OutputFolder(path)
    try folder.write([(Array("x/1.jpg".utf8), Data("one".utf8))], times: nil)
    try FileManager.default.removeItem(atPath: path.description + "/x")
    try folder.write([(Array("x/2.jpg".utf8), Data("two".utf8))], times: nil)
    #expect(bytes("x/2.jpg") == Data("two".utf8))
  }

  @Test func whatAKilledRunLeftUnderTemporaryNamesIsRemoved() throws {
    do {
      let folder = try OutputFolder(path)
      try folder.write([(Array("x/1.jpg".utf8), Data("one".utf8))], times: nil)
    }
    // As after a kill: the index was not finished, and a thumbnail was half-written.
    try Data("half".utf8).write(to: directory.url.appendingPathComponent("a/b/x/.thumbs-63.tmp"))
    _ = try OutputFolder(path)
    #expect(try names() == [".thumbs-index", "x", "x/1.jpg"])
  }

  @Test func oneRunAtATimeHoldsAFolder() throws {
    let folder = try OutputFolder(path)
    #expect(throws: ConversionError.busy(path: path)) { _ = try OutputFolder(path) }
    withExtendedLifetime(folder) {}
  }

  @Test func aFolderWhereAFileShouldGoFailsAndStays() throws {
    let folder = try OutputFolder(path)
    try FileManager.default.createDirectory(
      atPath: path.description + "/1.jpg/x", withIntermediateDirectories: true)
    #expect { try folder.write([(Array("1.jpg".utf8), Data("one".utf8))], times: nil) } throws: { error in
      guard let error = error as? WriteFailure else { return false }
      return error.failure.code == EISDIR && !error.failure.endsRun && error.path == path.appending("1.jpg".utf8)
    }
    #expect(try names().filter { $0.hasSuffix(".tmp") }.isEmpty)
  }

  @Test func aFileWhereAFolderShouldGoFails() throws {
    let folder = try OutputFolder(path)
    try folder.write([(Array("x".utf8), Data("one".utf8))], times: nil)
    #expect { try folder.write([(Array("x/1.jpg".utf8), Data())], times: nil) } throws: { error in
      (error as? WriteFailure)?.failure.code == ENOTDIR
    }
    let file = path.appending("x".utf8)
    #expect { _ = try OutputFolder(file) } throws: { error in
      guard case .cannotWrite(file, let reason)? = error as? ConversionError else { return false }
      return reason == "Not a directory"
    }
  }

  @Test func linksInItsPlaceAreReplacedNotFollowed() throws {
    let folder = try OutputFolder(path)
    let outside = directory.url.appendingPathComponent("outside")
    try Data("kept".utf8).write(to: outside)
    try FileManager.default.createSymbolicLink(
      atPath: path.description + "/1.jpg", withDestinationPath: outside.path)
    try folder.write([(Array("1.jpg".utf8), Data("one".utf8))], times: nil)
    #expect(try Data(contentsOf: outside) == Data("kept".utf8) && bytes("1.jpg") == Data("one".utf8))
  }

  @Test func removesAThumbnailAndTheFoldersThatAreEmptyThen() throws {
    let folder = try OutputFolder(path)
    try folder.write(
      [(Array("x/y/1.jpg".utf8), Data()), (Array("x/2.jpg".utf8), Data())], times: nil)
    folder.remove(Array("x/y/1.jpg".utf8))
    #expect(try names() == [".thumbs-index", "x", "x/2.jpg"])
    try Data().write(to: directory.url.appendingPathComponent("outside"))
    folder.remove(Array("../../outside".utf8))
    #expect(FileManager.default.fileExists(atPath: directory.url.appendingPathComponent("outside").path))
  }
}

@Suite struct OutputNamesTests {
  private func paths(_ name: String, written: ImageFormat, _ format: OutputFormat) -> [String] {
    var options = FolderConverter.Options(inputs: [], output: "out")
    options.format = format
    let names = OutputNames(options)
    let source = NamingTemplate.Source(
      folder: Array("x/".utf8), name: Array(name.utf8), absolutePath: RawPath("/x/\(name)"))
    guard let planned = names.planned(for: source) else { return [] }
    return names.paths(for: source, planned: planned, written: [written]).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func theNamesAreFilledInWithWhatWasWritten() {
    #expect(paths("a.b.jpeg", written: .webp, .auto) == ["x/a.b.webp"])
    #expect(paths("a.gif", written: .png, .png) == ["x/a.png"])
  }

  @Test func underSameTheEndStaysUnlessItLies() {
    #expect(paths("a.JPEG", written: .jpeg, .same) == ["x/a.JPEG"])
    #expect(paths("a.gif", written: .gif, .same) == ["x/a.gif"])
    #expect(paths("a.png", written: .jpeg, .same) == ["x/a.jpg"])
    #expect(paths("a.heic", written: .jpeg, .same) == ["x/a.jpg"])
  }

  @Test func aNameThatIsAnothersCanNotBeTakenLater() {
    let claims = ClaimedNames([:])
    #expect(claims.claim([1], for: 0) && claims.claim([1], for: 0) && !claims.claim([1], for: 1))
  }
}
