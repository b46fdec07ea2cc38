@testable import CodecTestSupport
@testable import thumbs

/// The options about helper processes, and what becomes of the processes when the command ends.
@Suite(.serialized, .timeLimit(.minutes(5))) struct IsolationCommandTests {
  private let bench: Bench
  /// A drawing that takes weeks.
  private static let endless = Data(HelperBench.endless)

  init() throws { bench = try Bench() }

  /// A folder with a picture of each kind: read here, read in a helper, and never done.
  private func mixedFolder() throws {
    let folder = try bench.folder("mixed", pictures: 1)
    for name in ["svg.svg", "bmp.bmp", "jpeg2000.jp2", "pdf.pdf", "jpeg-xl.jxl", "openexr.exr"] {
      try FileManager.default.copyItem(at: TestImages.url("formats/\(name)"), to: folder.appendingPathComponent(name))
    }
    try Self.endless.write(to: folder.appendingPathComponent("endless.svg"))
  }

  /// For as long as a decode may take; DecodeSandboxTests move that limit.
  @Test(.beforeARelease) func aFolderIsDoneAndWhatHangsIsNamed() async throws {
    try mixedFolder()
    let run = try await bench.run(
      "prefetch", "--query", "", "--provider", "folder:mixed", "--size", "50x50", "--fit", "cover", "--json")
    #expect(run.status == 1, "\(run.stderr)")
    let pictures = try run.pictures()
    #expect(pictures.count == 8)
    #expect(pictures.filter { $0.status == "stored" }.count == 7)
    let failed = try #require(pictures.first { $0.status == "failed" })
    #expect(failed.id == "endless.svg" && failed.error?.code == "decoder-failed")
    #expect(failed.error?.message.hasSuffix("or needs more time") == true, "\(failed.error?.message ?? "")")
  }

  @Test func theBudgetRaisesWhatAHelperMayTake() throws {
    func limit(_ budget: String) throws -> Int {
      try ThumbnailPipeline.Configuration(MemoryOption.parse(["--memory-budget", budget])).isolation.memoryLimit.bytes
    }
    let standard = DecodeIsolation().memoryLimit.bytes
    #expect(try limit("32MiB") == standard && limit("\(standard + 1)") == standard + 1)
    let deadline = try ThumbnailPipeline.Configuration(HelperDeadlineOption.parse(["--helper-deadline", "0.5"]))
    #expect(deadline.isolation.deadline == .milliseconds(500))
  }

  @Test func drawingsAreRefusedInProcess() async throws {
    let lines = Data("{\"path\":\"\(TestImages.url("formats/svg.svg").path)\"}\n".utf8)
    func worker(_ options: String...) async throws -> WorkerResponses {
      try WorkerResponses(await bench.run(["worker"] + options, input: .bytes(lines)))
    }
    let refused = try await worker("--isolate", "off")
    #expect(refused[1]?.error?.message.contains("SVG") == true)
    #expect(try await worker()[1]?.status == "ok")
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
    let process = try bench.start(["get", "endless.svg", "--output", "a.png"])
    let helper = try await helper(of: process)
    process.send(signal)
    #expect(await process.run().status == 128 + signal)
    // Real time: the kernel takes a moment to end the helper.
    #expect(await eventually { !Self.isAlive(helper) })
  }

  @Test func theHelperIsNotForPeople() async throws {
    let run = try await bench.process("decode-helper", "1000000000", "20", "1")
    #expect(run.status == 64 && run.complaints.count == 1 && run.stderr.contains("not for people"), "\(run.stderr)")
    #expect(try await !bench.run("--help").lines.contains { $0.contains("decode-helper") })
  }

  /// The helper of a process, which is its only child.
  private func helper(of process: ThumbsProcess) async throws -> pid_t {
    var found: pid_t?
    // Real time: that it has started is seen by looking.
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
