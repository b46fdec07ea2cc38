/// One line of `thumbs convert --json`.
struct ConvertedPicture: Decodable, Sendable {
  struct Output: Decodable, Hashable {
    let path: String
    let width, height: Int
    let format: String
    let bytes: Int
  }
  struct Failure: Decodable { let stage, code, message: String }

  let source, status: String
  let outputs: [Output]
  let toldApart: Bool?
  let error: Failure?
  let plan: String?
  let ms: Double
}

/// The last line of `thumbs convert --json`.
struct ConvertSummary: Decodable {
  let converted, current, failed, skipped: Int
  let toldApart: Int?
  let seconds: Double
  let peakMemoryBytes: Int
}

extension Run {
  func conversions() throws -> (pictures: [ConvertedPicture], summary: ConvertSummary) {
    let summary = try #require(lines.last, "nothing on stdout; stderr: \(stderr)")
    return (
      try lines.dropLast().map { try JSONDecoder().decode(ConvertedPicture.self, from: Data($0.utf8)) },
      try #require(try JSONDecoder().decode([String: ConvertSummary].self, from: Data(summary.utf8))["summary"])
    )
  }
}

/// The command `thumbs convert`, as its users call it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ConvertCommandTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private func put(_ image: String, _ name: String) throws {
    let target = bench.url(name)
    try FileManager.default.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
    try TestImages.bytes(image).write(to: target)
  }

  private func files(_ folder: String) throws -> [String: Data] { try bench.files(folder) }

  @Test func aFolderIsConvertedAndToldLineByLine() async throws {
    try put("formats/jpeg-420.jpg", "photos/2024/a.jpg")
    try put("formats/png-rgba.png", "photos/b.png")
    try put("broken/truncated-in-the-middle.jpg", "photos/cut.jpg")
    try Data().write(to: bench.url("photos/notes.txt"))
    let run = try await bench.run("convert", "photos", "--output", "small", "--size", "40x40", "--json")
    #expect(run.status == 1 && run.stderr.isEmpty)
    let (pictures, summary) = try run.conversions()
    #expect((summary.converted, summary.current, summary.failed, summary.skipped) == (2, 0, 1, 1))
    #expect(summary.seconds > 0 && summary.peakMemoryBytes > 1 << 20)
    #expect(pictures.count == 4)
    let made = try #require(pictures.first { $0.source == "photos/2024/a.jpg" })
    #expect(made.status == "converted" && made.error == nil && made.plan?.hasPrefix("jpeg") == true && made.ms > 0)
    let output = try #require(made.outputs.first)
    #expect(output.path == "small/2024/a.jpg" && output.format == "jpeg" && output.width == 40)
    #expect(try Data(contentsOf: bench.url(output.path)).count == output.bytes)
    let cut = try #require(pictures.first { $0.source == "photos/cut.jpg" })
    #expect(cut.status == "failed" && cut.outputs.isEmpty && cut.error?.stage == "decode")
    #expect(pictures.first { $0.source == "photos/notes.txt" }?.status == "skipped")
    #expect(try files("small").keys.sorted() == [".thumbs-index", "2024/a.jpg", "b.webp"])

    let again = try await bench.run("convert", "photos", "--output", "small", "--size", "40x40", "--json")
    let second = try again.conversions()
    #expect((second.summary.converted, second.summary.current, second.summary.failed) == (0, 2, 1))
    #expect(second.pictures.first { $0.source == made.source }?.outputs == made.outputs)
  }

  @Test func withoutJSONTheLastLineHasTheCountsAndFailuresAreNamed() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    try put("broken/html-page.jpg", "photos/page.jpg")
    let run = try await bench.run("convert", "photos", "--output", "small")
    #expect(run.status == 1 && run.lines.count == 1 && run.complaints.count == 1)
    #expect(run.lines[0].hasPrefix("1 made, 0 current, 1 failed; ") && run.lines[0].contains("peak memory"))
    #expect(run.complaints[0].hasPrefix("thumbs: photos/page.jpg: ") && run.complaints[0].contains("HTML"))
    let quiet = try await bench.run("convert", "photos", "--output", "small", "--quiet")
    #expect(quiet.status == 1 && quiet.lines.isEmpty && quiet.complaints.count == 1)
    try FileManager.default.removeItem(at: bench.url("photos/page.jpg"))
    #expect(try await bench.run("convert", "photos", "--output", "small").status == 0)
  }

  @Test func theReasonsOfSkipsStandInTheSummary() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    for name in ["b.jpg", "c.jpg"] {
      try FileManager.default.createSymbolicLink(
        at: bench.url("photos/\(name)"), withDestinationURL: bench.url("photos/a.jpg"))
    }
    try Data().write(to: bench.url("photos/notes.txt"))
    let run = try await bench.run("convert", "photos", "--output", "small")
    let reasons = "3 skipped (2 links not followed, see --follow-symlinks, 1 not named like a picture)"
    #expect(run.status == 0 && run.lines.last?.contains(reasons) == true, "\(run.lines)")
    let lines = try await bench.run("convert", "photos", "--output", "small", "--json").lines
    #expect(lines.last?.contains(#""skips":{"link":2,"not-named-like-a-picture":1}"#) == true, "\(lines)")
    let followed = try await bench.run("convert", "photos", "--output", "small", "--follow-symlinks")
    #expect(followed.lines.last?.hasPrefix("2 made, 1 current, 0 failed, 1 skipped") == true, "\(followed.lines)")
  }

  @Test(arguments: [false, true]) func aLinkThatLeadsNowhereFailsInAConversionAndInASearch(follows: Bool) async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    for name in ["gone.jpg", "gone"] {
      try FileManager.default.createSymbolicLink(
        at: bench.url("photos/\(name)"), withDestinationURL: bench.url("nowhere"))
    }
    let follow = follows ? ["--follow-symlinks"] : []
    let run = try await bench.run(["convert", "photos", "--output", "small", "--json"] + follow)
    let (pictures, summary) = try run.conversions()
    #expect(run.status == 1 && (summary.converted, summary.failed, summary.skipped) == (1, 1, 1))
    #expect(pictures.first { $0.status == "failed" }?.source == "photos/gone.jpg")
    let search = try await bench.run("prefetch", "--query", "", "--provider", "folder:photos")
    #expect(search.status == 1 && search.complaints.count == 1)
    #expect(search.stderr.contains("gone.jpg: a broken link"), "\(search.stderr)")
  }

  /// In a folder, in a list, and in a search alike.
  @Test func whatIsNotNamedInUTF8IsMade() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    let name: [UInt8] = [0x41, 0xE9, 0xFF] + ".jpg".utf8
    let folder = Array("photos/".utf8)
    let path = (Array((bench.directory.path + "/").utf8) + folder + name + [0]).map { CChar(bitPattern: $0) }
    #expect(rename(bench.url("photos/a.jpg").path, path) == 0)
    try put("formats/jpeg-420.jpg", "photos/b.jpg")
    try Data(folder + name + [0x0A] + folder + "b.jpg\n".utf8).write(to: bench.url("list"))
    for (output, inputs) in [("small", ["photos"]), ("listed", ["@list"])] {
      let run = try await bench.start(["convert"] + inputs + ["--output", output]).run()
      #expect(run.status == 0 && run.lines.last?.hasPrefix("2 made, 0 current, 0 failed;") == true, "\(run.lines)")
    }
    let search = try await bench.run("prefetch", "--query", "", "--provider", "folder:photos", "--export", "exported")
    #expect(search.status == 0 && search.stderr.isEmpty, "\(search.stderr)")
    #expect(search.lines.first == "2 pictures from folder: 2 made, 0 from the cache, 0 failed")
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.url("exported").path).count == 2)
  }

  @Test(arguments: ["small", "a/b/small/"]) func noFolderIsLeftWhereNothingWasMade(output: String) async throws {
    try put("broken/html-page.jpg", "photos/page.jpg")
    for inputs in [["missing"], ["photos"], ["missing", "photos"]] {
      #expect(try await bench.run(["convert"] + inputs + ["--output", output]).status == 1)
      let left = try FileManager.default.contentsOfDirectory(atPath: bench.directory.path)
      #expect(Set(left).isDisjoint(with: ["small", "a"]), "\(inputs): \(left)")
    }
    // What was there stays.
    _ = try bench.folder("small")
    #expect(try await bench.run("convert", "missing", "--output", "small").status == 1)
    #expect(FileManager.default.fileExists(atPath: bench.url("small").path))
  }

  @Test func thatNoPictureWasFoundIsSaid() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    let convert = ["convert", "photos", "--output", "small", "--include", "*.png"]
    expectComplaint(try await bench.run(convert), 0, "--include", printing: true)
    #expect(try await bench.run(convert + ["--quiet"]).stderr.isEmpty)
    let rest = ["photos", "--output", "small", "--exclude", "Photos/a.jpg", "--quiet"]
    let run = try await bench.run(["convert"] + rest)
    #expect(run.status == 0 && run.stderr.contains("Photos/a.jpg matches nothing") && run.stderr.contains("--exclude"))
    #expect(try await bench.run(["site"] + rest.dropLast()).status == 64)
  }

  @Test func namesOnStdinAndInListsAreTaken() async throws {
    try put("formats/jpeg-420.jpg", "photos/x/a.jpg")
    try put("formats/jpeg-444.jpg", "photos/line\nbreak.jpg")
    let lines = try await bench.process(
      "convert", "-", "--output", "lines", input: .bytes(Data("photos/x/a.jpg\r\n\nmissing.jpg\n".utf8)))
    #expect(lines.status == 1 && lines.complaints == ["thumbs: missing.jpg: no such file or folder; check its path"])
    #expect(try files("lines").keys.sorted() == [".thumbs-index", "photos/x/a.jpg"])
    let names = Data("photos/line\nbreak.jpg\0photos/x\0".utf8)
    let nulls = try await bench.process("convert", "-", "-0", "--output", "nulls", input: .bytes(names))
    #expect(nulls.status == 0, "\(nulls.stderr)")
    #expect(try files("nulls").keys.sorted() == [".thumbs-index", "photos/line\nbreak.jpg", "photos/x/a.jpg"])
    try Data("photos/x/a.jpg".utf8).write(to: bench.url("list"))
    #expect(try await bench.process("convert", "@list", "--output", "listed").status == 0)
  }

  @Test func whatCannotBeWrittenEndsWith73() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    try Data("here".utf8).write(to: bench.url("file"))
    // The other is a file system on which nothing can be made, whoever asks.
    for (output, problem) in [("file", "Not a directory; "), ("/proc/thumbs", "")] {
      let run = try await bench.run("convert", "photos", "--output", output)
      expectComplaint(run, 73, "thumbs: \(output) cannot be written: \(problem)", "choose another output folder")
    }
    for output in ["new.auto", "small.webp/"] {
      #expect(try await bench.run("convert", "photos/a.jpg", "--output", output).status == 0)
    }
    let file = try await bench.run("convert", "photos/a.jpg", "--output", "small.JPG")
    expectComplaint(file, 64, "small.JPG would be a folder: for one file, use thumbs get")
    _ = try bench.folder("small.JPG")
    #expect(try await bench.run("convert", "photos/a.jpg", "--output", "small.JPG").status == 0)
    // Where one thumbnail cannot go, the others still do.
    try put("formats/jpeg-444.jpg", "photos/b.jpg")
    _ = try bench.folder("small/a.jpg")
    let partly = try await bench.run("convert", "photos", "--output", "small")
    expectComplaint(partly, 1, "small/a.jpg is a folder in the way; move it", printing: true)
    #expect(FileManager.default.fileExists(atPath: bench.url("small/b.jpg").path))
  }

  @Test func collisionsAreNamedBeforeAnythingIsWritten() async throws {
    for name in ["a.jpg", "x/b.jpg", "x/a.jpg"] { try put("formats/jpeg-420.jpg", "photos/\(name)") }
    let run = try await bench.run("convert", "photos", "--output", "small", "--name", "{name}.{ext}")
    #expect(run.status == 64 && run.stdout.isEmpty)
    #expect(run.complaints.first == "thumbs: photos/a.jpg and photos/x/a.jpg would both write a.*")
    #expect(run.complaints.count == 2 && run.stderr.contains("{hash}"))
    #expect(!FileManager.default.fileExists(atPath: bench.url("small").path))
  }

  @Test func aClashOfNamesStopsNobodyAndIsSaid() async throws {
    for name in ["IMG_1.HEIC", "IMG_2.JPG"] { try put("formats/jpeg-420.jpg", "photos/\(name)") }
    let convert = ["convert", "photos", "--output", "small", "--size", "40"]
    #expect(try await bench.run(convert).status == 0)
    try put("formats/png-rgba.png", "photos/IMG_1.PNG")
    let dry = try await bench.run(convert + ["--dry-run"])
    #expect(dry.lines.dropLast() == ["would write small/IMG_1.png.*"])
    let run = try await bench.run(convert)
    #expect(run.status == 0)
    #expect(run.lines.first?.contains("1 made, 2 current, 0 failed, 1 keeps its extension; ") == true)
    // The name that was there first is kept.
    #expect(
      run.complaints == [
        "thumbs: photos/IMG_1.PNG: writes small/IMG_1.png.webp, because another picture has the same name"
      ])
    #expect(try files("small").keys.sorted() == [".thumbs-index", "IMG_1.jpg", "IMG_1.png.webp", "IMG_2.jpg"])
    // What is known is not said again.
    let again = try await bench.run(convert)
    #expect(again.status == 0 && again.complaints.isEmpty)
    #expect(again.lines.first?.contains("1 keeps its extension") == true)
    try FileManager.default.removeItem(at: bench.url("photos/IMG_1.HEIC"))
    let json = try await bench.run(convert + ["--json"])
    let (pictures, summary) = try json.conversions()
    #expect(json.stderr.isEmpty && summary.current == 2 && summary.toldApart == 1)
    #expect(pictures.first { $0.source == "photos/IMG_1.PNG" }?.toldApart == true)
  }

  @Test func whatASiteShouldNoLongerPublishIsCountedUntilItIsRemoved() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    func site(_ more: String...) async throws -> [String] {
      let run = try await bench.start(["site", "photos", "--output", "www"] + more).run()
      #expect(run.status == 0)
      return run.complaints
    }
    #expect(try await site("--originals").isEmpty)
    #expect(try await site() == ["thumbs: www still has 1 file of earlier runs; --delete-orphans removes what is left"])
    #expect(bench.isFile("www/site-files/originals/a.jpg"))
    #expect(try await site("--delete-orphans", "--yes").isEmpty)
    #expect(!bench.isFile("www/site-files/originals/a.jpg") && bench.isFile("www/a-512x512.jpg"))
    try Data("changed".utf8).write(to: bench.url("www/a-512x512.jpg"))
    try put("formats/jpeg-420.jpg", "photos/b.jpg")
    let run = try await bench.run(
      "site", "photos", "--output", "www", "--exclude", "a.jpg", "--delete-orphans", "--yes")
    expectComplaint(
      run, 1,
      "1 file of pictures that are gone or left out stays in www, changed since or of no known run: www/a-512x512.jpg",
      printing: true)
  }

  @Test func orphansAreRemovedOnlyWithConsent() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    try put("formats/jpeg-420.jpg", "photos/x/b.jpg")
    _ = try await bench.run("convert", "photos", "--output", "small")
    try FileManager.default.removeItem(at: bench.url("photos/x"))
    let unasked = try await bench.run("convert", "photos", "--output", "small", "--delete-orphans")
    #expect(unasked.status == 64 && unasked.stderr.contains("--yes"))
    let dry = try await bench.run("convert", "photos", "--output", "small", "--delete-orphans", "--dry-run")
    #expect(dry.status == 0 && dry.stderr.contains("would remove 1 thumbnail"))
    #expect(dry.lines.first == "would remove small/x/b.jpg")
    #expect(try files("small").count == 3)
    let run = try await bench.run("convert", "photos", "--output", "small", "--delete-orphans", "--yes")
    #expect(run.status == 0 && run.lines.first?.contains("1 removed") == true)
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: bench.url("small").path).sorted() == [
        ".thumbs-index", "a.jpg",
      ])
  }

  @Test func namesEndLikeWhatIsWritten() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    let convert = ["convert", "photos", "--output", "small", "--name", "{name}.png"]
    let run = try await bench.run(convert)
    expectComplaint(run, 64, "--name {name}.png would name other formats so, too: give --format png")
    #expect(try await bench.run(convert + ["--format", "png"]).status == 0)
    #expect(try Data(contentsOf: bench.url("small/a.png")).starts(with: [0x89, 0x50, 0x4e, 0x47]))
  }

  @Test func aFolderWithoutEntriesLosesNoThumbnails() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    _ = try await bench.run("convert", "photos", "--output", "small")
    try FileManager.default.removeItem(at: bench.url("photos/a.jpg"))
    let run = try await bench.run("convert", "photos", "--output", "small", "--delete-orphans", "--yes")
    #expect(run.status == 0 && run.stderr.contains("; nothing was removed, since a disk may be away"))
    #expect(try files("small").count == 2)
  }

  @Test func aDryRunSaysWhatItWouldWrite() async throws {
    try put("formats/jpeg-420.jpg", "photos/a.jpg")
    let run = try await bench.run("convert", "photos", "--output", "small", "--dry-run")
    #expect(run.status == 0 && run.lines.first == "would write small/a.*")
    #expect(run.lines.last?.hasPrefix("1 would be made, 0 current, 0 failed; ") == true)
    #expect(!FileManager.default.fileExists(atPath: bench.url("small").path))
    #expect(try await bench.run("convert", "photos", "--output", "small").status == 0)
    try put("formats/jpeg-420.jpg", "photos/b.jpg")
    let json = try await bench.run("convert", "photos", "--output", "small", "--dry-run", "--json")
    #expect(json.lines.last?.contains("\"converted\":0,\"wouldConvert\":1,\"current\":1,\"failed\":0") == true)
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func aSignalKeepsWhatIsDoneAndTheNextRunDoesTheRest(signal: Int32, status: Int32) async throws {
    // Given a run that cannot end, since it cannot say what it does
    _ = try bench.folder("photos", pictures: 400)
    let pipe = try NarrowPipe()
    let process = try bench.start(
      ["convert", "photos", "--output", "small", "--json", "--jobs", "1"], stdout: .descriptor(pipe.writeEnd))
    pipe.closeWriteEnd()
    pipe.read(lines: 5)
    process.send(signal)
    // Real time: only the system's own files show that a signal was taken.
    #expect(await eventually { process.hasTakenSignals })
    let printed = pipe.read()
    let ended = await process.run()
    let first = Run(status: ended.status, stdout: printed, stderr: ended.stderr)
    #expect(first.status == status)
    #expect(first.complaints == ["thumbs: stopped; what is done is kept, and the same command does the rest"])
    let (pictures, summary) = try first.conversions()
    #expect(pictures.allSatisfy { $0.status == "converted" } && pictures.count == summary.converted)
    #expect(summary.converted < 400 && summary.failed == 0)
    let second = try await bench.run("convert", "photos", "--output", "small", "--json").conversions().summary
    #expect(second.current == summary.converted && second.converted == 400 - summary.converted)
  }

  @Test func aKillAtAnyMomentIsMadeGoodByTheNextRunToTheByte() async throws {
    let folder = try bench.folder("photos", pictures: 150)
    for number in 0..<60 {
      try put("formats/png-rgba.png", "photos/x/\(number)/\(number).png")
    }
    let command = ["convert", folder.lastPathComponent, "--size", "90", "--size", "20x20", "--output"]
    #expect(try await bench.start(command + ["undisturbed"]).run().status == 0)
    let expected = try files("undisturbed")
    #expect(expected.count == 421)
    for lines in Thoroughness.cases([1, 60, 200], of: [1, 20, 60, 120, 200]) {
      let output = "killed-\(lines)"
      let process = try bench.start(command + [output, "--json"])
      _ = await process.comes { printed, _ in printed.split(separator: "\n").count >= lines }
      process.send(SIGKILL)
      _ = await process.run()
      // Nothing half-written is ever to be seen.
      for (name, bytes) in try files(output) where !name.contains(".thumbs-") { #expect(bytes == expected[name]) }
      #expect(try await bench.start(command + [output]).run().status == 0)
      #expect(try files(output) == expected)
    }
  }
}
