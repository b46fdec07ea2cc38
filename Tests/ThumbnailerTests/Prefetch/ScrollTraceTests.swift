import Testing

@testable import Thumbnailer

@Suite struct ScrollTraceTests {
  @Test func betweenPointsTheViewMovesEvenlyAndOutsideItRests() throws {
    let trace = try ScrollTrace(points: [
      .init(seconds: 1, offset: 100), .init(seconds: 3, offset: 500), .init(seconds: 4, offset: 0),
    ])
    let offsets = [0, 1, 1.5, 3, 3.5, 4, 60].map { trace.offset(at: .seconds($0)) }
    #expect(offsets == [100, 100, 200, 500, 250, 0, 0])
    #expect(trace.duration == .seconds(4))
    #expect(trace.farthestOffset == 500)
  }

  @Test func twoPointsOfOneTimeAreAJump() throws {
    let trace = try ScrollTrace(points: [
      .init(seconds: 0, offset: 0), .init(seconds: 1, offset: 10), .init(seconds: 1, offset: 9_000),
    ])
    #expect(trace.offset(at: .seconds(1)) == 9_000)
    #expect(trace.offset(at: .milliseconds(500)) == 5)
  }

  @Test func aFileOfTimesAndOffsetsIsRead() throws {
    let trace = try ScrollTrace(parsing: "# a scroll\n0 0\n\n1.5\t300 # there\r\n2 -20.5")
    #expect(
      trace.points == [
        .init(seconds: 0, offset: 0), .init(seconds: 1.5, offset: 300), .init(seconds: 2, offset: -20.5),
      ])
  }

  @Test(arguments: [
    ("0 0\nhello", 2), ("0 0 0", 1), ("0", 1), ("1 0\n0.5 3", 2), ("nan 0", 1), ("0 inf", 1), ("-1 0", 1),
  ])
  func aLineThatMakesNoSenseIsNamed(text: String, line: Int) throws {
    let error = #expect(throws: ThumbnailError.self) { try ScrollTrace(parsing: text) }
    #expect(error?.message.hasPrefix("line \(line) of the scroll trace") == true)
  }

  @Test func aTraceWithoutPointsIsRefused() {
    #expect(throws: ThumbnailError.self) { try ScrollTrace(parsing: "# nothing\n") }
    #expect(throws: ThumbnailError.self) { try ScrollTrace(points: []) }
    #expect(throws: ThumbnailError.self) { try ScrollTrace(points: [.init(seconds: .nan, offset: 0)]) }
    #expect(throws: ThumbnailError.self) {
      try ScrollTrace(points: [.init(seconds: 1, offset: 0), .init(seconds: 0, offset: 0)])
    }
  }

  @Test func theStandardScrollsGoWhereTheirNamesSay() throws {
    let steady = ScrollTrace.steady(rowsPerSecond: 3, seconds: 10, rowPitch: 200)
    #expect(steady.offset(at: .seconds(2)) == 0)
    #expect(steady.offset(at: .seconds(7)) == 3_000)
    #expect(steady.duration == .seconds(12))
    let fling = ScrollTrace.fling(rowPitch: 200)
    #expect(fling.offset(at: .seconds(3)) == 4_000)
    #expect(fling.offset(at: .seconds(5)) == 8_000)
    let jump = ScrollTrace.jump(rowPitch: 200)
    #expect(jump.offset(at: .milliseconds(3_999)) < 1_200)
    #expect(jump.offset(at: .seconds(4)) == 200_000)
    let swings = ScrollTrace.backAndForth(rowPitch: 200)
    #expect(swings.farthestOffset == 9_600)
    #expect(swings.points.contains { $0.offset == 1_600 })
    #expect(swings.offset(at: swings.duration) == 9_600)
  }

  @Test func aScrollIsNamedAsOnTheCommandLine() throws {
    #expect(try ScrollTrace.Specification(parsing: "steady:2.5") == .steady(rowsPerSecond: 2.5))
    #expect(try ScrollTrace.Specification(parsing: "fling") == .fling)
    #expect(try ScrollTrace.Specification(parsing: "back-and-forth") == .backAndForth)
    #expect(try ScrollTrace.Specification(parsing: "jump") == .jump)
    #expect(try ScrollTrace.Specification(parsing: "my/scroll.txt") == .file(path: "my/scroll.txt"))
    for text in ["", "steady", "steady:", "steady:0", "steady:-3", "steady:fast", "steady:inf"] {
      #expect(throws: ThumbnailError.self) { try ScrollTrace.Specification(parsing: text) }
    }
    #expect(try ScrollTrace.Specification(parsing: "jump").trace(rowPitch: 10) == .jump(rowPitch: 10))
    #expect(ScrollTrace.Specification.file(path: "x").trace(rowPitch: 10) == nil)
  }
}
