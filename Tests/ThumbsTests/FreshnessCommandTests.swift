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
  private func prefetch(_ options: String..., json: Bool = true) async throws -> Run {
    let list = (1...3).map { "\(origin.url("/\($0).jpg"))" }.joined(separator: "\n")
    try Data(list.utf8).write(to: bench.url("list.txt"))
    let arguments = ["prefetch", "--urls", "list.txt", "--size", "40x30"] + (json ? ["--json"] : []) + options
    return try await bench.start(arguments).run()
  }

  private var asked: Int { origin.requests.count }

  @Test func whatIsFreshIsNotAskedAboutUnlessTheUserSaysSo() async throws {
    #expect(try await prefetch().summary().stored == 3)
    #expect(try await prefetch().pictures().map(\.status) == ["disk", "disk", "disk"])
    #expect(asked == 3)
    let refreshed = try await prefetch("--refresh")
    #expect(refreshed.status == 0 && refreshed.stderr.isEmpty)
    #expect(try refreshed.pictures().map(\.status) == ["revalidated", "revalidated", "revalidated"])
    let summary = try refreshed.summary()
    #expect(summary.hits == 3 && summary.revalidated == 3 && summary.stored == 0 && summary.downloadedBytes == 0)
    #expect(asked == 6)
    #expect(try await prefetch("--refresh").summary().revalidated == 3)
    #expect(asked == 9)
    let words = try await prefetch("--refresh", json: false)
    #expect(words.lines.first?.contains("3 from the cache (3 confirmed by their servers)") == true, "\(words.lines)")
  }

  @Test func whatMayNotBeStoredIsNotSaidToBe() async throws {
    server.control.withLock { $0 = "no-store" }
    for _ in 0..<2 {
      let run = try await prefetch()
      #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
      #expect(try run.pictures().map(\.status) == ["made", "made", "made"])
      let summary = try run.summary()
      #expect(summary.made == 3 && summary.stored == 0 && summary.hits == 0 && summary.storedBytes == 0)
    }
    #expect(asked == 6)
    let words = try await prefetch(json: false)
    #expect(
      words.lines.first?.contains(": 3 made (3 of them not stored), 0 from the cache, ") == true, "\(words.lines)")
  }

  @Test func aServerThatIsDownLeavesWhatIsStoredGood() async throws {
    server.control.withLock { $0 = "max-age=0" }
    _ = try await prefetch()
    server.status.withLock { $0 = 503 }
    origin.stop()
    let run = try await prefetch()
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try run.pictures().map(\.status) == ["stale", "stale", "stale"])
    #expect(try run.summary().stale == 3)
    let words = try await prefetch(json: false)
    #expect(words.lines.first?.contains("(3 out of date, their servers out of reach)") == true, "\(words.lines)")
    let refreshed = try await prefetch("--refresh")
    #expect(refreshed.status == 1)
    #expect(try refreshed.pictures().allSatisfy { $0.error?.code == "unreachable" })
  }

  @Test func whatMayBeUsedMeanwhileIsAskedAboutBeforeTheRunEnds() async throws {
    server.control.withLock { $0 = "max-age=0, stale-while-revalidate=3600" }
    _ = try await prefetch()
    let run = try await prefetch()
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    #expect(try run.pictures().map(\.status) == ["stale", "stale", "stale"])
    #expect(try run.summary().stale == 3)
    #expect(asked == 6)
    let words = try await prefetch(json: false)
    #expect(words.lines.first?.contains("(3 out of date, revalidated since)") == true, "\(words.lines)")
    #expect(asked == 9)
    let single = try await bench.run("get", "\(origin.url("/1.jpg"))", "--size", "40x30", "--output", "one.jpg")
    #expect(single.status == 0 && asked == 10)
    #expect(try await prefetch("--refresh").summary().revalidated == 3)
  }

  @Test func offlineNothingIsDownloaded() async throws {
    let missed = try await prefetch("--offline")
    #expect(missed.status == 1 && missed.stderr.isEmpty)
    #expect(try missed.pictures().allSatisfy { $0.error?.code == "offline-miss" })
    let spoken = try await prefetch("--offline", json: false)
    #expect(spoken.complaints.count == 3)
    #expect(spoken.complaints.allSatisfy { $0.contains("not in the cache") && $0.contains("--offline") })
    expectPlain(spoken)
    #expect(asked == 0)
    server.control.withLock { $0 = "no-cache" }
    _ = try await prefetch()
    let hit = try await prefetch("--offline")
    #expect(hit.status == 0)
    #expect(try hit.pictures().map(\.status) == ["disk", "disk", "disk"])
    #expect(asked == 3)
  }

  @Test func getFindsWhatPrefetchHasStoredWhereTheOutputsNameAsksForThatFormat() async throws {
    _ = try await prefetch()
    let stored = asked
    for option in [["--offline"], []] {
      let get = ["get", "\(origin.url("/1.jpg"))", "--size", "40x30", "--output", "one.jpg"]
      let run = try await bench.start(get + option).run()
      #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    }
    #expect(asked == stored)
    let other = ["get", "\(origin.url("/1.jpg"))", "--size", "40x30", "--output", "one.webp", "--offline"]
    expectComplaint(try await bench.start(other).run(), 1, "not in the cache")
  }

  @Test func offlineAFolderIsReadAndASearchIsRefused() async throws {
    _ = try bench.folder("pictures", pictures: 2)
    let folder = try await bench.run(
      "prefetch", "--query", "", "--provider", "folder:pictures", "--offline", "--json", "--size", "20x20")
    #expect(folder.status == 0)
    #expect(try folder.summary().stored == 2)
    let search = try await bench.run(
      "prefetch", "--query", "lake", "--provider", "unsplash:\(origin.url(""))", "--offline",
      environment: ["UNSPLASH_ACCESS_KEY": "a-key-of-some-length"])
    expectComplaint(search, 69, "--offline", "folder:PATH")
    #expect(asked == 0)
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
    server.status.withLock { $0 = nil }
    #expect(try await prefetch("--refresh").summary().stored == 3)
    #expect(asked == 6)
  }

  @Test func getRemembersWhatIsNotThereAsWell() async throws {
    server.status.withLock { $0 = 404 }
    for number in 1...5 {
      for isAgain in [false, true] {
        let run = try await bench.run("get", "\(origin.url("/\(number).jpg"))", "--output", "a.jpg")
        #expect(run.status == 1 && run.stderr.contains("remembered until") == isAgain, "\(run.stderr)")
      }
    }
    #expect(asked == 5)
  }

  @Test func getTakesTheSameOptions() async throws {
    let url = "\(origin.url("/a.jpg"))"
    expectComplaint(try await bench.run("get", url, "--offline", "--output", "a.jpg"), 1, "not in the cache")
    for option in [[], ["--refresh"], ["--offline"]] {
      let run = try await bench.start(["get", url, "--output", "a.jpg"] + option).run()
      #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
      #expect(try Data(contentsOf: bench.url("a.jpg")).starts(with: [0xFF, 0xD8]))
    }
    #expect(origin.requests.map { $0.request.value(of: "If-None-Match") } == [nil, "\"one\""])
    let verbose = try await bench.run("get", url, "--refresh", "--verbose", "--output", "a.jpg")
    #expect(verbose.stderr.contains("not changed, says the server"))
  }
}
