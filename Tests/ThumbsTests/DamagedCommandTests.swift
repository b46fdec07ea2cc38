/// `--damaged`, and what the reports say of it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DamagedCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
    let folder = try bench.folder("pictures", pictures: 1)
    let broken = try TestImages.bytes("broken/truncated-in-the-middle.jpg")
    try broken.write(to: folder.appendingPathComponent("broken.jpg"))
  }

  @Test func getShowsWhatCanBeReadAndSaysSo() async throws {
    let refused = try await bench.run("get", "pictures/broken.jpg", "--size", "40x30", "--output", "a.jpg")
    #expect(refused.status == 1 && refused.stderr.contains("--damaged accept"), "\(refused.stderr)")
    let words = try await bench.run(
      "get", "pictures/broken.jpg", "--size", "40x30", "--output", "a.jpg", "--damaged", "accept")
    #expect(words.status == 0 && words.stderr.contains("damaged"), "\(words.stderr)")
    #expect(FileManager.default.fileExists(atPath: bench.url("a.jpg").path))
  }

  @Test func prefetchMarksAndCountsThem() async throws {
    let run = try await bench.run(
      "prefetch", "--query", "", "--provider", "folder:pictures", "--size", "40x30", "--damaged", "accept", "--json")
    #expect(run.status == 0, "\(run.stderr)")
    #expect(run.lines.filter { $0.contains("\"status\":\"made\",\"damaged\":true") }.count == 1, "\(run.lines)")
    #expect(try run.lines.last?.contains("\"damaged\":1") == true && run.summary().stored == 1)
  }

  @Test func convertTakesThemForCurrentOnlyUnderTheSamePolicy() async throws {
    func convert(_ policy: String) async throws -> Run {
      try await bench.run("convert", "pictures", "--output", "out", "--size", "40x30", "--damaged", policy, "--json")
    }
    let made = try await convert("accept")
    #expect(made.status == 0 && made.lines.last?.contains("\"converted\":2") == true, "\(made.lines)")
    #expect(made.lines.last?.contains("\"damaged\":1") == true)
    let current = try await convert("accept")
    #expect(
      current.lines.last?.contains("\"current\":2") == true && current.lines.last?.contains("\"damaged\":1") == true)
    let refused = try await convert("refuse")
    #expect(refused.status == 1, "\(refused.lines)")
    #expect(
      refused.lines.last?.contains("\"current\":1") == true && refused.lines.last?.contains("\"failed\":1") == true)
  }
}
