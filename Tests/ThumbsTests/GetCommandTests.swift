/// `thumbs get`: one picture, into a file or to stdout.
@Suite(.serialized, .timeLimit(.minutes(10))) struct GetCommandTests {
  private let bench: Bench
  private let picture = TestImages.url("formats/jpeg-420.jpg").path

  init() throws { bench = try Bench() }

  @Test(
    arguments: [
      ("a.jpg", [], [0xFF, 0xD8]), ("a.JPEG", [], [0xFF, 0xD8]), ("a.png", [], [0x89, 0x50]),
      ("a.webp", [], [0x52, 0x49]),
      ("a", [], [0xFF, 0xD8]), ("a.jpg", ["--format", "png"], [0x89, 0x50]),
      ("a.jpg", ["--format", "png", "--quiet"], [0x89, 0x50]),
      ("a.gif", ["--format", "jpeg"], [0xFF, 0xD8]),
    ] as [(String, [String], [UInt8])])
  func theOutputsNameDecidesTheFormat(name: String, options: [String], start: [UInt8]) async throws {
    let run = try await bench.run(["get", picture, "--size", "40x30", "--output", name] + options)
    #expect(run.status == 0 && run.stdout.isEmpty, "\(run.stderr)")
    // A name that says otherwise than --format is worth a word.
    #expect(run.complaints.count == (options == ["--format", "png"] ? 1 : 0), "\(run.stderr)")
    #expect(try Data(contentsOf: bench.url(name)).starts(with: start))
  }

  /// A size is a box that shows the whole picture.
  @Test(
    arguments: [
      ("40x", [], [40, 30]), ("x15", [], [20, 15]), ("40", ["--crop", "80x40+10+20"], [40, 20]),
      ("40", ["--crop", "20x100", "--gravity", "east"], [8, 40]), ("40", ["--crop", "200x40+0+0"], nil),
    ] as [(String, [String], [Int]?)])
  func aPictureIsCropped(size: String, options: [String], expected: [Int]?) async throws {
    let run = try await bench.run(["get", picture, "--size", size, "--output", "a.png", "--json"] + options)
    let made = try? JSONDecoder().decode(Picture.self, from: run.stdout)
    #expect((run.status == 0) == (expected != nil), "\(run.stderr)")
    if let expected { #expect(made?.thumbnails.map { [$0.width, $0.height] } == [expected], "\(run.stderr)") }
  }

  @Test func jsonTellsWhatCameOfThePicture() async throws {
    let run = try await bench.run("get", picture, "--size", "40", "--output", "a.jpg", "--json")
    #expect(run.status == 0 && run.stderr.isEmpty)
    let made = try JSONDecoder().decode(Picture.self, from: run.stdout)
    let bytes = try Data(contentsOf: bench.url("a.jpg")).count
    #expect(made.id == picture && made.status == "stored" && made.source?.width == 160)
    #expect(made.thumbnails == [.init(path: "a.jpg", width: 40, height: 30, format: "jpeg", bytes: bytes)])
    let again = try await bench.run("get", picture, "--size", "40", "--format", "jpg", "--json")
    #expect(try JSONDecoder().decode(Picture.self, from: again.stdout).thumbnails.map(\.path) == [nil])

    let failed = try await bench.run("get", "missing.jpg", "--output", "b.jpg", "--json")
    #expect(failed.status == 1 && failed.stderr.isEmpty && !bench.isFile("b.jpg"))
    let record = try JSONDecoder().decode(Picture.self, from: failed.stdout)
    #expect(record.status == "failed" && record.error?.code == "not-found" && record.thumbnails.isEmpty)
  }

  @Test func thePictureItselfIsNeverOverwritten() async throws {
    let original = try TestImages.bytes("formats/jpeg-420.jpg")
    try original.write(to: bench.url("own.jpg"))
    try FileManager.default.createSymbolicLink(atPath: bench.url("link.jpg").path, withDestinationPath: "own.jpg")
    // As through a mount that shows other times.
    let other = "/dev/shm/thumbs-\(UUID()).jpg"
    defer { unlink(other) }
    try original.write(to: URL(fileURLWithPath: other))
    #expect(utimes(other, [timeval(tv_sec: 9, tv_usec: 0), timeval(tv_sec: 9, tv_usec: 0)]) == 0)
    for output in ["own.jpg", "./own.jpg", "link.jpg", other] {
      expectComplaint(try await bench.run("get", "own.jpg", "--output", output), 73, "is the picture itself")
    }
    #expect(try Data(contentsOf: bench.url("own.jpg")) == original)
  }

  @Test func writesTheSameToStdout() async throws {
    #expect(try await bench.run("get", picture, "--size", "40x30", "--output", "a.jpg").status == 0)
    let run = try await bench.run("get", picture, "--size", "40x30", "-o", "-", "--format", "jpeg")
    #expect(run.status == 0 && run.stderr.isEmpty)
    #expect(try run.stdout == Data(contentsOf: bench.url("a.jpg")))
  }

  @Test func readsUrlsPathsAndFileUrls() async throws {
    let body = try TestImages.bytes("formats/jpeg-420.jpg")
    let origin = try Origin { _ in .ok(body, type: "text/plain") }
    for name in ["\(origin.url("/a.jpg"))", "file://\(picture)", picture] {
      let run = try await bench.run("get", name, "--output", "-")
      #expect(run.status == 0 && run.stdout.starts(with: [0xFF, 0xD8]), "\(run.stderr)")
    }
  }

  @Test func readsStdin() async throws {
    let body = try TestImages.bytes("formats/jpeg-420.jpg")
    let run = try await bench.run("get", "-", "--output", "-", input: .bytes(body))
    #expect(try await run.stdout == bench.run("get", picture, "--output", "-").stdout && run.status == 0)
    let nothing = try await bench.run("get", "-", "--output", "a.jpg")
    expectComplaint(nothing, 1, "-: the file is empty")
    let other = try TestImages.bytes("formats/jpeg-444.jpg")
    let long = try await bench.run("get", "-", "--output", "a.jpg", "--max-bytes", "1KiB", input: .bytes(other))
    expectComplaint(long, 1, "more than the limit of 1024; raise the limit (--max-bytes)")
  }

  /// A shell passes such names as they are.
  @Test func namesThatAreNotUTF8AreArguments() async throws {
    let body = try TestImages.bytes("formats/jpeg-420.jpg")
    try body.write(to: bench.url("a.jpg"))
    let script = #"cp a.jpg "$(printf 'caf\351.jpg')"; cp a.jpg "$(printf 'caf\350.jpg')"; rm a.jpg; "$@" c*.jpg"#
    let convert = ["convert", "--output", "small", "--name", "{hash}.{ext}"]
    let run = try await bench.start(convert, launcher: ["/bin/sh", "-c", script, "sh"]).run()
    #expect(run.status == 0 && run.stdout.starts(with: Data("2 made".utf8)), "\(run.stderr)")
    // The picture is not lost, nor is another one taken.
    let link = #"name="$(printf 'caf\351.jpg')"; ln -s "$name" link.jpg; "$@" "$name" --output link.jpg"#
    expectComplaint(
      try await bench.start(["get"], launcher: ["/bin/sh", "-c", link, "sh"]).run(), 73, "is the picture itself")
    let two = #""$@" --output "$(printf 'caf\350.jpg')" "$(printf 'caf\351.jpg')""#
    let other = try await bench.start(["get"], launcher: ["/bin/sh", "-c", two, "sh"]).run()
    expectComplaint(other, 1, "no such file")
  }

  @Test func anOutputIsReplacedAsAWholeOrNotAtAll() async throws {
    let before = try TestImages.bytes("formats/jpeg-gray.jpg")
    try before.write(to: bench.url("a.jpg"))
    #expect(chmod(bench.url("a.jpg").path, 0o640) == 0)
    try FileManager.default.createSymbolicLink(atPath: bench.url("link.jpg").path, withDestinationPath: "a.jpg")

    let failed = try await bench.run("get", "nowhere.jpg", "--output", "a.jpg")
    expectComplaint(failed, 1, "thumbs: nowhere.jpg: no such file; check its path\n")
    #expect(try Data(contentsOf: bench.url("a.jpg")) == before)

    let run = try await bench.run("get", picture, "--output", "link.jpg")
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try Data(contentsOf: bench.url("a.jpg")).starts(with: [0xFF, 0xD8]))
    var status = stat()
    #expect(lstat(bench.url("link.jpg").path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(stat(bench.url("a.jpg").path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.directory.path)
    #expect(!names.contains { $0.hasPrefix(".thumbs-") })
  }

  @Test func aNameMayBeAsLongAsNamesCanBe() async throws {
    let name = String(repeating: "n", count: Int(NAME_MAX) - 4) + ".jpg"
    // The second replaces what the first has written.
    for _ in 0..<2 {
      let run = try await bench.run("get", picture, "--output", name)
      #expect(run.status == 0, "\(run.stderr)")
    }
    #expect(try Data(contentsOf: bench.url(name)).starts(with: [0xFF, 0xD8]))
  }

  @Test func aLinkToNothingYetStaysAndItsFileIsMade() async throws {
    try FileManager.default.createSymbolicLink(atPath: bench.url("near.jpg").path, withDestinationPath: "far.jpg")
    try FileManager.default.createSymbolicLink(atPath: bench.url("far.jpg").path, withDestinationPath: "end.jpg")
    try FileManager.default.createSymbolicLink(atPath: bench.url("loop.jpg").path, withDestinationPath: "loop.jpg")
    let run = try await bench.run("get", picture, "--output", "near.jpg")
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: bench.url("far.jpg").path) == "end.jpg")
    #expect(try Data(contentsOf: bench.url("end.jpg")).starts(with: [0xFF, 0xD8]))
    let loop = try await bench.run("get", picture, "--output", "loop.jpg")
    #expect(loop.status == 73 && loop.stderr.contains("Too many levels of symbolic links"), "\(loop.stderr)")
  }

  @Test(arguments: [
    ("missing/a.jpg", "No such file or directory; choose"), ("home", "Is a directory; choose"),
    ("/dev/full", "No space left on device; make room there, or choose"),
  ])
  func anOutputThatCannotBeWrittenEndsWith73(output: String, problem: String) async throws {
    let run = try await bench.run("get", picture, "--output", output)
    expectComplaint(run, 73, "thumbs: \(output) cannot be written: \(problem) another --output\n")
  }

  @Test func aLargerPictureAndWhatIsNoneAreNotReplaced() async throws {
    // As `-o *.jpg` names them.
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: bench.url("mine.jpg"))
    try Data("mine".utf8).write(to: bench.url("notes.jpg"))
    // Smaller than the thumbnail, but no format that is written.
    try TestImages.bytes("formats/ico.ico").write(to: bench.url("icon.jpg"))
    for (name, kind) in [
      ("mine.jpg", "a larger picture, of 160x120"), ("notes.jpg", "no thumbnail"), ("icon.jpg", "no thumbnail"),
    ] {
      let before = try Data(contentsOf: bench.url(name))
      let run = try await bench.run("get", picture, "--size", "64", "--output", name)
      expectComplaint(
        run, 73, "thumbs: \(name) cannot be written: it is there, and \(kind); choose another --output\n")
      #expect(try Data(contentsOf: bench.url(name)) == before)
    }
    for (size, output, status) in [
      ("160", "mine.jpg", Int32(0)), ("64", "mine.jpg", 73), ("1600x100", "mine.jpg", 73), ("64x", "mine.jpg", 73),
      ("120", "notes.png", 0),
    ] {
      let run = try await bench.run("get", picture, "--size", size, "--output", output)
      #expect(run.status == status, "\(run.stderr)")
    }
    // A file that is open is written to, behind what is there.
    try Data("before".utf8).write(to: bench.url("-"))
    let out = #""$@" --output - > all && exec 3>> all && "$@" --output /dev/fd/3"#
    let run = try await bench.start(["get", picture, "--size", "64"], launcher: ["/bin/sh", "-c", out, "sh"]).run()
    let all = try Data(contentsOf: bench.url("all"))
    #expect(run.status == 0 && all.count > 1000, "\(run.stderr)")
    // The program's own are not.
    let own = open(bench.url("all").path, O_WRONLY | O_CLOEXEC)
    defer { close(own) }
    #expect(try await bench.run("get", picture, "--output", "/dev/fd/\(own)").status == 73)
    #expect(try Data(contentsOf: bench.url("all")) == all)
  }

  @Test func aFileThatIsWriteProtectedIsNotReplaced() async throws {
    #expect(try await bench.run("get", picture, "--output", "mine.jpg").status == 0)
    let before = try Data(contentsOf: bench.url("mine.jpg"))
    chmod(bench.url("mine.jpg").path, 0o444)
    let run = try await bench.run("get", picture, "--format", "webp", "--output", "mine.jpg")
    #expect(run.status == 73 && run.stderr.contains("mine.jpg cannot be written: Permission denied"), "\(run.stderr)")
    #expect(try Data(contentsOf: bench.url("mine.jpg")) == before)
  }
}

/// `thumbs get --explain`: how a picture is read, and what that costs.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ExplainTests {
  @Test(
    arguments: [
      ("jpeg-420.jpg", "16x12", "plan: jpeg coefficients 1/4, 40x30 → 16x12"), ("png-rgb.png", "20x15", "plan: png"),
    ])
  func thePlanIsSaidWithItsCost(name: String, size: String, plan: String) async throws {
    let bench = try Bench()
    let picture = TestImages.url("formats/\(name)").path
    // Twice: what the first run stored does not stand in for the plan.
    for _ in 0..<2 {
      let run = try await bench.run("get", picture, "--size", size, "--explain")
      #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
      #expect(run.lines.contains { $0.hasPrefix(plan) }, "\(run.lines)")
      #expect(run.lines.contains { $0.hasPrefix("memory: at most ") && $0.hasSuffix("MiB") }, "\(run.lines)")
    }
  }

  @Test func theBytesThatWereLeftAreSaid() async throws {
    let bench = try Bench()
    let body = [UInt8](try TestImages.bytes("formats/jpeg-progressive.jpg")) + [UInt8](repeating: 0, count: 600_000)
    let origin = try Origin { _ in .ok(body) }
    let run = try await bench.run("get", "\(origin.url("/a.jpg"))", "--size", "20x15", "--explain", "-o", "-")
    #expect(run.status == 0 && run.stdout.starts(with: [0xFF, 0xD8]))
    #expect(run.complaints.contains { $0.contains("downloaded: ") && $0.hasSuffix("the rest left") }, "\(run.stderr)")
  }
}
