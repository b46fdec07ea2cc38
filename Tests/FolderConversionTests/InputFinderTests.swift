import TestSupport

@testable import Exports
@testable import FolderConversion
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct InputFinderTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

  private func make(_ names: String...) throws {
    for name in names {
      let url = folder.url.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: url)
    }
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
  }

  /// The list, by default of the whole folder.
  private func find(
    _ inputs: [FolderConverter.Input]? = nil, output: String = "out",
    _ change: (inout FolderConverter.Options) -> Void = { _ in }
  ) throws -> InputList {
    var options = FolderConverter.Options(inputs: inputs ?? [.path(path("in"))], output: path(output))
    change(&options)
    var finder = InputFinder(options, cancelled: CancellationFlag())
    return try finder.run()
  }

  /// What the names of the outputs begin with.
  private func pictures(_ list: InputList) -> [String] {
    (0..<list.count).filter { list.kind(at: $0) == .picture }.map {
      let source = list.source(at: $0)
      return String(decoding: source.folder + source.name, as: UTF8.self)
    }
  }

  @Test func aFoldersOwnFilesComeBeforeItsFoldersInOrder() throws {
    try make("in/b.jpg", "in/a.PNG", "in/x/1.webp", "in/c/z/2.jpeg", "in/c/1.tiff", "in/readme.txt", "in/noend")
    let list = try find()
    #expect(pictures(list) == ["a.PNG", "b.jpg", "c/1.tiff", "c/z/2.jpeg", "x/1.webp"])
    #expect((0..<list.count).filter { list.kind(at: $0) == .otherName }.count == 2)
    #expect(list.path(at: 0).description == path("in/a.PNG"))
  }

  @Test func hiddenFilesAndFoldersAreLeftOutUnlessNamed() throws {
    try make("in/.a.jpg", "in/.x/b.jpg", "in/c.jpg")
    #expect(pictures(try find()) == ["c.jpg"])
    #expect(pictures(try find([.path(path("in/.a.jpg"))])) == [".a.jpg"])
  }

  @Test func patternsTakeAndLeaveOut() throws {
    try make("in/a.jpg", "in/b.data", "in/raw/c.jpg", "in/raw/d.jpg", "in/e/raw/f.jpg")
    let raw = try #require(GlobPattern("raw"))
    #expect(pictures(try find { $0.exclude = [raw] }) == ["a.jpg"])
    let data = try #require(GlobPattern("*.data"))
    #expect(pictures(try find { $0.include = [data] }) == ["b.data"])
    let top = try #require(GlobPattern("raw/*"))
    #expect(pictures(try find { $0.include = [top] }) == ["raw/c.jpg", "raw/d.jpg"])
  }

  @Test(
    arguments: [
      "in/Private", "in/Private/", "./Private", "/Private", "IN/in/Private", "IN/in//Private/", "IN/in/../in/./Private",
      "IN/link/Private", "in/shortcut/Private", "{in,other}/Private", "in/Pri*", "Private/a [1].jpg",
    ])
  func patternsCountFromTheNamedFolderHoweverItIsWritten(text: String) throws {
    try make("in/Private/a [1].jpg", "in/x/Private.txt", "in/b.jpg", "in/other/c.jpg")
    try link("link", to: "in")
    try link("in/shortcut", to: ".")
    // The tests' working directory is that of all: the path from there.
    let here = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in ".." }.joined(separator: "/")
    let text =
      text.hasPrefix("IN")
      ? text.replacing("IN", with: folder.url.path)
      : text.contains("in") && !text.hasPrefix("Private")
        ? text.replacing(/^(\{?)/) { "\(here)\(folder.url.path)/\($0.1)" } : text
    let list = try find { $0.exclude = [GlobPattern(text)].compactMap(\.self) }
    #expect(pictures(list) == ["b.jpg", "other/c.jpg"])
    #expect(list.selection.unusedPatterns().count == (text.contains("{") ? 1 : 0), "of each choice")
    let included = try find {
      $0.include = [GlobPattern(text + (text.hasSuffix("jpg") ? "" : "/**"))].compactMap(\.self)
    }
    #expect(pictures(included) == ["Private/a [1].jpg"])
  }

  @Test(arguments: [
    ("Private", false), ("IN/Private", false), ("in/Private", true), ("in/Private/*", true), ("b*", nil),
  ])
  func patternsHoldForWhatAShellOrAListNames(text: String, isOfList: Bool?) throws {
    try make("in/Private/a.jpg", "in/ok/b.jpg")
    let exclude = [GlobPattern(text.replacing("IN", with: path("in")))].compactMap(\.self)
    if isOfList != true {
      let named = ["in/Private/", "in/ok"].map { FolderConverter.Input.path(path($0)) }
      #expect(pictures(try find(named) { $0.exclude = exclude }) == (isOfList == nil ? ["a.jpg"] : ["b.jpg"]))
    }
    try Data("\(path("./in/Private/a.jpg"))\n\(path("./in/ok/b.jpg"))\n".utf8).write(
      to: folder.url.appendingPathComponent("list"))
    let list = try find([.list(RawPath(path("list")))]) {
      $0.exclude = isOfList == true ? [GlobPattern(path(text))].compactMap(\.self) : exclude
    }
    #expect(list.count == 1 && list.path(at: 0).description.hasSuffix(isOfList == nil ? "a.jpg" : "b.jpg"))
    #expect(list.selection.unusedPatterns().isEmpty)
  }

  @Test(arguments: ["[2019] P/*", "[2019] P/**", "IN/[2019] P/*.jpg", "{[2019] P,b.jpg}/*.jpg", "{x,y}"])
  func charactersOfPatternsMayBeThoseOfNames(text: String) throws {
    try make("in/[2019] P/a.jpg", "in/{x,y}/a.jpg", "in/c.jpg", "in/b.jpg/c.jpg")
    let list = try find { $0.exclude = [GlobPattern(text.replacing("IN", with: path("in")))].compactMap(\.self) }
    #expect(
      list.selection.unusedPatterns().isEmpty
        && !pictures(list).contains(text == "{x,y}" ? "{x,y}/a.jpg" : "[2019] P/a.jpg"))
  }

  /// Names of a Mac have their accents as characters of their own.
  @Test(arguments: ["priv\u{e9}*", "prive\u{301}*", "priv{e,x}\u{301}", "priv[\u{e9}x]", "IN/priv\u{e9}"])
  func accentsMatchHoweverTheyAreComposed(text: String) throws {
    try make("in/prive\u{301}/x.jpg", "in/priv\u{e9}/x.jpg", "in/prive/a.jpg", "in/b.jpg", "in/o\u{308}.jpg")
    try Data("\u{f6}.jpg\n".utf8).write(to: folder.url.appendingPathComponent("in/.hidden"))
    let list = try find { $0.exclude = [GlobPattern(text.replacing("IN", with: path("in")))].compactMap(\.self) }
    #expect(pictures(list).map { Array($0.utf8) } == ["b.jpg", "prive/a.jpg"].map { Array($0.utf8) })
  }

  @Test func whatMayBeInAFolderThatCannotBeReadIsNoMistake() throws {
    try make("in/b.jpg")
    let selection = try find { $0.exclude = ["disk/x", "dis"].compactMap { GlobPattern($0) } }.selection
    let unlisted = try #require(RawPath(path("in")).resolved).appending("disk".utf8)
    #expect(selection.unusedPatterns([unlisted]).map { String($0.message.prefix(4)) } == ["dis "])
  }

  @Test(
    arguments: [
      ("private", [true]), ("Private/none", [true]), ("other/Private", [true]), ("no*", [true]), ("x/*.gif", []),
      ("b/*.gif", [true]),
      ("./*.gif", [false]), ("Private/.git/x", []), ("b.jpg", []), (".trash", []), ("IN", [true]),
      ("{Private,private}", [true]), ("{privat,no}/*", [true, true]), ("[no] x/*", [true]),
      ("{*.gif,no}", [true, false]),
      (".", [true]), ("././", [true]), ("./private", [true]), ("../in", [true]), ("/.no/private", [true]),
      ("IN/private", [true]),
    ] as [(String, [Bool])])
  func aPatternThatMatchesNothingIsTold(text: String, isMistake: [Bool]) throws {
    try make("in/Private/a.jpg", "in/b.jpg", "in/.trash/c.jpg", "in/x/d.jpg")
    let pattern = try #require(GlobPattern(text.replacing("IN", with: path("in"))))
    // What another pattern leaves out with its folder is not looked for.
    let list = try find { $0.exclude = ["x", pattern.description, "x/e"].compactMap { GlobPattern($0) } }
    #expect(list.selection.unusedPatterns().map(\.isMistake) == isMistake)
    let told = try find { $0.include = ["a.jpg", pattern.description].compactMap { GlobPattern($0) } }.selection
      .unusedPatterns()
    #expect(told.isEmpty == (text == "b.jpg"))
    #expect(told.allSatisfy { $0.message.hasPrefix("\(pattern) matches nothing") && !$0.isMistake })
  }

  @Test func linksAreFollowedOnlyWhenAskedForAndLoopsAreFound() throws {
    try make("in/a/1.jpg", "elsewhere/2.jpg")
    try link("in/a/up", to: "..")
    try link("in/self", to: "self")
    try link("in/other", to: "../elsewhere")
    try link("in/b.jpg", to: "a/1.jpg")
    let still = try find()
    #expect(pictures(still) == ["a/1.jpg"])
    #expect((0..<still.count).filter { still.kind(at: $0) == .link }.count == 4)
    let followed = try find { $0.followsLinks = true }
    #expect(pictures(followed) == ["b.jpg", "self", "a/1.jpg", "other/2.jpg"].filter { $0 != "self" })
    let loop = try #require(followed.problems.first)
    #expect(followed.problems.count == 1 && loop.failure.code == "loop" && loop.status == .skipped)
    #expect(loop.path.description.hasSuffix("in/a/up/"))
  }

  @Test func aNameThatIsNotUTF8IsTakenAsItIs() throws {
    try make("in/a.jpg")
    let name: [UInt8] = [0xE9, 0xFF] + Array(".jpg".utf8)
    let raw = RawPath(path("in")).appending(name)
    #expect(raw.withCString { close(open($0, O_CREAT | O_WRONLY, 0o600)) } == 0)
    let list = try find()
    #expect(list.count == 2 && Array(list.name(at: 1)) == name)
    #expect(list.path(at: 1) == raw)
  }

  @Test func whatSystemsKeepIsNoInput() throws {
    let systems = [
      "$Recycle.Bin", "$RECYCLE.BIN", "System Volume Information", "RECYCLER", "FOUND.000", "found.123", "#recycle",
      "#snapshot", "~snapshot", "@Recently-Snapshot", "@Recycle", "@eaDir", "files_trashbin", "lost+found",
    ]
    for name in systems { try make("in/x/\(name)/b.jpg") }
    try make(
      "in/a.jpg", "in/.d.jpg", "in/Trash/e.jpg", "in/found.0000/f.jpg", "in/found.abc/g.jpg", "in/Recycler/h.jpg")
    let others = ["a.jpg", "Recycler/h.jpg", "Trash/e.jpg", "found.0000/f.jpg", "found.abc/g.jpg"]
    #expect(pictures(try find()) == others)
    for name in systems { #expect(pictures(try find([.path(path("in/x/\(name)"))])) == ["b.jpg"]) }
  }

  @Test func whatIsMarkedAsHiddenIsNoInputUnlessNamed() throws {
    try make("in/a.jpg", "in/b.jpg", "in/Private/x/c.jpg", "in/Private/.nomedia", "in/later/d.jpg", "in/e/b.jpg")
    try Data("\u{FEFF}b.jpg\r\nlater\n\nno\n".utf8).write(to: folder.url.appendingPathComponent("list"))
    try link("in/.hidden", to: "../list")
    try make("in/phone/f.jpg", "in/phone/.NOMEDIA", "in/linked/g.jpg")
    try link("in/linked/.nomedia", to: "none")
    // As one file on a disk that knows no case, and as another one.
    try link("in/B.JPG", to: "b.jpg")
    try make("in/B.jpg")
    #expect(pictures(try find()) == ["B.jpg", "a.jpg", "e/b.jpg"])
    #expect(pictures(try find([.path(path("in/Private")), .path(path("in/b.jpg"))])) == ["x/c.jpg", "b.jpg"])
    let root = RawPath(path("in"))
    for (name, isLeftOut) in [
      ("a.jpg", false), ("b.jpg", true), ("Private", true), ("e", false), ("later", true), ("phone", true),
      ("B.JPG", true), ("B.jpg", false), ("LATER", false),
    ] {
      #expect(DirectoryWalk.passesOver(name.utf8, in: root) == isLeftOut)
    }
  }

  @Test func aListOfHiddenNamesThatCannotBeReadShowsNothing() throws {
    try make("in/a.jpg", "in/x/b.jpg", "in/y/c.jpg", "in/y/.hidden/d.jpg")
    try link("in/x/.hidden", to: "none")
    try make("in/z/b.jpg")
    try Data("b.jpg\r\n".data(using: .utf16LittleEndian) ?? Data()).write(
      to: URL(fileURLWithPath: path("in/z/.hidden")))
    let list = try find { $0.exclude = [GlobPattern("*.gif")].compactMap(\.self) }
    let root = try #require(RawPath(path("in")).resolved)
    let isLeftOut = ["x/b.jpg", "x/b.gif", "gone/.nomedia/a.jpg", ".x/a.jpg"].map {
      list.leavesOut(root.appending($0.utf8), list.listed)
    }
    #expect(isLeftOut == [false, true, true, true], "known, whether it may be looked at or not")
    #expect(pictures(list) == ["a.jpg", "y/c.jpg"])
    #expect(list.problems.map { $0.failure.message.contains(".hidden") && $0.isFolder } == [true, true])
    #expect(DirectoryWalk.passesOver("x/b.jpg".utf8, in: RawPath(path("in"))))
  }

  @Test func theOutputFolderIsNoInput() throws {
    try make("in/a.jpg", "in/small/a.jpg", "in/small/x/b.jpg")
    try link("in/shortcut", to: "small/x")
    #expect(pictures(try find(output: "in/small")) == ["a.jpg"])
    #expect(pictures(try find(output: "in/small") { $0.followsLinks = true }) == ["a.jpg"])
    let list = try find([.path(path("in/a.jpg")), .path(path("in/small/x/b.jpg"))], output: "in/small")
    #expect(pictures(list) == ["a.jpg"] && list.kind(at: 1) == .ownOutput)
    for input in ["in/small", "in/small/x", "in/shortcut"] {
      #expect { _ = try find([.path(path(input))], output: "in/small") } throws: { error in
        guard case .invalidOption(let reason)? = error as? ConversionError else { return false }
        return reason.contains(path(input)) && reason.contains("another output folder")
      }
    }
  }

  @Test func namedFilesLoseTheirFoldersAndListedOnesKeepThem() throws {
    try make("in/a/1.jpg", "in/b/2.gif")
    let names = "\(path("in/a/1.jpg"))\r\n\n\(path("in/b"))\n\(path("missing.jpg"))"
    try Data(names.utf8).write(to: folder.url.appendingPathComponent("list"))
    #expect(pictures(try find([.path(path("in/a/1.jpg"))])) == ["1.jpg"])
    let list = try find([.list(RawPath(path("list")))])
    let kept = path("in").dropFirst()
    #expect(pictures(list) == ["\(kept)/a/1.jpg", "\(kept)/b/2.gif"])
    #expect(list.problems.map(\.failure.code) == ["not-found"] && !list.isComplete)
  }

  @Test func namesInAListMayEndWithZeroBytes() throws {
    try make("in/line\nbreak.jpg", "in/b.jpg")
    let names = [path("in/line\nbreak.jpg"), path("in/b.jpg")].map { $0 + "\0" }.joined()
    try Data(names.utf8).write(to: folder.url.appendingPathComponent("list"))
    let list = try find([.list(RawPath(path("list")))]) { $0.listsAreNullSeparated = true }
    #expect(list.count == 2 && list.problems.isEmpty)
    let wrong = try find([.list(RawPath(path("list")))])
    #expect(
      wrong.problems.contains {
        $0.failure.code == "name-unusable" && $0.failure.message.contains("(listsAreNullSeparated)")
      })
  }

  @Test func aNameInAListThatIsTooLongFailsAndTheRestGoesOn() throws {
    try make("in/a.jpg")
    let names = String(repeating: "n", count: LineReader.longestLine + 1) + "\n" + path("in/a.jpg")
    try Data(names.utf8).write(to: folder.url.appendingPathComponent("list"))
    let list = try find([.list(RawPath(path("list")))])
    #expect(list.count == 1 && list.problems.map(\.failure.code) == ["name-too-long"])
    #expect(list.problems.first?.path.description.hasSuffix("list, line 1") ?? false)
    #expect(list.problems.first?.failure.message.contains("(listsAreNullSeparated)") ?? false)
  }

  @Test func whatCannotBeListedIsNamedAndTheRestGoesOn() throws {
    try make("in/a.jpg")
    try link("circle", to: "circle")
    let list = try find([
      .path(path("missing")), .path(path("circle")), .list(RawPath(path("nolist"))), .path(path("in")),
    ])
    #expect(pictures(list) == ["a.jpg"])
    #expect(list.problems.map(\.failure.code) == ["not-found", "unreadable", "unreadable"])
    #expect(list.problems.allSatisfy { $0.status == .failed && $0.failure.stage == .list })
  }

  @Test(.enabled(if: geteuid() != 0, "root may read every folder"))
  func aFolderThatMayNotBeReadIsNamed() throws {
    try make("in/a.jpg", "in/closed/b.jpg")
    #expect(chmod(path("in/closed"), 0) == 0)
    defer { chmod(path("in/closed"), 0o700) }
    let list = try find()
    #expect(pictures(list) == ["a.jpg"] && list.problems.map(\.failure.code) == ["unreadable"])
  }

  @Test func pipesAndTheLikeAreNoPictures() throws {
    try make("in/a.jpg")
    #expect(mkfifo(path("in/b.jpg"), 0o600) == 0)
    let list = try find()
    #expect(pictures(list) == ["a.jpg"] && list.kind(at: 1) == .special)
    #expect(try find([.path(path("in/b.jpg"))]).problems.map(\.failure.code) == ["not-a-file"])
  }
}
