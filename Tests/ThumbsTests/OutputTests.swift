/// What goes to stdout and stderr, how much of it, and what happens when nobody takes it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OutputTests {
  private let bench: Bench
  private let command = ["prefetch", "--query", "", "--provider", "folder:pictures"]

  init() throws {
    bench = try Bench()
    _ = try bench.folder("pictures", pictures: 3)
  }

  @Test func quietPrintsErrorsOnly() async throws {
    let good = try await bench.run(command + ["--quiet"])
    #expect(good.status == 0 && good.stdout.isEmpty && good.stderr.isEmpty)
    try Data("no picture".utf8).write(to: bench.url("pictures/bad.jpg"))
    let bad = try await bench.run(command + ["-q"])
    #expect(bad.status == 1 && bad.stdout.isEmpty)
    #expect(bad.complaints.count == 1 && bad.stderr.hasPrefix("thumbs: pictures/bad.jpg: "))
  }

  @Test func verboseTellsEveryStageOnStderr() async throws {
    let first = try await bench.start(command + ["--verbose", "--json"]).run()
    #expect(first.status == 0 && first.lines.count == 4)
    expectPlain(first)
    for name in (0..<3).map({ "thumbs: pictures/picture \($0).jpg: " }) {
      let lines = first.complaints.filter { $0.hasPrefix(name) }.map { $0.dropFirst(name.count) }
      #expect(lines.contains { $0.hasPrefix("opened a file of ") })
      #expect(lines.contains { $0.contains(", at most ") })
      #expect(lines.contains { $0.hasPrefix("made ") })
      #expect(lines.contains { $0.hasPrefix("stored ") })
    }
    let second = try await bench.start(command + ["-v"]).run()
    #expect(second.complaints.filter { $0.contains("from disk in ") }.count == 3)
  }

  @Test func aReaderThatLeavesDoesNoHarm() async throws {
    // Given a run whose reader leaves after the first line, as `head -1` does
    let gate = Gate()
    let origin = try Origin { request in
      let answer = OriginResponse.picture
      return request.path == "/0.jpg" ? answer : answer.held(by: gate)
    }
    let list = Data((0..<5).map { "\(origin.url("/\($0).jpg"))\n" }.joined().utf8)
    let output = makePipe()
    let process = try bench.start(
      ["prefetch", "--urls", "-", "--json"], input: .bytes(list), stdout: .descriptor(output.write))
    close(output.write)
    var byte: UInt8 = 0
    while read(output.read, &byte, 1) == 1, byte != UInt8(ascii: "\n") {}
    close(output.read)
    gate.open()

    // Then it ends without a word, and what it fetched is kept
    let run = await process.run()
    #expect(run.status == 73 && run.stderr.isEmpty, "\(run.stderr)")
    let next = try await bench.run("prefetch", "--urls", "-", "--json", input: .bytes(list))
    #expect(next.status == 0)
    #expect(try next.summary().hits >= 1)
  }

  @Test(arguments: ["prefetch", "get", "stats", "list", "prune", "clear", "help"])
  func aFullStdoutIsNamed(which: String) async throws {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let lines = [
      "prefetch": command + ["--json"], "get": ["get", "pictures/picture 1.jpg", "--output", "-"],
      "stats": ["cache", "stats"], "list": ["cache", "list"],
      "prune": ["cache", "prune", "--older-than", "0"], "clear": ["cache", "clear", "--json"],
      "help": ["--help"],
    ]
    // A list of nothing has no lines.
    if which == "list" { _ = try await bench.run(command) }
    let process = try bench.start(try #require(lines[which]), stdout: .descriptor(full))
    expectComplaint(await process.run(), 73, "thumbs: stdout cannot be written: No space left on device; ")
  }
}

/// Names of files and pictures, which strangers choose, on a terminal.
@Suite(.timeLimit(.minutes(5))) struct TerminalTextTests {
  /// Clears a screen, in two ways, and turns the direction of what follows.
  private static let name = "\u{1B}[2J\u{202E}\u{9B}31m.jpg"
  private let bench: Bench

  init() throws {
    bench = try Bench()
    let folder = try bench.folder("pictures", pictures: 1)
    try Data("no picture".utf8).write(to: folder.appendingPathComponent(Self.name))
  }

  @Test(arguments: [
    "convert pictures --output small", "prefetch --query  --provider folder:pictures --verbose",
    "search --query  --provider folder:pictures", "get pictures/\(name) --output small.jpg",
  ])
  func aNameNeitherMovesTheCursorNorTurnsTheText(_ line: String) async throws {
    let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let run = try await bench.start(words).run()
    let text = (run.lines + run.complaints).joined()
    #expect(text.contains("31m.jpg"), "\(text)")
    let unfit = text.unicodeScalars.filter { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) || $0 == "\u{202E}" }
    #expect(unfit.isEmpty, "\(unfit.map(\.value))")
  }
}
