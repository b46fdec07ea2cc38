/// The command where it may open only few files.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DescriptorLimitTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private func run(_ limit: Int, _ arguments: [String], input: ThumbsProcess.Input = .nothing) async throws -> Run {
    // What it inherits of the test's own files would count, too.
    let closing = "for file in /proc/$$/fd/*; do ((${file##*/} > 2)) && eval \"exec ${file##*/}>&-\"; done"
    let launcher = ["/bin/bash", "-c", "\(closing); ulimit -n \(limit) && exec \"$@\"", "bash"]
    return try await bench.start(arguments, input: input, launcher: launcher).run()
  }

  @Test(arguments: Thoroughness.cases([32, 64], of: [32, 40, 64]))
  func withFewFilesLessIsDoneAtOnceAndNothingFails(limit: Int) async throws {
    let folder = try bench.folder("pictures", pictures: 90)
    // Longer than what is held in memory, so that each has a file while it waits.
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let body = picture + [UInt8](repeating: 0, count: 300 << 10)
    let origin = try Origin { _ in .ok(Data(body), type: "image/jpeg") }
    let urls = (0..<90).map { origin.url("/\($0).jpg").absoluteString }.joined(separator: "\n")
    try Data(urls.utf8).write(to: bench.url("urls.txt"))

    let search = try await run(limit, ["prefetch", "--query", "", "--provider", "folder:\(folder.path)", "--json"])
    #expect(try search.summary().stored == 90, "\(search.stderr)")
    let list = try await run(limit, ["prefetch", "--urls", "urls.txt", "--json"])
    #expect(try list.summary().stored == 90, "\(list.stderr)")
    let converted = try await run(limit, ["convert", "pictures", "--output", "small", "--json"])
    #expect(try converted.conversions().summary.converted == 90, "\(converted.stderr)")
    let lines = (0..<90).map { "{\"path\":\"\(folder.path)/picture \($0).jpg\"}" }.joined(separator: "\n")
    let worker = try await run(limit, ["worker"], input: .bytes(Data(lines.utf8)))
    #expect(worker.lines.count { $0.contains(#""status":"ok""#) } == 90, "\(worker.stderr)")
  }

  @Test func tooFewFilesAreSaidWithTheNumberThatIsNeeded() async throws {
    _ = try bench.folder("pictures", pictures: 1)
    let run = try await run(16, ["prefetch", "--query", "", "--provider", "folder:pictures"])
    expectComplaint(run, 64, "may open 16 files and sockets, and needs ", "ulimit -n")
  }
}
