import Foundation
import TestOrigin
import Testing

/// The options about helper processes, and what becomes of the processes when the command ends.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct IsolationCommandTests {
  private let bench: Bench
  /// A picture that libvips reads for ever.
  private static let endless = Data("P4\n10 60000 0000000000000000000000".utf8)

  init() throws { bench = try Bench() }

  /// A folder with a picture of each kind: read here, read in a helper, and never done.
  private func mixedFolder(withEndless: Bool = true) throws -> URL {
    let folder = try bench.folder("mixed", pictures: 1)
    for name in ["svg.svg", "bmp.bmp", "jpeg2000.jp2", "pdf.pdf", "jpeg-xl.jxl", "openexr.exr"] {
      try FileManager.default.copyItem(
        at: TestImages.url("formats/\(name)"), to: folder.appendingPathComponent(name))
    }
    if withEndless { try Self.endless.write(to: folder.appendingPathComponent("endless.pnm")) }
    return folder
  }

  @Test func aFolderIsDoneAndWhatHangsIsNamed() async throws {
    _ = try mixedFolder()
    let run = try await bench.run(
      "prefetch", "--query", "", "--provider", "folder:mixed", "--size", "50x50", "--json", "--helper-deadline", "2")
    #expect(run.status == 1, "\(run.stderr)")
    let pictures = try run.pictures()
    #expect(pictures.count == 8)
    #expect(pictures.filter { $0.status == "stored" }.count == 7)
    let failed = try #require(pictures.first { $0.status == "failed" })
    #expect(failed.id == "endless.pnm" && failed.error?.code == "decoder-failed")
    #expect(failed.error?.message.contains("--helper-deadline") == true)
  }

  @Test(arguments: [["--isolate", "off"], ["--safe-formats-only"], ["--isolate", "all", "--safe-formats-only"]])
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
    #expect(run.status == 1)
    #expect(run.complaints.count == 1 && run.stderr.contains("SVG") && run.stderr.contains("--isolate"))
    let allowed = try await bench.run("get", drawing, "--output", "a.png")
    #expect(allowed.status == 0, "\(allowed.stderr)")
    #expect(allowed.stderr.isEmpty)
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

  @Test func aHelperEndsWithTheCommandThatIsKilled() async throws {
    let process = try startEndless(memory: 505)
    let helper = try await helper(of: process, memory: 505)
    process.send(SIGKILL)
    _ = await process.result()
    #expect(await eventually { !Self.isAlive(helper) })
  }

  @Test func controlCEndsTheHelperToo() async throws {
    let process = try startEndless(memory: 506)
    let helper = try await helper(of: process, memory: 506)
    process.send(SIGINT)
    let run = await process.run()
    #expect(run.status == 130, "\(run.stderr)")
    #expect(await eventually { !Self.isAlive(helper) })
  }

  @Test(arguments: [
    (["--isolate", "none"], "--isolate"), (["--helper-memory", "1MiB"], "at least 64MiB"),
    (["--helper-deadline", "0"], "seconds"), (["--unsafe-from-web", "--safe-formats-only"], "exclude"),
    (["--unsafe-from-web", "--isolate", "off"], "exclude"),
  ])
  func wrongUsageIsSaid(_ options: [String], _ words: String) async throws {
    let run = try await bench.start(["get", "a.svg", "--output", "b.png"] + options).run()
    #expect(run.status == 64)
    #expect(run.complaints.count == 1 && run.stderr.contains(words), "\(run.stderr)")
  }

  @Test func theHelperIsNotForPeople() async throws {
    let run = try await bench.run("decode-helper", "1000000000", "20", "1")
    #expect(run.status == 64)
    #expect(run.complaints.count == 1 && run.stderr.contains("not for people"))
    #expect(try await !bench.run("--help").lines.contains { $0.contains("decode-helper") })
  }

  private func startEndless(memory: Int) throws -> ThumbsProcess {
    try Self.endless.write(to: bench.url("endless.pnm"))
    return try bench.start(
      ["get", "endless.pnm", "--output", "a.png", "--helper-deadline", "600", "--helper-memory", "\(memory)MiB"])
  }

  /// The helper of a process, once it is at work; told from others by its memory limit.
  private func helper(of process: ThumbsProcess, memory: Int) async throws -> pid_t {
    var found: pid_t?
    _ = await eventually {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      found = names.compactMap { pid_t($0) }.first { pid in
        let line = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)
        return line?.contains("\0decode-helper\0\(memory << 20)\0") == true
      }
      return found != nil
    }
    return try #require(found, "no helper: \(process.said)")
  }

  /// Whether the process runs: whoever inherits one may leave its remains for a while.
  private static func isAlive(_ pid: pid_t) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
    return text.split(separator: ")").last?.first { $0 != " " } != "Z"
  }
}
