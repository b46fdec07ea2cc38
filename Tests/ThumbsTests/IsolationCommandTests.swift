@testable import CodecTestSupport

/// The options about helper processes, and what becomes of the processes when the command ends.
@Suite(.serialized, .timeLimit(.minutes(5))) struct IsolationCommandTests {
  private let bench: Bench
  /// A drawing that takes weeks.
  private static let endless = Data(HelperBench.endless)

  init() throws { bench = try Bench() }

  /// A folder with a picture of each kind: read here, read in a helper, and never done.
  private func mixedFolder(withEndless: Bool = true) throws -> URL {
    let folder = try bench.folder("mixed", pictures: 1)
    for name in ["svg.svg", "bmp.bmp", "jpeg2000.jp2", "pdf.pdf", "jpeg-xl.jxl", "openexr.exr"] {
      try FileManager.default.copyItem(at: TestImages.url("formats/\(name)"), to: folder.appendingPathComponent(name))
    }
    if withEndless { try Self.endless.write(to: folder.appendingPathComponent("endless.svg")) }
    return folder
  }

  @Test func aFolderIsDoneAndWhatHangsIsNamed() async throws {
    _ = try mixedFolder()
    let run = try await bench.run(
      "prefetch", "--query", "", "--provider", "folder:mixed", "--size", "50x50", "--fit", "cover", "--json",
      "--helper-deadline", "10")
    #expect(run.status == 1, "\(run.stderr)")
    let pictures = try run.pictures()
    #expect(pictures.count == 8)
    #expect(pictures.filter { $0.status == "stored" }.count == 7)
    let failed = try #require(pictures.first { $0.status == "failed" })
    #expect(failed.id == "endless.svg" && failed.error?.code == "decoder-failed")
    #expect(failed.error?.message.contains("--helper-deadline") == true, "\(failed.error?.message ?? "")")
  }

  @Test(arguments: [("webpsave_buffer", "effort=0"), ("heifsave_buffer", "compression=hevc,effort=0")])
  func aPictureThatNeedsMoreMemoryThanItsHelperHasIsRefused(saver: String, options: String) async throws {
    let folder = try bench.folder("large")
    let picture = try TestPicture.quarters(500, 300).repeated(8).encoded(saver, options)
    try Data(picture).write(to: folder.appendingPathComponent("large.\(saver.prefix(4))"))
    func run(_ size: String) async throws -> Run {
      try await bench.run(
        "convert", "large", "-o", "small", "--size", size, "--helper-memory", "64MiB", "--memory-budget", "32MiB")
    }
    let refused = try await run("4000")
    #expect(refused.status == 1 && refused.stderr.contains("more than the 64.0 MiB"), "\(refused.stderr)")
    let small = try await run("200")
    #expect(small.status == 0, "\(small.stderr)")
  }

  @Test(arguments: [["--isolate", "off"]])
  func unsafeFormatsAreLeftOutOfAFolderWhereTheyAreRefused(_ options: [String]) async throws {
    _ = try mixedFolder(withEndless: false)
    let run = try await bench.start(
      ["prefetch", "--query", "", "--provider", "folder:mixed", "--size", "50x50", "--json"] + options
    ).run()
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try run.pictures().map(\.id) == ["picture 0.jpg"])
  }

  @Test func getRefusesThemWithWhatToDo() async throws {
    let drawing = TestImages.url("formats/svg.svg").path
    let run = try await bench.run("get", drawing, "--output", "a.png", "--isolate", "off")
    expectComplaint(run, 1, "SVG", "--isolate")
    let allowed = try await bench.run("get", drawing, "--output", "a.png")
    #expect(allowed.status == 0 && allowed.stderr.isEmpty, "\(allowed.stderr)")
  }

  @Test func theWebsAreRefusedUnlessAsked() async throws {
    let drawing = try TestImages.bytes("formats/svg.svg")
    let origin = try Origin { _ in .ok(drawing, type: "image/svg+xml") }
    let url = "\(origin.url("/a.svg"))"
    let refused = try await bench.run("get", url, "--output", "a.png")
    #expect(refused.status == 1 && refused.stderr.contains("--unsafe-from-web"), "\(refused.stderr)")
    let allowed = try await bench.run("get", url, "--output", "a.png", "--unsafe-from-web")
    #expect(allowed.status == 0, "\(allowed.stderr)")
  }

  @Test(arguments: [SIGKILL, SIGINT]) func aHelperEndsWithTheCommandThatIsKilled(_ signal: Int32) async throws {
    try Self.endless.write(to: bench.url("endless.svg"))
    let process = try bench.start(["get", "endless.svg", "--output", "a.png", "--helper-deadline", "600"])
    let helper = try await helper(of: process)
    process.send(signal)
    #expect(await process.run().status == 128 + signal)
    #expect(await eventually { !Self.isAlive(helper) })
  }

  @Test(arguments: [
    (["--isolate", "web"], "--isolate"), (["--helper-memory", "1MiB"], "at least 64MiB"),
    (["--helper-deadline", "0"], "seconds"), (["--unsafe-from-web", "--isolate", "off"], "exclude"),
    (["--unsafe-from-web", "--isolate", "off"], "exclude"),
  ])
  func wrongUsageIsSaid(_ options: [String], _ words: String) async throws {
    expectComplaint(try await bench.start(["get", "a.svg", "--output", "b.png"] + options).run(), 64, words)
  }

  @Test func theHelperIsNotForPeople() async throws {
    let run = try await bench.run("decode-helper", "1000000000", "20", "1")
    #expect(run.status == 64 && run.complaints.count == 1 && run.stderr.contains("not for people"), "\(run.stderr)")
    #expect(try await !bench.run("--help").lines.contains { $0.contains("decode-helper") })
  }

  /// The helper of a process, which is its only child.
  private func helper(of process: ThumbsProcess) async throws -> pid_t {
    var found: pid_t?
    _ = await eventually {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      // Of any number: they begin anew when the highest is given away.
      found = names.compactMap { pid_t($0) }.first { Self.parent(of: $0) == process.pid }
      return found != nil
    }
    return try #require(found, "no helper: \(process.said)")
  }

  /// What stands behind a process' name, which is in brackets and may hold blanks: its state, its parent …
  private static func status(of pid: pid_t) -> [Substring] {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    return text.split(separator: ")").last?.split(separator: " ") ?? []
  }

  private static func parent(of pid: pid_t) -> pid_t? { status(of: pid).dropFirst().first.flatMap { pid_t($0) } }

  /// Whether the process runs: whoever inherits one may leave its remains for a while.
  private static func isAlive(_ pid: pid_t) -> Bool { (status(of: pid).first ?? "Z") != "Z" }
}
