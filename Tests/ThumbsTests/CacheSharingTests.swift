/// Several processes at one cache: some fill it, some prune, check and list it, some take it away.
///
/// Whoever fills it waits for a last picture that the test holds back, so that the others surely come meanwhile.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CacheSharingTests {
  private static let pictures = 120

  private let bench: Bench
  private let origin: Origin
  private let last = Gate()

  init() throws {
    bench = try Bench()
    origin = try Origin { [last] request in
      let answer = OriginResponse.picture
      return request.path == "/\(Self.pictures).jpg" ? answer.held(by: last) : answer
    }
  }

  private func prefetch(_ size: String) throws -> ThumbsProcess {
    let list = (1...Self.pictures).map { "\(origin.url("/\($0).jpg"))\n" }.joined()
    return try bench.start(
      ["prefetch", "--urls", "-", "--size", size, "--format", "png", "--json", "--jobs", "1"],
      input: .bytes(Data(list.utf8)))
  }

  private static func lines(_ text: String) -> Int { text.split(separator: "\n").count }

  @Test func processesThatFillPruneAndListAtOnceDoEachOtherNoHarm() async throws {
    let fillers = try ["100x75", "90x60"].map { try prefetch($0) }
    for filler in fillers { #expect(await filler.comes { printed, _ in !printed.isEmpty }) }
    var rounds = 0
    while rounds < 2 || rounds < 12 && fillers.contains(where: { Self.lines($0.printed) < Self.pictures - 1 }) {
      rounds += 1
      for command in ["prune --older-than 0 --json", "list --json", "stats --json"] {
        let run = try await bench.start(["cache"] + command.split(separator: " ").map(String.init)).run()
        #expect(run.status == 0 && run.stderr.isEmpty, "\(command): \(run.stderr)\(run.lines)")
      }
    }
    #expect(fillers.allSatisfy { !$0.hasEnded })
    last.open()
    for filler in fillers {
      let run = await filler.run()
      #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
      #expect(try run.summary().failed == 0)
    }
    #expect(try CacheFile(bench.cache).isWhole())
  }

  /// Ways to take a cache from somebody.
  enum Theft: CaseIterable {
    case clear, remove, replace
  }

  @Test(arguments: Theft.allCases) func aCacheThatIsTakenAwayMeanwhileIsMadeAgain(how: Theft) async throws {
    let filler = try prefetch("100x75")
    #expect(await filler.comes { printed, _ in Self.lines(printed) >= 20 } && !filler.hasEnded)
    try await take(how)
    last.open()
    let run = await filler.run()
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try run.summary().failed == 0)
    #expect(try CacheFile(bench.cache).isWhole())
    // What was taken away is made again, once.
    let again = try await prefetch("100x75").run()
    #expect(again.status == 0 && again.stderr.isEmpty)
    let summary = try await prefetch("100x75").run().summary()
    #expect(summary.hits == Self.pictures && summary.pictures == Self.pictures)
  }

  private func take(_ how: Theft) async throws {
    let away = bench.url("away")
    switch how {
    case .clear:
      #expect(try await bench.process("cache", "clear").status == 0)
    case .remove:
      // At once, as nobody else can come in between: whoever has it open may make it again meanwhile.
      try FileManager.default.moveItem(at: bench.cache, to: away)
      try FileManager.default.removeItem(at: away)
    case .replace:
      let other = try bench.folder("other")
      #expect(chmod(other.path, 0o700) == 0)
      try FileManager.default.moveItem(at: bench.cache, to: away)
      // Whoever has it open may have made it again already, and then that is the other one.
      try? FileManager.default.moveItem(at: other, to: bench.cache)
    }
  }
}
