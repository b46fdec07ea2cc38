/// `--refresh` and `--offline` of `thumbs prefetch` and `thumbs get`.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FreshnessCommandTests {
  private let bench: Bench
  private let origin: Origin

  private final class Server: Sendable {
    /// What is answered in place of the picture.
    let status = Mutex<Int?>(nil)
    let control = Mutex("max-age=3600")
  }

  private let server: Server

  init() throws {
    bench = try Bench()
    let server = Server()
    self.server = server
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    origin = try Origin { request in
      if let status = server.status.withLock({ $0 }) { return .status(status) }
      let headers = [("ETag", "\"one\""), ("Cache-Control", server.control.withLock { $0 })].map {
        (name: $0.0, value: $0.1)
      }
      return request.value(of: "If-None-Match") == "\"one\""
        ? OriginResponse(status: 304, headers: headers)
        : OriginResponse(status: 200, headers: headers, body: Array(picture))
    }
  }

  /// Prefetches a list of three pictures of the origin.
  private func prefetch(_ options: [String] = [], json: Bool = true) async throws -> Run {
    let list = (1...3).map { "\(origin.url("/\($0).jpg"))" }.joined(separator: "\n")
    try Data(list.utf8).write(to: bench.url("list.txt"))
    let arguments = ["prefetch", "--urls", "list.txt", "--size", "40x30"] + (json ? ["--json"] : []) + options
    return try await bench.run(arguments)
  }

  private var asked: Int { origin.requests.count }

  /// What servers say of the pictures of a first run, and what comes of the runs behind it.
  struct Row: Sendable, CustomTestStringConvertible {
    let control: String
    var options: [String] = []
    var isDown = false
    let status: String
    /// The requests of each run.
    var requests = 0
    let words: String

    var testDescription: String { "\(control) \(options.joined()) \(isDown ? "down" : "")" }
  }

  @Test(arguments: [
    Row(control: "max-age=3600", status: "disk", words: ": 0 made, 3 from the cache, "),
    Row(
      control: "max-age=3600", options: ["--refresh"], status: "revalidated", requests: 3,
      words: "3 from the cache (3 confirmed by their servers)"),
    Row(control: "no-cache", options: ["--offline"], status: "disk", words: "3 from the cache, "),
    Row(
      control: "no-store", status: "made", requests: 3, words: ": 3 made (3 of them not stored), 0 from the cache, "),
    Row(control: "max-age=0", isDown: true, status: "stale", words: "(3 out of date, their servers out of reach)"),
    Row(
      control: "max-age=0, stale-while-revalidate=3600", status: "stale", requests: 3,
      words: "(3 out of date, revalidated since)"),
  ])
  func whatIsStoredIsUsedAsServersAndOptionsSay(row: Row) async throws {
    server.control.withLock { $0 = row.control }
    _ = try await prefetch()
    if row.isDown { origin.stop() }
    let run = try await prefetch(row.options)
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    #expect(try run.pictures().map(\.status) == [row.status, row.status, row.status])
    let summary = try run.summary()
    func count(_ status: String) -> Int { row.status == status ? 3 : 0 }
    #expect(summary.hits == 3 - count("made") && summary.made == count("made") && summary.stored == 0)
    #expect(summary.revalidated == count("revalidated") && summary.stale == count("stale"))
    #expect(summary.storedBytes == 0 && (summary.downloadedBytes == 0) == (row.status != "made"))
    #expect(asked == 3 + row.requests)
    let words = try await prefetch(row.options, json: false)
    #expect(words.lines.first?.contains(row.words) == true, "\(words.lines)")
    #expect(asked == 3 + 2 * row.requests)
  }

  @Test func offlineNothingIsDownloaded() async throws {
    let missed = try await prefetch(["--offline"])
    #expect(missed.status == 1 && missed.stderr.isEmpty)
    #expect(try missed.pictures().allSatisfy { $0.error?.code == "offline-miss" })
    let spoken = try await prefetch(["--offline"], json: false)
    #expect(spoken.complaints.count == 3)
    #expect(spoken.complaints.allSatisfy { $0.contains("not in the cache") && $0.contains("--offline") })
    expectPlain(spoken)
    #expect(asked == 0)
  }

  @Test func getFindsWhatPrefetchHasStoredWhereTheOutputsNameAsksForThatFormat() async throws {
    _ = try await prefetch()
    let stored = asked
    for option in [["--offline"], []] {
      let get = ["get", "\(origin.url("/1.jpg"))", "--size", "40x30", "--output", "one.jpg"]
      let run = try await bench.run(get + option)
      #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    }
    #expect(asked == stored)
    let other = ["get", "\(origin.url("/1.jpg"))", "--size", "40x30", "--output", "one.webp", "--offline"]
    expectComplaint(try await bench.run(other), 1, "not in the cache")
  }

  @Test func aPictureThatIsNotThereIsAskedForOnce() async throws {
    server.status.withLock { $0 = 404 }
    for _ in 0..<2 {
      let run = try await prefetch()
      #expect(run.status == 1)
      #expect(try run.pictures().allSatisfy { $0.error?.code == "not-found" })
    }
    #expect(asked == 3)
    let spoken = try await prefetch(json: false)
    #expect(spoken.complaints.allSatisfy { $0.contains("remembered until") && $0.contains("--refresh") })
    for isAgain in [false, true] {
      let get = try await bench.run("get", "\(origin.url("/4.jpg"))", "--output", "a.jpg")
      #expect(get.status == 1 && get.stderr.contains("remembered until") == isAgain, "\(get.stderr)")
    }
    server.status.withLock { $0 = nil }
    #expect(try await prefetch(["--refresh"]).summary().stored == 3)
    #expect(asked == 7)
  }

  @Test func getTakesTheSameOptions() async throws {
    let url = "\(origin.url("/a.jpg"))"
    expectComplaint(try await bench.run("get", url, "--offline", "--output", "a.jpg"), 1, "not in the cache")
    for option in [[], ["--refresh"], ["--offline"]] {
      let run = try await bench.run(["get", url, "--output", "a.jpg"] + option)
      #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
      #expect(try Data(contentsOf: bench.url("a.jpg")).starts(with: [0xFF, 0xD8]))
    }
    #expect(origin.requests.map { $0.request.value(of: "If-None-Match") } == [nil, "\"one\""])
    server.control.withLock { $0 = "max-age=0, stale-while-revalidate=3600" }
    let verbose = try await bench.process("get", url, "--refresh", "--verbose", "--output", "a.jpg")
    #expect(verbose.stderr.contains("not changed, says the server"))
    // What may be used meanwhile is revalidated before the run ends.
    #expect(try await bench.run("get", url, "--output", "a.jpg").status == 0 && asked == 4)
  }
}
