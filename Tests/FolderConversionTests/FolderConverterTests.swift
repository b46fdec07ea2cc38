import TestSupport
import Thumbnailer

@testable import Exports
@testable import FolderConversion
@testable import ThumbnailCore
@testable import Thumbnailer

/// Whole conversions through the public interface.
@Suite(.timeLimit(.minutes(5))) struct FolderConverterTests {
  let directory: TemporaryDirectory
  var input: URL { directory.url.appendingPathComponent("in") }
  var output: URL { directory.url.appendingPathComponent("out") }

  init() throws {
    directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      at: input.appendingPathComponent("x"), withIntermediateDirectories: true)
    try copy("formats/jpeg-420.jpg", "a.jpg")
    try copy("formats/png-rgba.png", "x/b.png")
  }

  func copy(_ image: String, _ name: String) throws {
    try TestImages.bytes(image).write(to: input.appendingPathComponent(name))
  }

  private func setModified(_ nanoseconds: Int, of file: URL) {
    let time = timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    #expect(utimensat(AT_FDCWD, file.path, [time, time], 0) == 0)
  }

  struct Outcome {
    var results: [String: ConversionResult]
    let summary: ConversionSummary

    func status(_ name: String) -> ConversionResult.Status? { results[name]?.status }
  }

  func options(_ change: (inout FolderConverter.Options) -> Void = { _ in }) -> FolderConverter.Options {
    var options = FolderConverter.Options(inputs: [.path(input.path)], output: output.path)
    options.sizes = [TargetSize(PixelSize(40, 40))]
    change(&options)
    return options
  }

  func convert(_ change: (inout FolderConverter.Options) -> Void = { _ in }) async throws -> Outcome {
    let conversion = try await FolderConverter(options(change)).start()
    var results: [String: ConversionResult] = [:]
    for await result in conversion {
      results[result.source.description.replacing(input.path + "/", with: "")] = result
    }
    #expect(conversion.count == results.count)
    return Outcome(results: results, summary: await conversion.finish())
  }

  private func refusal(_ options: FolderConverter.Options) async -> ConversionError? {
    do throws(ConversionError) {
      _ = try await FolderConverter(options).start()
      return nil
    } catch {
      return error
    }
  }

  private func names() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: output.path).filter { !$0.hasPrefix(".thumbs") }.sorted()
  }

  @Test func aTreeBecomesATreeOfThumbnails() async throws {
    let run = try await convert()
    #expect(run.summary.converted == 2 && run.summary.failed == 0 && run.summary.failure == nil)
    #expect(try names() == ["a.jpg", "x", "x/b.webp"])
    let made = try #require(run.results["a.jpg"]?.outputs.first)
    let bytes = try Data(contentsOf: output.appendingPathComponent("a.jpg"))
    #expect(made.byteCount == bytes.count && made.format == .jpeg && made.path == RawPath("a.jpg"))
    #expect(made.size?.longerSide == 40)
    #expect(run.results["a.jpg"]?.plan?.contains("jpeg") == true)
  }

  @Test func aRAWFileBesideItsJPEGIsOnePictureIfAskedFor() async throws {
    let bytes = try TestImages.bytes("formats/jpeg-420.jpg")
    let previews = RAWSample.Previews(thumbnail: Array(bytes), preview: Array(bytes), full: Array(bytes))
    for name in ["A.NEF", "alone.nef", "x/a.nef"] {
      try Data(RAWSample("NEF", previews).bytes).write(to: input.appendingPathComponent(name))
    }
    let both = try await convert()
    #expect(both.summary.converted == 5 && both.summary.skipped == 0)
    let one = try await convert { ($0.pairing, $0.freshness) = (.preferJPEG, .never) }
    #expect(one.summary.converted == 4 && one.summary.skipped == 1 && one.summary.paired == 1)
    #expect(one.status("A.NEF") == .skipped && one.results["A.NEF"]?.failure?.code == "paired")
    #expect(one.status("a.jpg") == .converted && one.status("alone.nef") == .converted)
    #expect(one.status("x/a.nef") == .converted)
    // Both files are left out with the JPEG.
    try Data("a.jpg\n".utf8).write(to: input.appendingPathComponent(".hidden"))
    let none = try await convert { $0.pairing = .preferJPEG }
    #expect(none.status("A.NEF") == .skipped && none.status("a.jpg") == nil)
    try FileManager.default.removeItem(at: input.appendingPathComponent(".hidden"))
    for (names, include) in [([""], []), ([""], ["*.jpg", "*.NEF"]), (["/a.jpg", "/A.NEF"], [])] {
      let excluded = try await convert {
        $0.inputs = names.map { .path(self.input.path + $0) }
        $0.include = include.compactMap { GlobPattern($0) }
        ($0.pairing, $0.exclude) = (.preferJPEG, ["a.jpg"].compactMap { GlobPattern($0) })
      }
      #expect(excluded.results.keys.filter { $0.hasSuffix("A.NEF") || $0.hasSuffix("a.jpg") }.count == 1)
      #expect(excluded.results.first { $0.key.hasSuffix("A.NEF") }?.value.status == .skipped)
    }
  }

  @Test func videosAreCountedAndAreNoFailures() async throws {
    let movie = Data([0, 0, 0, 20] + Array("ftypqt  \0\0\0\0qt  ".utf8))
    for name in ["IMG_1.MOV", "x/clip.mp4", "named-like-a-picture.jpg"] {
      try movie.write(to: input.appendingPathComponent(name))
    }
    let run = try await convert()
    #expect(run.summary.converted == 2 && run.summary.failed == 0)
    #expect(run.summary.skipped == 3 && run.summary.videos == 3)
    #expect(run.results.values.filter { $0.failure?.code == "video" }.count == 3)
  }

  @Test func whatIsUpToDateIsLeftAsItIs() async throws {
    let first = try await convert()
    let before = try Data(contentsOf: output.appendingPathComponent(".thumbs-index"))
    let second = try await convert()
    #expect(second.summary.current == 2 && second.summary.converted == 0)
    #expect(second.results["a.jpg"]?.outputs == first.results["a.jpg"]?.outputs)
    #expect(try Data(contentsOf: output.appendingPathComponent(".thumbs-index")) == before)
  }

  @Test func eachReasonToMakeAThumbnailAnewCounts() async throws {
    _ = try await convert()
    // Another state of the source.
    try copy("formats/jpeg-444.jpg", "a.jpg")
    #expect(try await convert().results.filter { $0.value.status == .converted }.keys.sorted() == ["a.jpg"])
    // Another length at the same time.
    let source = input.appendingPathComponent("a.jpg")
    let modified = try FileState(of: RawPath(source.path)).modified
    try copy("formats/jpeg-420.jpg", "a.jpg")
    setModified(modified, of: source)
    #expect(try await convert().results.filter { $0.value.status == .converted }.keys.sorted() == ["a.jpg"])
    // A thumbnail that was removed, and one that was cut off.
    try FileManager.default.removeItem(at: output.appendingPathComponent("a.jpg"))
    #expect(truncate(output.appendingPathComponent("x/b.webp").path, 5) == 0)
    #expect(try await convert().summary.converted == 2)
    // Other options.
    #expect(try await convert { $0.quality = 60 }.summary.converted == 2)
    #expect(try await convert { $0.quality = 60 }.summary.current == 2)
    #expect(try await convert { ($0.quality, $0.freshness) = (60, .never) }.summary.converted == 2)
    // No index.
    try FileManager.default.removeItem(at: output.appendingPathComponent(".thumbs-index"))
    #expect(try await convert { $0.quality = 60 }.summary.converted == 2)
  }

  /// The version of the pixels is the number before the options; the first has none.
  @Test(arguments: ["", "0:", "99:"]) func thumbnailsOfOtherVersionsStayCurrent(version: String) async throws {
    _ = try await convert()
    let index = output.appendingPathComponent(".thumbs-index")
    let lines = try String(contentsOf: index, encoding: .utf8).split(separator: "\n").map { line in
      var fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      if fields.count > 3 { fields[3] = version + (fields[3].split(separator: ":").last ?? "") }
      return fields.joined(separator: "\t") + "\n"
    }
    try Data(lines.joined().utf8).write(to: index)
    #expect(try await convert().summary.current == 2)
    try copy("formats/jpeg-420.jpg", "c.jpg")
    let later = try await convert().summary
    #expect(later.current == 2 && later.converted == 1)
    // What an earlier program wrote is said to be its own.
    #expect(try String(contentsOf: index, encoding: .utf8).split(separator: "\t\(version)").count > 2)
    #expect(try await convert { $0.freshness = .never }.summary.converted == 3)
  }

  @Test func allSizesOfAPictureAreMadeOrNone() async throws {
    let sizes = ["40x", "20x20", "x10"].compactMap { TargetSize(parsing: $0) }
    let run = try await convert { $0.sizes = sizes }
    #expect(
      try names() == [
        "a-20x20.jpg", "a-40x.jpg", "a-x10.jpg", "x", "x/b-20x20.webp", "x/b-40x.webp", "x/b-x10.webp",
      ])
    #expect(run.results["a.jpg"]?.outputs.map { $0.path.description } == ["a-40x.jpg", "a-20x20.jpg", "a-x10.jpg"])
    #expect(run.results["a.jpg"]?.outputs.compactMap(\.size?.height).last == 10)
    // One that is missing makes the whole set anew.
    try FileManager.default.removeItem(at: output.appendingPathComponent("a-20x20.jpg"))
    #expect(try await convert { $0.sizes = sizes }.summary.converted == 1)
  }

  @Test func aBrokenPictureFailsWithStageAndReasonAndHasNoOutput() async throws {
    try copy("broken/truncated-in-the-middle.jpg", "cut.jpg")
    try copy("broken/html-page.jpg", "page.jpg")
    try copy("formats/png-rgba.png", "lying.jpg")
    try Data().write(to: input.appendingPathComponent("empty.jpg"))
    let run = try await convert()
    #expect(run.summary.failed == 3 && run.summary.converted == 3)
    let failures = run.results.compactMapValues(\.failure)
    #expect(failures["cut.jpg"]?.stage == .decode && failures["cut.jpg"]?.code == "damaged")
    #expect(failures["page.jpg"]?.stage == .header && failures["page.jpg"]?.code == "not-a-picture")
    #expect(failures["empty.jpg"]?.message.contains("empty") == true)
    // What a file's name says is of no account.
    #expect(run.results["lying.jpg"]?.outputs.first?.format == .webp)
    #expect(try names() == ["a.jpg", "lying.webp", "x", "x/b.webp"])
    // A failure is tried again.
    #expect(try await convert().summary.failed == 3)
  }

  @Test func aNameThatIsNotUTF8IsConvertedUnderItsBytes() async throws {
    let name: [UInt8] = [0x41, 0xE9, 0xFF, 0x25]
    let source = RawPath(bytes: Array((input.path + "/").utf8) + name + Array(".jpg".utf8))
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let descriptor = source.withUnsafeCString { open($0, O_CREAT | O_WRONLY, 0o600) }
    #expect(picture.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == picture.count)
    close(descriptor)
    let run = try await convert()
    #expect(run.summary.converted == 3 && run.summary.failed == 0)
    let result = run.results.values.first { $0.source == source }
    #expect(result?.outputs.first?.path.bytes == name + Array(".jpg".utf8))
    #expect(try await convert().summary.current == 3)
  }

  @Test func aFileThatVanishesFailsAloneAndTheRestGoesOn() async throws {
    let conversion = try await FolderConverter(options()).start()
    try FileManager.default.removeItem(at: input.appendingPathComponent("a.jpg"))
    var codes: [String?] = []
    for await result in conversion { codes.append(result.failure?.code) }
    #expect(codes.compactMap(\.self) == ["not-found"] && codes.count == 2)
    #expect(await conversion.finish().failed == 1)
  }

  /// What is behind a user's link is named in a site, which publishes it, not where it would only be advised to remove it.
  @Test func whatIsBehindALinkInTheOutputIsNoOrphan() async throws {
    _ = try await convert()
    for folder in [input, output] { try FileManager.default.removeItem(at: folder.appendingPathComponent("x")) }
    try copy("formats/jpeg-420.jpg", "b.webp")
    try FileManager.default.createSymbolicLink(atPath: output.path + "/x", withDestinationPath: input.path)
    let conversion = try await FolderConverter(options()).start()
    for await _ in conversion {}
    #expect(await conversion.allOrphans().allSatisfy { $0.outputs.isEmpty && $0.changed.isEmpty })
  }

  @Test func thumbnailsWhosePicturesAreGoneAreFoundAndRemoved() async throws {
    _ = try await convert()
    try FileManager.default.removeItem(at: input.appendingPathComponent("x"))
    let conversion = try await FolderConverter(options()).start()
    for await _ in conversion {}
    let orphans = await conversion.orphans()
    #expect(orphans.map(\.outputs) == [[RawPath("x/b.webp")]])
    #expect(orphans.first?.source.description.hasSuffix("in/x/b.png") == true)
    await conversion.remove(orphans)
    #expect(await conversion.finish().removed == 1)
    #expect(try names() == ["a.jpg"])
  }

  @Test func thePicturesOfAFolderWithoutEntriesMayHaveGoneWithTheirDisk() async throws {
    _ = try await convert()
    try FileManager.default.removeItem(at: input)
    try FileManager.default.createDirectory(at: input, withIntermediateDirectories: true)
    // Also where a note says so, or names are encrypted.
    for note in ["", "note", "x.jpg/Zm9vYmFy"] {
      try FileManager.default.createDirectory(at: input.appendingPathComponent(note), withIntermediateDirectories: true)
      let conversion = try await FolderConverter(options()).start()
      for await _ in conversion {}
      #expect(await conversion.orphans().isEmpty)
      _ = await conversion.finish()
    }
  }

  @Test func whatIsLeftOutOfAFolderNowIsAnOrphanAndNoOtherFolders() async throws {
    _ = try await convert()
    for (inputs, count) in [([input.path], 1), ([input.path + "/a.jpg"], 0), ([directory.url.path + "/other"], 0)] {
      try FileManager.default.createDirectory(
        at: directory.url.appendingPathComponent("other"), withIntermediateDirectories: true)
      let conversion = try await FolderConverter(
        options { ($0.inputs, $0.exclude) = (inputs.map { .path($0) }, ["x"].compactMap { GlobPattern($0) }) }
      ).start()
      for await _ in conversion {}
      #expect(await conversion.allOrphans().flatMap(\.outputs) == Array(repeating: RawPath("x/b.webp"), count: count))
      _ = await conversion.finish()
    }
  }

  @Test func whatCouldNotBeListedIsNoOrphan() async throws {
    _ = try await convert()
    try FileManager.default.moveItem(at: input, to: directory.url.appendingPathComponent("moved"))
    let conversion = try await FolderConverter(options()).start()
    for await result in conversion { #expect(result.failure?.code == "not-found") }
    #expect(await conversion.orphans().isEmpty)
    #expect(await conversion.finish().failed == 1)
  }

  @Test func aDryRunWritesNothing() async throws {
    let run = try await convert { $0.isDryRun = true }
    #expect(run.summary.planned == 2 && run.summary.skipped == 0)
    #expect(run.results["a.jpg"]?.outputs.map(\.path) == [RawPath("a.*")])
    #expect(!FileManager.default.fileExists(atPath: output.path))
    _ = try await convert()
    #expect(try await convert { $0.isDryRun = true }.summary.current == 2)
  }

  @Test func aCancelledRunTellsWhatItHasDoneAndTheNextDoesTheRest() async throws {
    for number in 1...60 { try copy("formats/jpeg-420.jpg", "\(number).jpg") }
    let conversion = try await FolderConverter(options()).start()
    let task = Task {
      var count = 0
      for await _ in conversion {
        count += 1
        if count == 5 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return count
    }
    let told = await task.value
    let summary = await conversion.finish()
    #expect(told == summary.converted && told >= 5 && told < 62)
    let rest = try await convert()
    #expect(rest.summary.current == told && rest.summary.converted == 62 - told)
  }

  @Test func twoConversionsOfAFolderTakeTurns() async throws {
    for number in 1...300 { try copy("formats/jpeg-420.jpg", "\(number).jpg") }
    let session = try await ConversionSession(options { $0.pipeline.jobs = 1 })
    let (first, second) = (try await session.conversion(of: nil), try await session.conversion(of: nil))
    let told = Counter()
    let all = Task { for await _ in first { told.increment() } }
    await poll { told.value > 0 }
    for await _ in second.prefix(1) {}
    #expect(told.value < 300)
    await all.value
    _ = await (first.finish(), second.finish())
  }

  @Test func optionsThatMakeNoSenseAreRefused() async throws {
    let changes: [@Sendable (inout FolderConverter.Options) -> Void] = [
      { $0.inputs = [] }, { $0.sizes = [] }, { $0.output = RawPath("") }, { $0.quality = 0 }, { $0.pipeline.jobs = 0 },
      { ($0.fit, $0.sizes) = (.cover, [TargetSize(parsing: "40x")].compactMap(\.self)) },
      { $0.inputs = [.standardInput, .standardInput] }, { $0.pipeline.memoryBudget = .mebibytes(1) },
    ]
    for change in changes {
      let problem = await refusal(options(change))
      if case .invalidOption? = problem { continue }
      Issue.record("\(String(describing: problem))")
    }
    #expect(!FileManager.default.fileExists(atPath: output.path))
  }

  @Test func aCollisionIsFoundBeforeAnythingIsWritten() async throws {
    try copy("formats/png-rgba.png", "a.png")
    let template = try NamingTemplate("{path}/{name}.{ext}")
    guard case .collisions(let found)? = await refusal(options { $0.name = template }) else {
      Issue.record("no collision")
      return
    }
    #expect(found.count == 1 && found[0].output == RawPath("a.*"))
    #expect(!FileManager.default.fileExists(atPath: output.path))
  }

  @Test func aTemplateMayNameThumbnailsByTheDayOnWhichTheyWereTaken() async throws {
    let exif = DateSamples.tiff([DateSamples.original: "2024:07:01 12:00:00"])
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    // The EXIF data's segment goes behind the first marker.
    let segment = DateSamples.jpeg(exif: exif).dropFirst(2).dropLast(6)
    try Data(picture.prefix(2) + segment + picture.dropFirst(2)).write(to: input.appendingPathComponent("a.jpg"))
    try copy("formats/png-rgba.png", "x/IMG_20250102_030405.png")
    try FileManager.default.removeItem(at: input.appendingPathComponent("x/b.png"))
    let template = try NamingTemplate("{date}/{name}.{ext}")
    let run = try await convert { $0.name = template }
    #expect(run.summary.converted == 2)
    #expect(try names() == ["2024-07-01", "2024-07-01/a.jpg", "2025-01-02", "2025-01-02/IMG_20250102_030405.webp"])
    #expect(try await convert { $0.name = template }.summary.current == 2)
  }

  @Test func aNameIsKeptWhenAnotherPictureOfThatNameComesOrGoes() async throws {
    _ = try await convert()
    try copy("formats/png-rgba.png", "a.png")
    #expect(try await convert { $0.isDryRun = true }.summary.current == 2)
    let grown = try await convert()
    #expect(grown.summary.converted == 1 && grown.summary.current == 2 && grown.summary.toldApart == 1)
    #expect(try names() == ["a.jpg", "a.png.webp", "x", "x/b.webp"])
    // The picture with the plain name goes, and one comes that would have it in a new folder.
    try FileManager.default.removeItem(at: input.appendingPathComponent("a.jpg"))
    #expect(try await convert().summary.current == 2)
    try copy("formats/webp-lossless.webp", "a.webp")
    let next = try await convert()
    #expect(next.summary.converted == 1 && next.summary.current == 2)
    #expect(next.results["a.webp"]?.outputs.first?.path.description.hasPrefix("a.") == true)
    #expect(next.results["a.png"]?.outputs.map(\.path) == [RawPath("a.png.webp")])
    #expect(try await convert().summary.current == 3)
  }

  @Test func aNameThatWasMadeDistinctIsKeptFromOneWhosePlainNameItIs() async throws {
    try copy("formats/jpeg-420.jpg", "a.png")
    _ = try await convert()
    #expect(try names() == ["a.jpg.jpg", "a.png.jpg", "x", "x/b.webp"])
    try FileManager.default.removeItem(at: input.appendingPathComponent("a.png"))
    try copy("formats/jpeg-444.jpg", "a.jpg.gif")
    let run = try await convert()
    #expect(run.summary.current == 2 && run.results["a.jpg"]?.outputs.first?.path == RawPath("a.jpg.jpg"))
    #expect(run.results["a.jpg.gif"]?.outputs.first?.path == RawPath("a.jpg.gif.jpg"))
    #expect(try await convert().summary.current == 3)
  }

  @Test func aFileThatIsNoThumbnailOfThisFolderKeepsNoName() async throws {
    try copy("formats/png-rgba.png", "a.png")
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
    try Data("somebody's".utf8).write(to: output.appendingPathComponent("a.jpg"))
    #expect(try await convert().summary.toldApart == 2)
    #expect(try names() == ["a.jpg", "a.jpg.jpg", "a.png.webp", "x", "x/b.webp"])
  }

  @Test func thumbnailsOfSizesThatAreNoLongerMadeAreOrphans() async throws {
    func sizes(_ sides: Int...) -> (inout FolderConverter.Options) -> Void {
      { $0.sizes = sides.map { TargetSize(PixelSize($0, $0)) } }
    }
    _ = try await convert(sizes(40, 20))
    // One file stays, because it is of both runs.
    let conversion = try await FolderConverter(options(sizes(40, 30))).start()
    for await _ in conversion {}
    let orphans = await conversion.orphans()
    #expect(Set(orphans.flatMap(\.outputs)) == [RawPath("a-20x20.jpg"), RawPath("x/b-20x20.webp")])
    await conversion.remove(orphans)
    _ = await conversion.finish()
    #expect(
      try names() == ["a-30x30.jpg", "a-40x40.jpg", "x", "x/b-30x30.webp", "x/b-40x40.webp"])
    #expect(try await convert(sizes(40, 30)).summary.current == 2)
  }

  @Test func thumbnailsOfOtherSizesStayWhereTheNewOnesCouldNotBeMade() async throws {
    _ = try await convert()
    try copy("broken/truncated-in-the-middle.jpg", "a.jpg")
    let conversion = try await FolderConverter(
      options { $0.sizes = [40, 30].map { TargetSize(PixelSize($0, $0)) } }
    ).start()
    for await _ in conversion {}
    #expect(await conversion.orphans().flatMap(\.outputs) == [RawPath("x/b.webp")])
    _ = await conversion.finish()
  }
}

extension RawPath {
  fileprivate func withUnsafeCString(_ body: (UnsafePointer<CChar>) -> Int32) -> Int32 {
    (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { body($0.baseAddress.unsafelyUnwrapped) }
  }
}
