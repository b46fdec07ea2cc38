import Foundation
import TestOrigin
import Testing

/// Several processes at one cache: some fill it, some prune, check and list it, some take it away.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CacheSharingTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
    _ = try bench.folder("pictures", pictures: 120)
  }

  private func prefetch(_ size: String) -> [String] {
    [
      "prefetch", "--query", "", "--provider", "folder:pictures", "--size", size, "--format", "png", "--pages", "9",
      "--json", "--jobs", "1",
    ]
  }

  @Test func processesThatFillPruneAndCheckAtOnceDoEachOtherNoHarm() async throws {
    let fillers = try [prefetch("100x75"), prefetch("90x60")].map { try bench.start($0) }
    var rounds = 0
    while fillers.contains(where: { !$0.printed.contains("summary") && !$0.hasEnded }), rounds < 12 {
      rounds += 1
      for command in ["prune --to 400k --json", "verify --json", "list --json", "stats --json"] {
        let run = try await bench.start(["cache"] + command.split(separator: " ").map(String.init)).run()
        #expect(run.status == 0 && run.stderr.isEmpty, "\(command): \(run.stderr)\(run.lines)")
      }
    }
    for filler in fillers {
      let run = await filler.run()
      #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
      #expect(try run.summary().failed == 0)
    }
    #expect(rounds > 0)
    let verified = try await bench.run("cache", "verify")
    #expect(verified.status == 0 && verified.lines.last == "all is well", "\(verified.lines)")
  }

  @Test(arguments: ["clear", "remove", "replace"])
  func aCacheThatIsTakenAwayMeanwhileIsMadeAgain(how: String) async throws {
    let filler = try bench.start(prefetch("100x75"))
    _ = await eventually(within: .seconds(60)) { filler.printed.split(separator: "\n").count >= 20 }
    switch how {
    case "clear": #expect(try await bench.run("cache", "clear").status == 0)
    case "remove": try FileManager.default.removeItem(at: bench.cache)
    default:
      let other = bench.url("other")
      try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
      try FileManager.default.moveItem(at: bench.cache, to: bench.url("away"))
      try FileManager.default.moveItem(at: other, to: bench.cache)
    }
    let run = await filler.run()
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try run.summary().failed == 0)
    let verified = try await bench.run("cache", "verify")
    #expect(verified.status == 0, "\(verified.lines)")
    // What was taken away is made again, once.
    let again = try await bench.start(prefetch("100x75")).run()
    #expect(again.status == 0 && again.stderr.isEmpty)
    let last = try await bench.start(prefetch("100x75")).run()
    let summary = try last.summary()
    #expect(summary.hits == summary.pictures && summary.pictures > 0)
  }
}
