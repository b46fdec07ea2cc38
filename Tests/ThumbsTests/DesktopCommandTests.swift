@testable import CodecTestSupport
@testable import FolderConversion
@testable import ThumbnailCore

/// The command `thumbs desktop`, as its users and file managers call it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DesktopCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
    _ = try bench.folder("photos", pictures: 2)
    try Data("no picture".utf8).write(to: bench.url("photos/text.jpg"))
  }

  private func desktop(_ arguments: String...) async throws -> ConvertSummary {
    let run = try await bench.run(["desktop", "--json"] + arguments)
    // Thumbnails that are current have no size in their lines.
    let last = try #require(run.lines.last, "nothing on stdout; stderr: \(run.stderr)")
    return try #require(try JSONDecoder().decode([String: ConvertSummary].self, from: Data(last.utf8))["summary"])
  }

  /// The path of a thumbnail.
  private func thumbnail(_ name: String, _ folder: String) throws -> RawPath {
    let path = RawPath(bench.url("photos/\(name)").path)
    let picture = try #require(DesktopPicture(path, state: FileState(of: path)))
    return RawPath(bench.url("xdg/thumbnails/\(folder)/\(picture.name)").path)
  }

  @Test func fourThumbnailsAreMadeOfEachPictureAndStay() async throws {
    #expect(try await desktop("photos").converted == 2)
    for (side, folder) in [(128, "normal"), (256, "large"), (512, "x-large"), (1024, "xx-large")] {
      let path = try thumbnail("picture 1.jpg", folder)
      let texts = try #require(PNGTexts.read(path))
      #expect(texts["Thumb::URI"]?.hasSuffix("/photos/picture%201.jpg") == true)
      #expect(texts["Thumb::Mimetype"] == "image/jpeg" && texts["Thumb::MTime"] != nil)
      let sides = ["Thumb::Image::Width", "Thumb::Image::Height"].compactMap { texts[$0].flatMap { Int($0) } }
      let size = try DecodedPixels(Data(contentsOf: URL(fileURLWithPath: path.description))).size
      #expect(max(size.width, size.height) == min(side, sides.max() ?? 0))
      #expect(try FileState(of: path).permissions == 0o600)
      #expect(try FileState(of: RawPath(bytes: path.folder)).permissions == 0o700)
    }
    let again = try await desktop("photos")
    #expect(again.current == 2 && again.converted == 0)
  }

  @Test func tumblerFindsTheTimeToTheMicrosecondFirst() async throws {
    _ = try await desktop("photos")
    let modified = try FileState(of: RawPath(bench.url("photos/picture 1.jpg").path)).modified / 1000
    let bytes = try Data(contentsOf: URL(fileURLWithPath: thumbnail("picture 1.jpg", "normal").description))
    let time = "\(modified / 1_000_000)." + String(format: "%06d", modified % 1_000_000)
    let exact = try #require(bytes.firstRange(of: Data("iTXtThumb::MTime\u{0}\u{0}\u{0}\u{0}\u{0}\(time)".utf8)))
    let whole = try #require(bytes.firstRange(of: Data("tEXtThumb::URI\u{0}".utf8)))
    #expect(exact.upperBound < whole.lowerBound)
  }

  @Test(arguments: [-2, 15_032_385_535])
  func aTimeBefore1970OrAfter2262IsThatOfTheThumbnail(seconds: Int) async throws {
    let times = [timespec](repeating: timespec(tv_sec: seconds, tv_nsec: 500_000_000), count: 2)
    try #require(utimensat(AT_FDCWD, bench.url("photos/picture 1.jpg").path, times, 0) == 0)
    #expect(try await desktop("photos").converted == 2)
    #expect(PNGTexts.read(try thumbnail("picture 1.jpg", "normal"))?["Thumb::MTime"] == "\(seconds)")
    #expect(try await desktop("photos").current == 2)
  }

  @Test func twoLinksToOneFileAreTwoPictures() async throws {
    let first = bench.url("photos/picture 1.jpg")
    try FileManager.default.linkItem(at: first, to: bench.url("photos/picture 1.JPG"))
    try FileManager.default.linkItem(at: first, to: bench.url("photos/picture 1.jpeg"))
    #expect(try await desktop("photos").converted == 4)
  }

  @Test func aPictureThatCannotBeShownIsTriedOnceUntilItChanges() async throws {
    #expect(try await desktop("photos").failed == 1)
    let again = try await desktop("photos")
    #expect(again.failed == 0 && again.skipped == 1)
    #expect(try await desktop("--force", "photos").failed == 1)
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: bench.url("photos/text.jpg"))
    #expect(try await desktop("photos").converted == 1)
    #expect(try bench.files("xdg/thumbnails/fail").isEmpty)
  }

  @Test func otherProgramsThumbnailsOfAPictureAreKeptWhileTheyAreCurrent() async throws {
    _ = try await desktop("photos")
    let path = try thumbnail("picture 0.jpg", "large")
    let url = URL(fileURLWithPath: path.description)
    let other = try Data(contentsOf: url).replacing(Data("Thumbnailer".utf8), with: Data("Another one".utf8))
    // Its check sum is wrong now; nobody but a decoder looks at it.
    try other.write(to: url)
    #expect(try await desktop("photos").current == 2)
    let stale = try Data(contentsOf: url).replacing(
      Data("Thumb::MTime\u{0}".utf8), with: Data("Thumb::MTime\u{0}9".utf8))
    try stale.write(to: url)
    #expect(try await desktop("photos").converted == 1)
  }

  @Test func thumbnailsBesideThePicturesCount() async throws {
    _ = try await desktop("photos")
    for folder in ["normal", "large", "x-large", "xx-large"] {
      let shared = bench.url("photos/.sh_thumbnails/\(folder)")
      try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: true)
      let url = URL(fileURLWithPath: try thumbnail("picture 0.jpg", folder).description)
      let own = try #require(PNGTexts.read(RawPath(url.path)))
      let texts = own.map { (key: $0.key, value: $0.key == "Thumb::URI" ? "./picture%200.jpg" : $0.value) }
      try PNGTexts.adding(texts, to: PNGTexts.onePixel)
        .write(to: shared.appendingPathComponent(DesktopPicture.name(of: "./picture%200.jpg")))
      try FileManager.default.removeItem(at: url)
    }
    #expect(try await desktop("photos").current == 2)
  }

  @Test func onlyThumbnailsOfPicturesThatAreGoneFromTheNamedFolderArePruned() async throws {
    _ = try bench.folder("elsewhere", pictures: 2)
    _ = try await desktop("photos", "elsewhere")
    // What another program has made of a page.
    let page = "file://\(bench.url("photos").path)/a.pdf#page=2"
    try PNGTexts.adding([(key: "Thumb::URI", value: page)], to: PNGTexts.onePixel)
      .write(to: bench.url("xdg/thumbnails/normal/\(DesktopPicture.name(of: page))"))
    let before = try bench.files("xdg/thumbnails").count
    for name in ["photos/picture 0.jpg", "photos/text.jpg", "elsewhere/picture 0.jpg"] {
      try FileManager.default.removeItem(at: bench.url(name))
    }
    _ = try await desktop("photos")
    #expect(try bench.files("xdg/thumbnails").count == before)
    _ = try await desktop("--prune", "photos")
    #expect(try bench.files("xdg/thumbnails").count == before - 5)
  }

  @Test func aFolderThatCannotBeWrittenEndsTheRun() async throws {
    try FileManager.default.createDirectory(at: bench.url("xdg"), withIntermediateDirectories: true)
    try Data().write(to: bench.url("xdg/thumbnails"))
    let run = try await bench.process("desktop", "photos")
    #expect(run.status == 73 && run.stderr.contains("look at its rights"), "\(run.complaints)")
  }

  @Test func whatComesLaterIsConvertedUntilASignal() async throws {
    let process = try bench.start(["desktop", "--watch", "--prune", "--json", "photos"])
    // Real time: what the command writes is seen by looking.
    await poll { (try? bench.files("xdg/thumbnails").count) == 9 }
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: bench.url("photos/new.jpg"))
    await poll { (try? bench.files("xdg/thumbnails").count) == 13 }
    try FileManager.default.removeItem(at: bench.url("photos/new.jpg"))
    await poll { (try? bench.files("xdg/thumbnails").count) == 9 }
    process.send(SIGTERM)
    let run = await process.run()
    #expect(run.status == 143)
    let told = run.lines.filter { $0.contains(#""source":"photos/new.jpg""#) }
    #expect(told.count == 5 && told.filter { $0.contains(#""status":"removed""#) }.count == 4, "\(run.lines)")
  }

  @Test func aFileManagerGetsTheOneThatItAsksFor() async throws {
    let run = try await bench.process("desktop", "--one", "photos/picture 0.jpg", "out.png", "64")
    #expect(run.status == 0 && run.stdout.isEmpty && run.stderr.isEmpty)
    let size = try DecodedPixels(Data(contentsOf: bench.url("out.png"))).size
    #expect(max(size.width, size.height) == 64)
    #expect(PNGTexts.read(RawPath(bench.url("out.png").path))?["Thumb::URI"]?.hasPrefix("file:///") == true)
    #expect(!bench.isFile("xdg"))
    // It is replaced by a smaller one, but no other picture is.
    #expect(try await bench.run("desktop", "--one", "photos/picture 0.jpg", "out.png", "32").status == 0)
    // Nor is a larger thumbnail of another picture, or one that a file manager has not asked for.
    #expect(try await bench.process("desktop", "--one", "photos/picture 1.jpg", "other.png", "64").status == 0)
    #expect(try await bench.run("desktop", "--one", "photos/picture 0.jpg", "other.png", "32").status == 73)
    #expect(try await bench.run("get", "photos/picture 1.jpg", "--size", "32x32", "-o", "other.png").status == 73)
    // It may keep the file open that it has made for the thumbnail; others may be about to write.
    try Data().write(to: bench.url("open.png"))
    let file = try FileHandle(forUpdating: bench.url("open.png"))
    #expect(try await bench.run("get", "photos/picture 0.jpg", "-o", "open.png").status == 73)
    #expect(try await bench.run("desktop", "--one", "photos/picture 0.jpg", "open.png", "32").status == 0)
    #expect(try file.readToEnd()?.starts(with: [0x89]) == true)
    let other = try Data(contentsOf: bench.url("photos/picture 1.jpg"))
    #expect(try await bench.run("desktop", "--one", "photos/picture 0.jpg", "photos/picture 1.jpg", "32").status == 73)
    #expect(try Data(contentsOf: bench.url("photos/picture 1.jpg")) == other)
    let failed = try await bench.run("desktop", "--one", "photos/text.jpg", "bad.png", "64")
    #expect(failed.status == 1 && failed.complaints.count == 1 && !bench.isFile("bad.png"))
    #expect(try await bench.run("desktop", "--one", "photos/text.jpg", "bad.png").status == 64)
    #expect(try await bench.run("desktop", "--one", "--dry-run", "photos/text.jpg", "bad.png", "64").status == 64)
    let unwritable = try await bench.run(
      "desktop", "--one", "photos/picture 0.jpg", bench.url("none/out.png").path, "64")
    #expect(unwritable.status == 73)
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/gio"), "gio is missing"))
  func theDesktopsOwnLibraryTakesTheThumbnailsForValid() async throws {
    let names: [[UInt8]] =
      [
        "a b+c%é.jpg", "x;y#1?&=.jpg", "[tilde]~'\"<>|\\^`.jpg", "(@:!$*,).jpg", "中文.JPG",
      ].map { Array($0.utf8) } + [[0xFF, 0xE9, 0x2E] + Array("jpg".utf8)]
    _ = try bench.folder("odd/sub")
    let folder = RawPath(bench.url("odd").path)
    for name in names {
      var file = try NewFile(folder.appending(name), permissions: 0o644)
      try file.write(TestImages.bytes("formats/jpeg-420.jpg"))
      try file.commit()
    }
    #expect(try await desktop("./odd/sub/../").converted == names.count)
    for name in names {
      let path = folder.appending(name)
      let uri = try #require(DesktopPicture(path, state: FileState(of: path))).uri
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/gio")
      process.arguments = ["info", "-a", "thumbnail::is-valid", uri]
      process.environment = ["XDG_CACHE_HOME": bench.url("xdg").path, "PATH": "/usr/bin:/bin"]
      let told = try process.printed()
      #expect(told.contains("thumbnail::is-valid: TRUE"), "\(uri): \(told)")
    }
  }
}
