/// `thumbs cache`: what is there, and away with it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CacheCommandTests {
  private struct Stats: Decodable {
    let directory: String
    let thumbnails, sources, bytes, limitBytes, fileBytes, partialBytes: Int
  }

  private struct Removed: Decodable {
    let directory: String
    let dryRun: Bool?
    let removedThumbnails, removedBytes: Int
  }

  private struct Listed: Decodable {
    struct Made: Decodable {
      let box, fit, format: String
      let width, height, bytes: Int
    }
    let location, host, fetchedAt, format: String
    let width, height, bytes: Int
    let thumbnails: [Made]
  }

  private let bench: Bench

  init() throws { bench = try Bench() }

  private func decoded<Value: Decodable>(_ run: Run, _ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(Value.self, from: run.stdout)
  }

  private func lines<Value: Decodable>(_ run: Run, _ type: Value.Type = Value.self) throws -> [Value] {
    try run.lines.map { try JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
  }

  private func stats() async throws -> Stats {
    let run = try await bench.run("cache", "stats", "--json")
    #expect(run.status == 0 && run.stderr.isEmpty && run.lines.count == 1)
    return try decoded(run)
  }

  /// Two pictures in two sizes each.
  private func fill() async throws -> Int {
    if !FileManager.default.fileExists(atPath: bench.url("pictures").path) {
      _ = try bench.folder("pictures", pictures: 2)
    }
    let run = try await bench.run(
      "prefetch", "--query", "", "--provider", "folder:pictures", "--json", "--fit", "cover", "--size", "20x20",
      "--size", "30x30")
    return try run.summary().storedBytes
  }

  @Test func statsTellWhatIsThere() async throws {
    let bytes = try await fill()
    let first = try await stats()
    #expect(first.directory == "cache")
    #expect(first.thumbnails == 4 && first.sources == 2 && first.bytes == bytes && first.limitBytes == 1 << 30)
    #expect(first.fileBytes > bytes)

    let words = try await bench.run("cache", "stats")
    #expect(words.status == 0 && words.stderr.isEmpty)
    #expect(words.lines.prefix(2) == ["cache", "4 thumbnails of 2 pictures"])
    #expect(words.lines.allSatisfy { $0.count <= 80 })
  }

  @Test(arguments: ["pictures/", "./pictures"]) func removesWhatIsInAFolderHere(_ prefix: String) async throws {
    _ = try await fill()
    #expect(try await bench.process("cache", "remove", "--prefix", prefix).stderr.isEmpty)
    #expect(try await stats().thumbnails == 0)
  }

  @Test func clearLeavesNothing() async throws {
    let bytes = try await fill()
    let partial = try bench.folder("cache/partial")
    let name = String(repeating: "0", count: 32)
    try Data(count: 10).write(to: partial.appendingPathComponent("\(name).part"))
    let label = #"{"address":"AAAAAAAAAAAAAAAAAAAAAA==","etag":"x","total":20,"boot":"y"}"#
    try Data(label.utf8).write(to: partial.appendingPathComponent("\(name).json"))
    #expect(try await stats().partialBytes == 10)
    #expect(try await bench.run("cache", "stats").lines.contains("10 B of interrupted downloads to resume"))
    let clear = try await bench.run("cache", "clear", "--json")
    let cleared = try decoded(clear, Removed.self)
    #expect(clear.status == 0 && clear.lines.count == 1)
    #expect(cleared.removedThumbnails == 4 && cleared.removedBytes == bytes)
    #expect(cleared.directory == "cache")
    #expect(!FileManager.default.fileExists(atPath: partial.path))
    #expect(try await self.stats().thumbnails == 0)
    let again = try await bench.run("cache", "clear")
    #expect(again.lines == ["removed 0 thumbnails, 0 B, from cache"])
  }

  @Test func aCacheThatIsNotThereIsEmptyAndNotMade() async throws {
    #expect(try await stats().thumbnails == 0)
    for command in ["list", "clear", "prune --older-than 1d"] {
      let words = command.split(separator: " ").map(String.init)
      let run = try await bench.run(["cache"] + words)
      #expect(run.status == 0 && run.stderr.isEmpty, "\(command): \(run.stderr)")
    }
    #expect(!FileManager.default.fileExists(atPath: bench.cache.path))
  }

  @Test(arguments: ["stats", "list", "clear", "prune --older-than 1d"])
  func aFolderThatCannotBeUsedIsNamed(command: String) async throws {
    try Data("hello".utf8).write(to: bench.url("file"))
    let words = command.split(separator: " ").map(String.init)
    for folder in ["file", "file/below"] {
      let run = try await bench.run(["cache"] + words + ["--cache-dir", folder])
      expectComplaint(run, 73, "\(folder) cannot be used: Not a directory; choose another directory")
    }
  }

  @Test func listShowsPicturesByWordsAndOnePictureWithItsThumbnails() async throws {
    _ = try await fill()
    let all = try lines(try await bench.run("cache", "list", "--json"), Listed.self)
    #expect(all.count == 2 && all.allSatisfy { $0.location.hasPrefix("file://") && $0.host.isEmpty })
    let picture = try #require(all.first)
    #expect(picture.format == "jpeg" && picture.width == 160 && picture.height == 120)
    #expect(picture.thumbnails.map(\.box) == ["30x30", "20x20"] && picture.thumbnails[0].fit == "cover")
    #expect(picture.thumbnails[0].width == 30 && picture.thumbnails[0].bytes > 0)
    #expect(picture.fetchedAt.hasSuffix("Z"))

    let words = try await bench.run("cache", "list", "PICTURE", "1.jpg")
    #expect(words.status == 0 && words.lines.count == 2 && words.lines[0].hasPrefix("fetched"))
    #expect(words.lines[1].hasSuffix("picture%201.jpg"))
    let one = try await bench.run("cache", "list", "pictures/picture 1.jpg")
    #expect(one.lines.count == 4 && one.lines[2].contains("30x30 cover q80"))
    let none = try await bench.run("cache", "list", "https://example.org/a.jpg")
    #expect(none.status == 0 && none.lines.isEmpty && none.stderr.contains("nothing of that is stored"))
  }

  @Test func aWebPictureIsListedByItsURLWithoutItsSecrets() async throws {
    let origin = try Origin.picture()
    let list = Data("\(origin.url("/a.jpg"))?token=hunter2\n".utf8)
    _ = try await bench.run("prefetch", "--urls", "-", "--size", "20x20", input: .bytes(list))
    let run = try await bench.run("cache", "list", "\(origin.url("/a.jpg"))", "--json")
    let listed = try lines(run, Listed.self)
    #expect(listed.map(\.location) == ["\(origin.url("/a.jpg"))"] && !run.stdout.contains("hunter2".utf8))
    let exact = try await bench.run("cache", "list", "\(origin.url("/a.jpg"))?token=hunter2", "--json")
    #expect(exact.lines.count == 1)
  }

  @Test func pruneRemovesWhatIsAskedFor() async throws {
    let bytes = try await fill()
    try CacheFile(bench.cache).execute(
      "UPDATE source SET fetched_at = fetched_at - 86400 * 3 WHERE id = (SELECT source FROM thumbnail WHERE id = 1)")
    #expect(try await bench.run("cache", "prune", "--older-than", "7d").lines.first?.hasPrefix("removed 0 ") == true)
    let run = try await bench.run("cache", "prune", "--older-than", "48h", "--json")
    let old = try decoded(run, Removed.self)
    #expect(run.status == 0 && run.stderr.isEmpty && old.removedThumbnails == 2)
    #expect(try await stats().sources == 1)
    let rest = try decoded(try await bench.run("cache", "prune", "--older-than", "0", "--json"), Removed.self)
    #expect(rest.removedThumbnails == 2 && rest.removedBytes == bytes - old.removedBytes)
    #expect(try await stats().bytes == 0)
  }

  @Test func aLimitThatIsLoweredHoldsAfterTheNextRun() async throws {
    _ = try bench.folder("pictures", pictures: 130)
    let command = [
      "prefetch", "--query", "", "--provider", "folder:pictures", "--size", "160x120", "--format", "png", "--quiet",
      "--count", "130",
    ]
    #expect(try await bench.run(command).status == 0)
    let (limit, overhead) = (1_048_576, 1_179_648)
    #expect(try await stats().bytes > limit)
    #expect(try await bench.run(command + ["--disk-cache", "1MiB"]).status == 0)
    let after = try await stats()
    #expect(after.bytes <= limit && after.thumbnails > 0)
    #expect(after.fileBytes <= limit + overhead)
  }

  @Test func aCacheOfALaterVersionIsUsedAndAnotherMajorVersionsFileIsLeftAlone() async throws {
    _ = try await fill()
    let other = bench.cache.appendingPathComponent("thumbnails-v3.sqlite")
    try Data("of a later version".utf8).write(to: other)
    try CacheFile(bench.cache).execute("CREATE TABLE later (id); PRAGMA user_version = 99")
    for command in ["list", "prune --older-than 1d", "stats"] {
      let run = try await bench.run(["cache"] + command.split(separator: " ").map(String.init))
      #expect(run.status == 0 && run.stderr.isEmpty, "\(command): \(run.stderr)")
    }
    #expect(try await stats().thumbnails == 4)
    // Files of others with the names of the cache's stay.
    _ = try bench.folder("cache/dates", pictures: 1)
    let dates = ["dates of a trip to Norway, 2024 .dates", String(repeating: "0", count: 32) + ".dates"]
    for (name, text) in zip(dates, ["July", "thmdate2"]) {
      try Data(text.utf8).write(to: bench.url("cache/dates/\(name)"))
    }
    #expect(try await bench.run("cache", "clear").status == 0)
    #expect(bench.isFile("cache/dates/picture 0.jpg"))
    #expect(dates.map { bench.isFile("cache/dates/\($0)") } == [true, false])
    #expect(try Data(contentsOf: other) == Data("of a later version".utf8))
  }
}
