import TestSupport

@testable import Exports
@testable import FolderConversion
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct OutputFolderTests {
  private let directory: TemporaryDirectory
  private var path: RawPath { RawPath(directory.url.appendingPathComponent("a/b").path) }

  init() throws { directory = try TemporaryDirectory() }

  private func bytes(_ name: String) -> Data? {
    try? Data(contentsOf: directory.url.appendingPathComponent("a/b/\(name)"))
  }

  private func names() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path.description).sorted()
  }

  /// Writes a file as the thumbnail of a picture of its name.
  private func write(
    _ text: String, to name: String, in folder: OutputFolder, isInput: (FileState) -> Bool = { _ in false }
  ) throws {
    let path = RawPath(name)
    let entry = IndexEntry(
      key: OutputNames.key([path.bytes]), source: RawPath("/in/" + name), modified: 1, byteCount: 2, token: "t",
      outputs: [ConversionOutput(path: path, size: PixelSize(1, 1), format: .jpeg)])
    #expect(try folder.write([.data(Data(text.utf8))], of: entry, isInput: isInput))
  }

  private func remove(
    _ name: String, of source: String = "gone", in folder: OutputFolder, isInput: (FileState) -> Bool = { _ in false }
  ) -> OutputFolder.Removal {
    folder.remove(Array(name.utf8), of: path.appending(source.utf8), isInput: isInput)
  }

  private func failure(_ body: () throws -> Void) -> Int32? {
    do { try body() } catch { return (error as? WriteFailure)?.failure.code ?? -1 }
    return nil
  }

  private func put(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: directory.url.appendingPathComponent(name))
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: directory.url.appendingPathComponent(name).path, withDestinationPath: target)
  }

  private func text(_ name: String) -> String? {
    try? String(contentsOf: directory.url.appendingPathComponent(name), encoding: .utf8)
  }

  @Test func makesItsFoldersAndReplacesWhatItHasWritten() throws {
    let folder = try OutputFolder(path)
    try write("one", to: "x/y/1.jpg", in: folder)
    try write("two", to: "2.jpg", in: folder)
    #expect(bytes("x/y/1.jpg") == Data("one".utf8) && bytes("2.jpg") == Data("two".utf8))
    try write("new", to: "x/y/1.jpg", in: folder)
    #expect(bytes("x/y/1.jpg") == Data("new".utf8))
    #expect(try names() == [".thumbs-index", "2.jpg", "x", "x/y", "x/y/1.jpg"])
  }

  @Test func aFolderThatSomebodyRemovesMeanwhileIsMadeAgain() throws {
    let folder = try OutputFolder(path)
    try write("one", to: "x/1.jpg", in: folder)
    try FileManager.default.removeItem(atPath: path.description + "/x")
    try write("two", to: "x/2.jpg", in: folder)
    #expect(bytes("x/2.jpg") == Data("two".utf8))
  }

  @Test func whatAKilledRunLeftUnderTemporaryNamesIsRemoved() throws {
    try write("one", to: "x/1.jpg", in: try OutputFolder(path))
    // As after a kill: the index was not finished, and a thumbnail was half-written.
    try put("half", "a/b/x/.thumbs-63.tmp")
    try put("mine", "a/b/x/.thumbs-mine.tmp")
    try put("", "a/b/x/.thumbs-64.tmp")
    let (other, _) = try RootFolder(path).file(Array("x/.thumbs-64.tmp".utf8))
    #expect(other.lock(), "as another run holds what it writes")
    _ = try OutputFolder(path)
    #expect(try names() == [".thumbs-index", "x", "x/.thumbs-64.tmp", "x/.thumbs-mine.tmp", "x/1.jpg"])
  }

  @Test(arguments: ["../victim", "link", "/victim", "x/../../victim"])
  func noTemporaryFileElsewhereIsRemovedWhateverTheIndexSays(place: String) throws {
    for name in ["a/b/x", "a/victim"] {
      try FileManager.default.createDirectory(
        at: directory.url.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    try put("v", "a/victim/.thumbs-0.tmp")
    try link("a/b/link", to: "../victim")
    try put("thumbs index 1\n+\(place)\n", "a/b/.thumbs-index")
    _ = try OutputFolder(path)
    #expect(text("a/victim/.thumbs-0.tmp") == "v")
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
    #expect(failure { try write("one", to: "1.jpg", in: folder) } == EISDIR)
    #expect(try names().filter { $0.hasSuffix(".tmp") }.isEmpty)
  }

  @Test func aFileWhereAFolderShouldGoFails() throws {
    let folder = try OutputFolder(path)
    try write("one", to: "x", in: folder)
    #expect(failure { try write("", to: "x/1.jpg", in: folder) } == ENOTDIR)
    let file = path.appending("x".utf8)
    #expect { _ = try OutputFolder(file) } throws: { error in
      guard case .cannotWrite(file, let reason)? = error as? ConversionError else { return false }
      return reason == "Not a directory"
    }
  }

  @Test func aFileThatNobodyKnowsStays() throws {
    let folder = try OutputFolder(path)
    try put("somebody's", "a/b/1.jpg")
    #expect(failure { try write("thumbnail", to: "1.jpg", in: folder) } == EEXIST)
    #expect(text("a/b/1.jpg") == "somebody's")
  }

  @Test(arguments: ["", "thumb", "thumbnail"]) func whatAPowerFailureHasLeftIsReplaced(rest: String) throws {
    let folder = try OutputFolder(path)
    try put(rest, "a/b/1.jpg")
    try write("thumbnail", to: "1.jpg", in: folder)
    #expect(text("a/b/1.jpg") == "thumbnail")
  }

  @Test func aThumbnailThatSomebodyHasChangedStays() throws {
    let folder = try OutputFolder(path)
    try write("one", to: "1.jpg", in: folder)
    try put("own", "a/b/1.jpg")
    #expect(failure { try write("two", to: "1.jpg", in: folder) } == EEXIST)
    let key = OutputNames.key([Array("1.jpg".utf8)])
    #expect(remove("1.jpg", in: folder) == .kept && text("a/b/1.jpg") == "own")
    // An entry of 0.10.0 has the length alone: a text of that length is no thumbnail.
    var entry = try #require(folder.index.entry(key))
    entry.outputs[0].digest = nil
    folder.index.add(entry)
    #expect(remove("1.jpg", in: folder) == .kept && text("a/b/1.jpg") == "own")
    try Data([0xFF, 0xD8, 0]).write(to: directory.url.appendingPathComponent("a/b/1.jpg"))
    #expect(remove("1.jpg", in: folder) == .removed && text("a/b/1.jpg") == nil)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func anIndexThatAnotherUserHasPutIntoASharedFolderIsNotTrusted() throws {
    try write("one", to: "1.jpg", in: try OutputFolder(path))
    let index = directory.url.appendingPathComponent("a/b/.thumbs-index").path
    for (mode, isTrusted) in [(mode_t(0o1777), false), (0o777, true)] {
      #expect(chown(index, 65534, 65534) == 0 && chmod(path.description, mode) == 0)
      #expect(try OutputFolder(path).index.entries(naming: Array("1.jpg".utf8)).isEmpty != isTrusted)
    }
    // Nor says one that others may have written what is ours where they may remove nothing.
    let cases: [(user: uid_t, group: gid_t, mode: mode_t, removal: OutputFolder.Removal)] = [
      (1000, 1000, 0o755, .kept), (1000, 7, 0o775, .kept), (0, 1000, 0o755, .kept), (0, 1000, 0o775, .removed),
    ]
    try write("two", to: "x/2.jpg", in: try OutputFolder(path))
    #expect(chown(path.description, 0, 1000) == 0 && chmod(path.description, 0o775) == 0)
    for (user, group, mode, removal) in cases {
      #expect(chown(index, user, 1000) == 0 && chmod(index, 0o664) == 0)
      let folder = path.appending("x".utf8).description
      #expect(chown(folder, 0, group) == 0 && chmod(folder, mode) == 0)
      #expect(remove("x/2.jpg", in: try OutputFolder(path)) == removal, "\(user) \(group) \(mode)")
    }
  }

  @Test func aThumbnailThatTakesAnothersPlaceHasItsRights() throws {
    let folder = try OutputFolder(path)
    try write("one", to: "1.jpg", in: folder)
    chmod(directory.url.appendingPathComponent("a/b/1.jpg").path, 0o600)
    try write("two", to: "1.jpg", in: folder)
    let state = try FileState(of: path.appending("1.jpg".utf8))
    #expect(text("a/b/1.jpg") == "two" && state.permissions == 0o600)
  }

  @Test func aThumbnailThatIsBeingWrittenOrIsItsSourceByNowStays() throws {
    let folder = try OutputFolder(path)
    try write("one", to: "1.jpg", in: folder)
    let file = directory.url.appendingPathComponent("a/b/1.jpg")
    let writer = try FileHandle(forUpdating: file)
    #expect(remove("1.jpg", in: folder) == .kept)
    try writer.close()
    try link("a/b/link", to: "1.jpg")
    #expect(remove("1.jpg", of: "link", in: folder) == .kept)
    // Also where it is replaced whatever it is.
    var entry = try #require(folder.index.entry(OutputNames.key([Array("1.jpg".utf8)])))
    entry.source = path.appending("link".utf8)
    #expect(
      failure { _ = try folder.write([.data(Data("two".utf8))], of: entry) } == EBUSY && text("a/b/1.jpg") == "one")
    #expect(remove("1.jpg", in: folder) == .removed)
  }

  @Test func aKillBetweenTheIndexAndTheNameLeavesAThumbnailThatIsStillOurs() throws {
    try write("one", to: "1.jpg", in: try OutputFolder(path))
    let killed = try OutputFolder(path)
    var entry = try #require(killed.index.entry(OutputNames.key([Array("1.jpg".utf8)])))
    (entry.outputs[0].byteCount, entry.outputs[0].digest) = (4, 4)
    killed.index.add(entry)
    killed.release()
    try write("three", to: "1.jpg", in: try OutputFolder(path))
    #expect(text("a/b/1.jpg") == "three")
  }

  @Test func noLinkIsFollowed() throws {
    let folder = try OutputFolder(path)
    try FileManager.default.createDirectory(
      at: directory.url.appendingPathComponent("in/y"), withIntermediateDirectories: true)
    for name in ["in/1.jpg", "in/y/1.jpg"] { try put("kept", name) }
    try link("a/b/x", to: "../../in")
    try link("a/b/1.jpg", to: "../../in/1.jpg")
    for name in ["x/1.jpg", "x/y/1.jpg", "x/new.jpg"] {
      #expect(failure { try write("one", to: name, in: folder) } == ELOOP)
    }
    #expect(failure { try write("one", to: "1.jpg", in: folder) } == EEXIST && text("a/b/1.jpg") == "kept")
    for name in ["x/1.jpg", "../../in/1.jpg", "x/../x/1.jpg"] {
      folder.index.add(
        IndexEntry(
          key: 1, source: RawPath("/gone"), modified: 0, byteCount: 0, token: "",
          outputs: [ConversionOutput(path: RawPath(name), byteCount: 4)]))
      #expect(remove(name, in: folder) == .kept)
    }
    #expect(text("in/1.jpg") == "kept" && text("in/y/1.jpg") == "kept" && text("in/new.jpg") == nil)
  }

  @Test func noInputIsReplacedAndNoFolderOfInputsWrittenInto() throws {
    let folder = try OutputFolder(path)
    try FileManager.default.createDirectory(
      at: directory.url.appendingPathComponent("a/b/x"), withIntermediateDirectories: true)
    try put("original", "a/b/1.jpg")
    let inputs = [try FileState(of: path.appending("1.jpg".utf8)).id, try FileState(of: path.appending("x".utf8)).id]
    for name in ["1.jpg", "x/2.jpg"] {
      #expect(failure { try write("one", to: name, in: folder) { inputs.contains($0.id) } } == EBUSY)
    }
    #expect(text("a/b/1.jpg") == "original" && text("a/b/x/2.jpg") == nil)
    // Nor is one removed that has the bytes of a thumbnail, such as a copy of a site where the folder is mounted.
    for name in ["1.jpg", "x/2.jpg"] {
      try put("original", "a/b/\(name)")
      folder.index.add(
        IndexEntry(
          key: 9, source: RawPath("/gone"), modified: 0, byteCount: 0, token: "",
          outputs: [
            ConversionOutput(
              path: RawPath(name), size: nil, format: .jpeg, byteCount: 8,
              digest: try ByteSource.memory(Array("original".utf8)).digest())
          ]))
      #expect(remove(name, in: folder) { inputs.contains($0.id) } == .kept && text("a/b/\(name)") == "original")
    }
  }

  @Test func filesWithSecondNamesElsewhereAreNeverWrittenInto() throws {
    try write("one", to: "1.jpg", in: try OutputFolder(path))
    try put("mine", "notes")
    for name in [".thumbs-1.tmp", ".thumbs-2.tmp", ".thumbs-index.tmp"] {
      try FileManager.default.linkItem(
        at: directory.url.appendingPathComponent("notes"), to: directory.url.appendingPathComponent("a/b/\(name)"))
    }
    try FileManager.default.linkItem(
      at: directory.url.appendingPathComponent("a/b/.thumbs-index"), to: directory.url.appendingPathComponent("copy"))
    let copy = text("copy")
    let folder = try OutputFolder(path)
    try write("two", to: "1.jpg", in: folder)
    try write("two", to: "2.jpg", in: folder)
    folder.index.finish()
    #expect(text("notes") == "mine" && text("copy") == copy && text("a/b/1.jpg") == "two")
  }

  @Test func whatWasSetAsideIsRemovedIfARunHasWrittenIt() throws {
    try write("one", to: "x/1.jpg", in: try OutputFolder(path))
    try put("one", "a/b/x/.thumbs-1.old")
    try put("somebody's", "a/b/x/.thumbs-2.old")
    _ = try OutputFolder(path)
    #expect(try names() == [".thumbs-index", "x", "x/.thumbs-2.old", "x/1.jpg"])
  }

  @Test func lengthsThatAreGuessedAreNotBelieved() throws {
    let folder = try OutputFolder(path)
    let bytes = Data([0xFF, 0xD8]) + Data("mine".utf8)
    try bytes.write(to: directory.url.appendingPathComponent("a/b/1.jpg"))
    for length in 5...7 {
      folder.index.add(
        IndexEntry(
          key: UInt64(length), source: RawPath("/gone"), modified: 0, byteCount: 0, token: "",
          outputs: [ConversionOutput(path: RawPath("1.jpg"), size: nil, format: .jpeg, byteCount: length)]))
    }
    #expect(remove("1.jpg", in: folder) == .kept && self.bytes("1.jpg") == bytes)
    #expect(failure { try write("thumbnail", to: "1.jpg", in: folder) } == EEXIST)
  }

  @Test func removesAThumbnailAndTheFoldersThatAreEmptyThen() throws {
    let folder = try OutputFolder(path)
    for name in ["x/y/1.jpg", "x/2.jpg"] { try write("", to: name, in: folder) }
    #expect(remove("x/y/1.jpg", in: folder) == .removed)
    #expect(try names() == [".thumbs-index", "x", "x/2.jpg"])
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
