import Foundation
import TestOrigin
import Testing

/// `thumbs prefetch --simulate`: scrolls that are played.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SimulationCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
    // Four rows down; with two rows in view, the rows 0 to 5 are seen.
    try Data("# seconds row\n0 0\n0.2 0\n\n0.6 4\n".utf8).write(to: bench.url("scroll.txt"))
  }

  /// A cell, as `--json` tells of it.
  private struct Cell: Decodable {
    let item: Int
    let url: String
    let inView: Double
    let ready: Double?
    let error: String?
    let firstScreen: Bool
  }

  private struct Figures: Decodable {
    let trace, provider: String
    let cells, cellsAfterFirstScreen, failed, skipped, downloadedBytes, unseenBytes, peakMemoryBytes: Int
    let readyOnSight, waitP50Ms, waitP95Ms, waitP99Ms, completeAfterRestMs, seconds: Double
    let firstScreenMs: Double?
  }

  private func cells(_ run: Run) throws -> [Cell] {
    try run.lines.dropLast().map { try JSONDecoder().decode(Cell.self, from: Data($0.utf8)) }
  }

  private func figures(_ run: Run) throws -> Figures {
    let line = try #require(run.lines.last, "nothing on stdout; stderr: \(run.stderr)")
    return try #require(try JSONDecoder().decode([String: Figures].self, from: Data(line.utf8))["summary"])
  }

  /// Starts a scroll through small cells, two side by side and two rows in view.
  private func start(
    _ trace: String, _ source: [String], _ more: String..., environment: [String: String] = [:],
    input: ThumbsProcess.Input = .nothing, stderr: ThumbsProcess.Output = .captured
  ) throws -> ThumbsProcess {
    let grid = ["--cell", "20x20", "--scale", "1", "--rows", "2", "--columns", "2"]
    return try bench.start(
      ["prefetch", "--simulate", trace] + source + grid + more, environment: environment, input: input, stderr: stderr)
  }

  private func folder(_ count: Int) throws -> [String] {
    _ = try bench.folder("pictures", pictures: count)
    return ["--query", "", "--provider", "folder:pictures"]
  }

  private func unsplash(_ origin: UnsplashOrigin) -> (source: [String], environment: [String: String]) {
    (
      ["--query", "lake", "--provider", "unsplash", "--provider-url", "\(origin.baseURL)"],
      ["UNSPLASH_ACCESS_KEY": origin.accessKey]
    )
  }

  private func lakes(_ count: Int, body: [UInt8]? = nil) throws -> [OriginPicture] {
    let body = try body ?? [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
    return (0..<count).map { OriginPicture(id: "p\($0)", description: "a lake", body: body) }
  }

  @Test func saysInWordsWhatWasThereOnSight() async throws {
    let run = try await start("scroll.txt", folder(30), "--as-fast-as-ready").run()
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    #expect(run.lines.first == "scrolled scroll.txt through the pictures from folder")
    #expect(run.lines.dropFirst().first == "cells seen: 12, 8 of them after the first screen")
    for name in [
      "ready on sight", "wait", "first screen complete", "last screen complete", "downloaded", "peak memory",
    ] {
      #expect(run.lines.contains { $0.hasPrefix("\(name): ") }, "\(name)")
    }
    let quiet = try await start("scroll.txt", ["--query", "", "--provider", "folder:pictures"], "--quiet").run()
    #expect(quiet.status == 0 && quiet.stdout.isEmpty)
  }

  @Test func tellsOfEachCellInJSON() async throws {
    let origin = try UnsplashOrigin(pictures: lakes(40))
    let (source, environment) = unsplash(origin)
    let run = try await start("scroll.txt", source, "--as-fast-as-ready", "--json", environment: environment).run()
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    let cells = try cells(run)
    #expect(cells.map(\.item) == Array(0..<12))
    #expect(cells.allSatisfy { $0.ready != nil && $0.error == nil && $0.inView >= 0 })
    #expect(cells.filter(\.firstScreen).map(\.item) == [0, 1, 2, 3])
    #expect(cells[7].url.contains("/images/photo-p7?"))
    let figures = try figures(run)
    #expect(figures.trace == "scroll.txt" && figures.provider == "unsplash")
    #expect(figures.cells == 12 && figures.cellsAfterFirstScreen == 8)
    #expect(figures.failed == 0 && figures.skipped == 0)
    #expect((0...1).contains(figures.readyOnSight) && figures.waitP50Ms <= figures.waitP99Ms)
    let size = try TestImages.bytes("formats/jpeg-420.jpg").count
    #expect(figures.downloadedBytes - figures.unseenBytes == 12 * size)
    #expect(figures.peakMemoryBytes > 0 && figures.seconds > 0 && figures.firstScreenMs != nil)

    // What is stored is not downloaded again.
    let first = origin.imageRequests.count
    let again = try await start("scroll.txt", source, "--as-fast-as-ready", "--json", environment: environment).run()
    #expect(try self.cells(again).count == 12)
    let seen = Set((0..<12).map { "/images/photo-p\($0)" })
    #expect(origin.imageRequests.dropFirst(first).allSatisfy { !seen.contains($0.path) })
  }

  @Test func playsInRealTime() async throws {
    let run = try await start("scroll.txt", folder(30), "--json").run()
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    // A machine that is busy may skip rows, but not those where the scroll begins and rests.
    #expect(try Set(cells(run).map(\.item)).isSuperset(of: [0, 1, 2, 3, 8, 9, 10, 11]))
    #expect(try figures(run).seconds >= 0.6)
  }

  @Test func drawsTheTimeline() async throws {
    let run = try await start(
      "scroll.txt", folder(30), "--as-fast-as-ready", "--sheet", "scroll.html", "--quiet"
    ).run()
    #expect(run.status == 0 && run.stdout.isEmpty && run.stderr.isEmpty, "\(run.stderr)")
    let page = try String(contentsOf: bench.url("scroll.html"), encoding: .utf8)
    #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
    #expect(page.contains("<td>12, 8 of them after the first screen</td>"))
    #expect(Markup.problem(in: page) == nil)
    let drawing = page.components(separatedBy: "<svg")
    // A line for each cell, in the colour of those that were there on sight or of the late ones.
    let lines = ["#5b5", "#d22"].map { (drawing.last ?? "").components(separatedBy: "stroke=\"\($0)\"").count - 1 }
    #expect(drawing.count == 2 && lines.reduce(0, +) == 12, "\(lines)")

    let nowhere = try await start(
      "scroll.txt", ["--query", "", "--provider", "folder:pictures"], "--as-fast-as-ready", "--sheet", "none/a.html"
    ).run()
    #expect(nowhere.status == 73 && nowhere.complaints.count == 1 && nowhere.stderr.contains("none/a.html"))
  }

  @Test func theNameOfATraceMovesNoCursorAndIsNoMarkup() async throws {
    let name = "\u{1B}[31m<b>.txt"
    try Data("0 0\n".utf8).write(to: bench.url(name))
    let run = try await start(name, folder(4), "--sheet", "scroll.html").run()
    #expect(run.lines.first == "scrolled  [31m<b>.txt through the pictures from folder", "\(run.stderr)")
    let page = try String(contentsOf: bench.url("scroll.html"), encoding: .utf8)
    #expect(page.contains("[31m&lt;b&gt;.txt") && !page.contains("\u{1B}") && Markup.problem(in: page) == nil)
  }

  @Test func readsATraceFromAPipe() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let text = Array("0 0\n0.1 2\n".utf8)
    #expect(write(ends[1], text, text.count) == text.count)
    close(ends[1])
    defer { close(ends[0]) }
    let run = try await start(
      "/dev/stdin", folder(20), "--as-fast-as-ready", "--json", input: .descriptor(ends[0])
    ).run()
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try cells(run).map(\.item) == Array(0..<8))
  }

  @Test func aScrollBeyondTheLastPictureRestsAtIt() async throws {
    let run = try await start("jump", folder(9), "--as-fast-as-ready", "--json").run()
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    #expect(try cells(run).map(\.item) == Array(0..<9))
  }

  @Test func nothingFoundIsSaidAndNothingScrolled() async throws {
    // Nobody would scroll for an hour through nothing.
    try Data("0 0\n3600 9\n".utf8).write(to: bench.url("long.txt"))
    _ = try bench.folder("pictures", pictures: 1)
    let run = try await start("long.txt", ["--query", "xyzzy", "--provider", "folder:pictures"]).run()
    #expect(run.status == 0 && run.stdout.isEmpty)
    #expect(
      run.complaints == [
        "thumbs: the folder pictures has no picture for “xyzzy”; try other words, or --query \"\" for all"
      ])
  }

  @Test func picturesThatFailAreCounted() async throws {
    let good = try lakes(4)
    let bad = (4..<9).map { OriginPicture(id: "p\($0)", description: "a lake", body: Array("no picture".utf8)) }
    let origin = try UnsplashOrigin(pictures: good + bad)
    let (source, environment) = unsplash(origin)
    let run = try await start(
      "scroll.txt", source, "--as-fast-as-ready", "--json", "--sheet", "scroll.html", environment: environment
    ).run()
    #expect(run.status == 1, "\(run.stderr)")
    #expect(try cells(run).map { $0.error == nil } == (0..<9).map { $0 < 4 })
    #expect(try cells(run).allSatisfy { ($0.ready == nil) == ($0.error != nil) })
    #expect(try figures(run).failed == 5)
    #expect(Markup.problem(in: try String(contentsOf: bench.url("scroll.html"), encoding: .utf8)) == nil)

    let told = try await start("scroll.txt", source, "--as-fast-as-ready", environment: environment).run()
    #expect(told.status == 1 && told.lines.contains("failed: 5"))
    #expect(told.complaints.count == 5, "\(told.stderr)")
    #expect(told.complaints.allSatisfy { $0.contains("/images/photo-p") })
  }

  @Test func howFarItIsStandsOnTheTerminal() async throws {
    let gate = Gate()
    defer { gate.open() }
    let origin = try UnsplashOrigin(pictures: lakes(4)) { $0 == "p3" ? gate : nil }
    let (source, environment) = unsplash(origin)
    let terminal = try #require(PseudoTerminal(columns: 100))
    let process = try start("scroll.txt", source, environment: environment, stderr: .descriptor(terminal.end))
    terminal.closeEnd()
    #expect(await eventually(within: .seconds(30)) { terminal.text.contains("scrolling scroll.txt  3  ") })
    gate.open()
    let run = await process.run()
    #expect(run.status == 0 && run.lines.first == "scrolled scroll.txt through the pictures from unsplash")
    #expect(await eventually { terminal.isAtEnd })
    #expect(terminal.screen.isEmpty, "\(terminal.screen)")
  }

  @Test func aCacheThatCannotBeUsedIsSaid() async throws {
    try Data().write(to: bench.url("file"))
    let run = try await start("scroll.txt", folder(9), "--as-fast-as-ready", "--json", "--cache-dir", "file").run()
    #expect(run.status == 1 && run.complaints.count == 1 && run.stderr.contains("going on without the disk cache"))
    #expect(try cells(run).map(\.item) == Array(0..<9))
  }

  @Test func aSourceThatIsDownEndsWith69() async throws {
    let origin = try UnsplashOrigin(pictures: lakes(3))
    origin.origin.stop()
    let (source, environment) = unsplash(origin)
    let run = try await start("scroll.txt", source, environment: environment).run()
    #expect(run.status == 69 && run.stdout.isEmpty && run.complaints.count == 1, "\(run.stderr)")
    #expect(run.stderr.contains("unsplash cannot be reached"))
  }

  @Test func aSourceThatStopsHalfWayLeavesAReport() async throws {
    let origin = try UnsplashOrigin(pictures: lakes(40), hourlyLimit: 1)
    let (source, environment) = unsplash(origin)
    let run = try await start(
      "scroll.txt", source, "--as-fast-as-ready", "--json", "--per-page", "8", environment: environment
    ).run()
    #expect(run.status == 1 && run.complaints.count == 1, "\(run.stderr)")
    #expect(try cells(run).map(\.item) == Array(0..<8))
  }

  @Test func whatIsStoredIsEnoughForAScrollOffline() async throws {
    let origin = try UnsplashOrigin(pictures: lakes(12))
    let (source, environment) = unsplash(origin)
    #expect(try await start("scroll.txt", source, "--as-fast-as-ready", environment: environment).run().status == 0)
    origin.origin.stop()
    let run = try await start(
      "scroll.txt", source, "--as-fast-as-ready", "--offline", "--json", environment: environment
    ).run()
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    #expect(try cells(run).count == 12 && figures(run).downloadedBytes == 0)
    let nothing = try await start("scroll.txt", source, "--offline", "--cache-dir", "other", environment: environment)
      .run()
    #expect(nothing.status == 69 && nothing.stdout.isEmpty && nothing.complaints.count == 1)
    #expect(nothing.stderr.contains("--offline") && nothing.stderr.contains("nothing is stored"))
  }

  @Test func theLimitsOfTheSourceHold() async throws {
    let source = try folder(30)
    let counted = try await start("scroll.txt", source, "--as-fast-as-ready", "--json", "--count", "5").run()
    #expect(try cells(counted).map(\.item) == Array(0..<5))
    let paged = try await start(
      "scroll.txt", source, "--as-fast-as-ready", "--json", "--pages", "2", "--per-page", "3"
    ).run()
    #expect(try cells(paged).map(\.item) == Array(0..<6))
  }

  @Test func aListIsScrolledThrough() async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let origin = try Origin { _ in .ok(picture, type: "image/jpeg") }
    let lines = (0..<6).map { "\(origin.url("/\($0).jpg"))" } + ["ftp://example.org/a.jpg"]
    let list = Data(lines.joined(separator: "\n").utf8)
    let run = try await start(
      "scroll.txt", ["--urls", "-"], "--as-fast-as-ready", "--json", input: .bytes(list)
    ).run()
    #expect(run.status == 1 && run.complaints.count == 1, "\(run.stderr)")
    #expect(run.stderr.hasPrefix("thumbs: stdin, line 7: "))
    #expect(try cells(run).map(\.item) == Array(0..<6) && figures(run).skipped == 1)
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func aSignalEndsItWithWhatIsKnown(signal: Int32, status: Int32) async throws {
    let gate = Gate()
    defer { gate.open() }
    let origin = try UnsplashOrigin(pictures: lakes(8)) { $0 == "p3" ? gate : nil }
    let (source, environment) = unsplash(origin)
    try Data("0 0\n".utf8).write(to: bench.url("rest.txt"))
    let process = try start("rest.txt", source, "--json", environment: environment)
    // What is ahead is begun when the picture that is held turns out slow: long after the first screen was seen.
    let isAsked = await eventually(within: .seconds(30)) { origin.imageRequests.contains { $0.path.hasSuffix("-p4") } }
    #expect(isAsked)
    process.send(signal)
    let run = await process.run()
    #expect(run.status == status && run.stderr.isEmpty, "\(run.stderr)")
    let cells = try cells(run)
    #expect(cells.map(\.item) == [0, 1, 2, 3] && cells[3].ready == nil)
  }

  @Test(arguments: [
    UsageTests.Mistake("--simulate backwards", "'backwards'", "--simulate", "steady:ROWS_PER_S", "give one of these"),
    UsageTests.Mistake("--simulate steady:0", "'steady:0'", "steady:ROWS_PER_S"),
    UsageTests.Mistake("--simulate ''", "''", "steady:ROWS_PER_S"),
    UsageTests.Mistake("--simulate .", "'.'", "steady:ROWS_PER_S"),
    UsageTests.Mistake("--simulate /dev/zero", "/dev/zero", "longer than 16"),
    UsageTests.Mistake("--simulate wrong.txt", "wrong.txt", "line 2", "one two", "SECONDS ROW"),
    UsageTests.Mistake("--simulate empty.txt", "empty.txt", "empty", "SECONDS ROW"),
    UsageTests.Mistake("--simulate back.txt", "back.txt", "line 2", "back in time"),
    UsageTests.Mistake("--simulate fling --columns 0", "--columns 0", "1 to 1000"),
    UsageTests.Mistake("--simulate fling --columns many", "'many'", "--columns"),
    UsageTests.Mistake("--simulate fling --rows 0", "--rows 0", "more than 0"),
    UsageTests.Mistake("--simulate fling --rows nan", "--rows nan", "more than 0"),
    UsageTests.Mistake("--simulate fling --scale -1", "--scale"),
    UsageTests.Mistake("--simulate fling --scale 101", "--scale 101", "at most 100"),
    UsageTests.Mistake("--simulate fling --cell 200", "'200'", "--cell", "200x200"),
    UsageTests.Mistake("--simulate fling --cell 0x5", "'0x5'", "--cell", "400x300"),
    UsageTests.Mistake("--simulate fling --cell 16000x10 --scale 3", "--cell and --scale", "16383"),
    UsageTests.Mistake("--simulate fling --size 40x40", "--size", "--cell"),
    UsageTests.Mistake("--simulate fling --ahead 2", "--ahead", "--simulate"),
    UsageTests.Mistake("--simulate fling --export out", "--export", "--simulate"),
    UsageTests.Mistake("--simulate fling --sheet a.jpg", "--sheet a.jpg", ".html"),
    UsageTests.Mistake("--columns 3", "--columns", "--simulate"),
    UsageTests.Mistake("--cell 20x20", "--cell", "--simulate"),
    UsageTests.Mistake("--scale 1", "--scale", "--simulate"),
    UsageTests.Mistake("--rows 3", "--rows", "--simulate"),
    UsageTests.Mistake("--as-fast-as-ready", "--as-fast-as-ready", "--simulate"),
  ])
  func wrongValuesEndWith64(mistake: UsageTests.Mistake) async throws {
    try Data("0 0\none two\n".utf8).write(to: bench.url("wrong.txt"))
    try Data("# nothing\n".utf8).write(to: bench.url("empty.txt"))
    try Data("2 0\n1 0\n".utf8).write(to: bench.url("back.txt"))
    let run = try await bench.start(["prefetch", "--query", "", "--provider", "folder:."] + mistake.arguments).run()
    #expect(run.status == 64 && run.stdout.isEmpty && run.complaints.count == 1, "\(run.stderr)")
    for name in mistake.named { #expect(run.stderr.contains(name), "\(name) is not in: \(run.stderr)") }
  }
}

/// Looks whether a page's elements are closed in their order.
enum Markup {
  private static let empty: Set<Substring> = ["meta", "img", "br", "link"]

  /// What is wrong with a page; nil when its elements are in order.
  static func problem(in page: String) -> String? {
    var open: [Substring] = []
    for piece in page.split(separator: "<", omittingEmptySubsequences: true) where !piece.hasPrefix("!") {
      guard let end = piece.firstIndex(of: ">") else { return "<\(piece) is not closed" }
      let tag = piece[..<end]
      guard tag.count(where: { $0 == "\"" }).isMultiple(of: 2) else { return "<\(tag)> has half a value" }
      let name = tag.prefix { !$0.isWhitespace }
      if name.hasPrefix("/") {
        guard let last = open.popLast(), last == name.dropFirst() else { return "<\(tag)> closes nothing" }
      } else if !tag.hasSuffix("/"), !empty.contains(name) {
        open.append(name)
      }
    }
    return open.last.map { "<\($0)> is not closed" }
  }
}
