import Exports
import TestSupport
import Thumbnailer

@testable import FolderConversion
@testable import ThumbnailCore

/// Conversions beside files of the user, and links to them: all of these stay.
extension FolderConverterTests {
  @Test(arguments: [["30"], ["30", "20"]])
  func namesThatAreTooLongWithTheirSizesAreShortened(sides: [String]) async throws {
    let names = (239...251).map { String(repeating: "n", count: $0 - 4) + ".jpg" }
    for name in names + [String(repeating: "é", count: 123) + "x.jpg"] { try copy("formats/jpeg-420.jpg", name) }
    for isFirst in [true, false] {
      let run = try await convert { $0.sizes = sides.compactMap { Int($0) }.map { TargetSize(PixelSize($0, $0)) } }
      #expect(run.summary.failed == 0 && run.summary.converted == (isFirst ? names.count + 3 : 0))
      let paths = run.results.values.flatMap(\.outputs).map(\.path)
      #expect(Set(paths).count == paths.count && paths.allSatisfy { $0.name.count <= 255 })
    }
  }

  @Test func thumbnailsStayWhoseDiskMayBeAway() async throws {
    _ = try await convert()
    try FileManager.default.removeItem(at: input.appendingPathComponent("x/b.png"))
    func orphans() async throws -> [(String, Bool)] {
      let conversion = try await FolderConverter(options()).start()
      for await _ in conversion {}
      defer { withExtendedLifetime(conversion) {} }
      let all = await conversion.allOrphans()
      #expect(await conversion.orphans().count == all.count { !$0.mayBeAway })
      _ = await conversion.finish()
      return all.map { ($0.outputs[0].description, $0.mayBeAway) }
    }
    // An empty folder may be the place of a disk.
    #expect(try await orphans().map(\.1) == [true])
    try Data().write(to: input.appendingPathComponent("x/notes.txt"))
    #expect(try await orphans().map(\.1) == [false])
    // As if the pictures had been on another disk.
    let index = output.appendingPathComponent(".thumbs-index")
    let device = try #require(RawPath(input.path).disk)
    let text = try String(contentsOf: index, encoding: .utf8)
    try Data(text.replacing(":\(device)\t", with: ":\(device &+ 1)\t").utf8).write(to: index)
    #expect(try await orphans().map(\.1) == [true])
    // Phones are folders of one mount, which come and go.
    for (name, isAway) in [("phone/DCIM/c.jpg", true), ("x/c.jpg", false)] {
      let file = RawPath(input.appendingPathComponent(name).path)
      #expect(file.mayBeAway(since: device) { _ in true } == isAway && !file.mayBeAway(since: device))
    }
  }

  @Test(
    .enabled(if: getuid() == 0 && KernelFile.text("/proc/filesystems")?.contains("overlay") == true, "needs mounts"))
  func theOutputFolderIsNoInputByWhateverMount() async throws {
    _ = try await convert()
    let view = output.deletingLastPathComponent().appending(path: "view")
    try FileManager.default.createDirectory(at: view, withIntermediateDirectories: true)
    // It has other numbers there, as by sshfs or bindfs.
    let layers = "lowerdir=\(output.path):\(input.path)"
    try await FolderWatchTests.run("mount", "-t", "overlay", "overlay", "-o", layers, view.path)
    defer { umount2(view.path, Int32(MNT_DETACH)) }
    for path in [view, view.appending(path: "x")] {
      await #expect(throws: ConversionError.self) { try await convert { $0.inputs = [.path(RawPath(path.path))] } }
    }
    #expect(
      try await convert { $0.inputs = [.path(RawPath(view.path + "/a.jpg"))] }.results.values.map(\.status) == [
        .skipped
      ])
  }

  @Test func whatIsInTheWayFailsAloneAndStays() async throws {
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
    try Data("somebody's".utf8).write(to: output.appendingPathComponent("a.jpg"))
    let run = try await convert()
    #expect(run.results["a.jpg"]?.failure?.code == "in-the-way" && run.status("x/b.png") == .converted)
    #expect(try Data(contentsOf: output.appendingPathComponent("a.jpg")) == Data("somebody's".utf8))
    try FileManager.default.removeItem(at: output.appendingPathComponent("a.jpg"))
    #expect(try await convert().status("a.jpg") == .converted)
    #expect(try await convert().summary.current == 2)
  }

  @Test func thumbnailsKeepTheirNamesWhileThePicturesOfAnotherFolderExist() async throws {
    let other = directory.url.appendingPathComponent("other/a.jpg")
    try FileManager.default.createDirectory(at: other.deletingLastPathComponent(), withIntermediateDirectories: true)
    try TestImages.bytes("formats/jpeg-444.jpg").write(to: other)
    _ = try await convert()
    let made = try Data(contentsOf: output.appendingPathComponent("a.jpg"))
    func convertOther() async throws -> (ConversionResult?, isReplaced: Bool) {
      let run = try await convert { $0.inputs = [.path(other.deletingLastPathComponent().path)] }
      return (run.results.values.first, try Data(contentsOf: output.appendingPathComponent("a.jpg")) != made)
    }
    // Also where its file has changed since.
    try copy("formats/jpeg-gray.jpg", "a.jpg")
    let (result, isReplaced) = try await convertOther()
    #expect(result?.failure?.code == "in-the-way" && !isReplaced)
    #expect(result?.failure?.message.contains(input.path + "/a.jpg") == true)
    // A picture that is gone for good has none, and the same one by another path has its own.
    try FileManager.default.moveItem(
      at: input.appendingPathComponent("a.jpg"), to: input.appendingPathComponent("c.jpg"))
    #expect(try await convertOther().isReplaced)
    try copy("formats/jpeg-420.jpg", "a.jpg")
    #expect(try await convert().results["a.jpg"]?.failure?.code == "in-the-way")
    try FileManager.default.removeItem(at: output.appendingPathComponent("a.jpg"))
    #expect(try await convert().status("a.jpg") == .converted)
    try FileManager.default.removeItem(at: other)
    try FileManager.default.copyItem(at: input.appendingPathComponent("a.jpg"), to: other)
    #expect(try await convertOther().0?.status == .converted)
  }

  @Test func picturesOfOneNameInTwoFoldersHaveEntriesOfTheirOwn() async throws {
    let other = directory.url.appendingPathComponent("other")
    try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
    let second = try NamingTemplate("{name}-2.{ext}")
    func convertOther(_ image: String, _ change: (inout FolderConverter.Options) -> Void = { _ in }) async throws
      -> String
    {
      try TestImages.bytes("formats/\(image)").write(to: other.appendingPathComponent("a.png"))
      let conversion = try await FolderConverter(
        options {
          $0.inputs = [.path(other.path)]
          change(&$0)
        }
      ).start()
      for await _ in conversion {}
      await conversion.remove(await conversion.orphans())
      let summary = await conversion.finish()
      return "\(summary.converted) \(summary.current) \(summary.failed) \(summary.removed)"
    }
    _ = try await convert()
    let made = try Data(contentsOf: output.appendingPathComponent("a.jpg"))
    // The same name but for its format, which is known last.
    #expect(try await convertOther("png-rgba.png") == "1 0 0 0")
    #expect(try await convertOther("png-rgba.png") == "1 0 0 0")
    #expect(try await convert().summary.current == 2)
    #expect(try await convertOther("png-rgb.png") == "0 0 1 0")
    // What other sizes have made is not touched, and no link to the other makes it an input.
    _ = try await convert { $0.name = second }
    try FileManager.default.createSymbolicLink(
      atPath: other.appendingPathComponent("link.jpg").path,
      withDestinationPath: input.appendingPathComponent("a.jpg").path)
    #expect(try await convertOther("png-rgb.png") == "0 0 1 0")
    #expect(try await convertOther("png-rgb.png") { $0.name = second } == "0 0 1 0")
    #expect(try Data(contentsOf: output.appendingPathComponent("a.jpg")) == made)
    #expect(FileManager.default.fileExists(atPath: output.appendingPathComponent("a-2.jpg").path))
  }

  @Test func lengthAndTimeDoNotMakeTwoPicturesOne() async throws {
    let other = directory.url.appendingPathComponent("other/a.jpg")
    try FileManager.default.createDirectory(at: other.deletingLastPathComponent(), withIntermediateDirectories: true)
    for (image, status) in [("jpeg-444", ConversionResult.Status.failed), ("jpeg-420", .converted)] {
      for (file, image) in [(input.appendingPathComponent("a.jpg"), "jpeg-420"), (other, image)] {
        let bytes = try TestImages.bytes("formats/\(image).jpg")
        try (bytes + Data(count: (1 << 17) - bytes.count)).write(to: file)
        #expect(utimes(file.path, [timeval(tv_sec: 9, tv_usec: 0), timeval(tv_sec: 9, tv_usec: 0)]) == 0)
      }
      _ = try await convert()
      let run = try await convert { $0.inputs = [.path(other.deletingLastPathComponent().path)] }
      #expect(run.results.values.first?.status == status)
    }
  }

  @Test func theSourceIsKnownByWhateverPath() throws {
    func isSource(_ name: String, format: ImageFormat? = .jpeg) throws -> Bool {
      var status = stat()
      #expect(stat(input.path + "/x/\(name)", &status) == 0)
      // As file systems that number files by their paths show it.
      status.st_ino = ~status.st_ino
      let output = ConversionOutput(path: RawPath("b.jpg"), size: nil, format: format, byteCount: 1)
      let entry = IndexEntry(
        key: 1, source: RawPath(input.path + "/x/b.png"), modified: 1, byteCount: 1, token: "",
        outputs: [output])
      return entry.isSource(FileState(status), of: output)
    }
    try copy("formats/jpeg-420.jpg", "x/b.jpg")
    #expect(try isSource("b.png") && !isSource("b.jpg") && !isSource("b.png", format: nil))
  }

  @Test func originalsBehindALinkInTheOutputStay() async throws {
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: output.appendingPathComponent("x").path, withDestinationPath: input.appendingPathComponent("x").path)
    try copy("formats/jpeg-420.jpg", "x/c.jpg")
    let run = try await convert()
    #expect(run.status("x/c.jpg") == .failed && run.status("a.jpg") == .converted)
    let names = try FileManager.default.contentsOfDirectory(atPath: input.appendingPathComponent("x").path).sorted()
    #expect(
      try names == ["b.png", "c.jpg"]
        && Data(contentsOf: input.appendingPathComponent("x/c.jpg")) == TestImages.bytes("formats/jpeg-420.jpg"))
  }

  @Test func aLinkThatComesInAnInputsPlaceIsNotFollowed() async throws {
    let secret = directory.url.appendingPathComponent("secret")
    try FileManager.default.createDirectory(at: secret, withIntermediateDirectories: true)
    try TestImages.bytes("formats/png-rgba.png").write(to: secret.appendingPathComponent("b.png"))
    for links in [false, true] {
      let conversion = try await FolderConverter(options { $0.followsLinks = links }).start()
      try FileManager.default.removeItem(at: input.appendingPathComponent("x"))
      try FileManager.default.createSymbolicLink(
        atPath: input.appendingPathComponent("x").path, withDestinationPath: secret.path)
      var status: ConversionResult.Status?
      for await result in conversion where result.source.description.hasSuffix("b.png") { status = result.status }
      _ = await conversion.finish()
      #expect(status == (links ? .converted : .failed))
    }
  }

  @Test func otherOptionsReplaceWhatEarlierOnesHaveWritten() async throws {
    func sizes(_ sides: Int..., quality: Int = 80) -> (inout FolderConverter.Options) -> Void {
      { ($0.sizes, $0.quality) = (sides.map { TargetSize(PixelSize($0, $0)) }, quality) }
    }
    for change in [
      sizes(40), { (sizes(40, quality: 50)(&$0), $0.format = .jpeg).0 }, sizes(40, 20), sizes(40, 30, quality: 60),
    ] { #expect(try await convert(change).summary.failed == 0) }
  }

  @Test func aThumbnailOfTheFormatBeforeIsAnOrphan() async throws {
    try copy("formats/jpeg-420.jpg", "c.png")
    _ = try await convert()
    try copy("formats/png-rgba.png", "c.png")
    let conversion = try await FolderConverter(options()).start()
    for await _ in conversion {}
    let orphans = await conversion.orphans()
    #expect(orphans.flatMap(\.outputs) == [RawPath("c.jpg")])
    await conversion.remove(orphans)
    #expect(await conversion.finish().removed == 1)
    try copy("formats/jpeg-444.jpg", "c.png")
    #expect(try await convert().summary.failed == 0)
  }

  @Test func aNameThatTwoSetsOfOptionsShareIsNobodyElses() async throws {
    func sizes(_ sides: Int..., quality: Int = 80) -> (inout FolderConverter.Options) -> Void {
      { ($0.sizes, $0.quality) = (sides.map { TargetSize(PixelSize($0, $0)) }, quality) }
    }
    _ = try await convert(sizes(40, 90))
    _ = try await convert(sizes(40, 60, quality: 50))
    let conversion = try await FolderConverter(options(sizes(50))).start()
    for await _ in conversion {}
    let orphans = await conversion.orphans()
    #expect(
      Set(orphans.flatMap(\.outputs).filter { $0.bytes.first == UInt8(ascii: "a") }.map(\.description)) == [
        "a-40x40.jpg", "a-60x60.jpg", "a-90x90.jpg",
      ])
    await conversion.remove(orphans)
    #expect(await conversion.finish().removed == 6)
    #expect(try await convert(sizes(40, 60)).summary.failed == 0)
  }

  @Test func aListMayNameThumbnailsOfTheOutputFolder() async throws {
    // As `find` does where the output folder is among the pictures.
    func convert() async throws -> ConversionSummary {
      let names = try FileManager.default.subpathsOfDirectory(atPath: input.path).filter { $0.hasSuffix(".jpg") }
      let list = directory.url.appendingPathComponent("list")
      try Data(names.map { "\(input.path)/\($0)\n" }.joined().utf8).write(to: list)
      let options = options {
        ($0.inputs, $0.output) = ([.list(RawPath(list.path))], RawPath(input.appendingPathComponent("small").path))
      }
      let conversion = try await FolderConverter(options).start()
      for await _ in conversion {}
      await conversion.remove(await conversion.orphans())
      return await conversion.finish()
    }
    try copy("formats/jpeg-444.jpg", "c.jpg")
    #expect(try await convert().converted == 2)
    try FileManager.default.removeItem(at: input.appendingPathComponent("c.jpg"))
    try copy("formats/jpeg-444.jpg", "a.jpg")
    let summary = try await convert()
    #expect(summary.converted == 1 && summary.failed == 0 && summary.removed == 1)
  }

  @Test func aThumbnailThatAKillHasLeftAsItWasIsMadeAnewWhateverItsLength() async throws {
    _ = try await convert()
    // As if the kill had come after the new line, and the new thumbnail had the same length.
    let index = output.appendingPathComponent(".thumbs-index")
    var text = try String(contentsOf: index, encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.contains("\ta.jpg\t") })
    text += "\(line.dropLast(4))0000\n"
    try Data(text.utf8).write(to: index)
    let run = try await convert()
    #expect(run.status("a.jpg") == .converted && run.status("x/b.png") == .current)
    #expect(try await convert().summary.current == 2)
  }
}
