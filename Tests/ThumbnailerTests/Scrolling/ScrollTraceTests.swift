@testable import scroll_player

struct ScrollTraceTests {
  @Test func isAStraightLineBetweenItsPoints() throws {
    let trace = try ScrollTrace([.init(time: .seconds(1), row: 2), .init(time: .seconds(3), row: 8)])
    #expect(trace.row(at: .zero) == 2)
    #expect(trace.row(at: .seconds(1)) == 2)
    #expect(trace.row(at: .seconds(2)) == 5)
    #expect(trace.row(at: .seconds(3)) == 8)
    #expect(trace.row(at: .seconds(100)) == 8)
    #expect(trace.duration == .seconds(3))
  }

  @Test func aStepInNoTimeIsAJump() {
    let trace = ScrollTrace.jump
    #expect(trace.row(at: trace.duration - .nanoseconds(1)) < 6)
    #expect(trace.row(at: trace.duration) == 1000)
  }

  @Test func steadyScrollsAtItsSpeed() throws {
    let trace = try #require(ScrollTrace(named: "steady:3"))
    let end = trace.duration
    #expect(trace.row(at: end) - trace.row(at: end - .seconds(1)) == 3)
    #expect(trace.row(at: .seconds(1)) == 0)
  }

  @Test func flingGoesFortyRowsInTwoSeconds() {
    #expect(ScrollTrace.fling.row(at: ScrollTrace.fling.duration) == 40)
    #expect(ScrollTrace.fling.row(at: ScrollTrace.fling.duration - .seconds(2)) == 0)
  }

  @Test func backAndForthNeverExceedsFourRowsASecond() {
    let points = ScrollTrace.backAndForth.points
    for (before, after) in zip(points, points.dropFirst()) {
      let seconds = (after.time - before.time) / .seconds(1)
      #expect(abs(after.row - before.row) <= 4.001 * seconds)
    }
  }

  @Test(arguments: ["", "steady", "steady:", "steady:0", "steady:-3", "steady:nan", "Fling", "jump:7"])
  func otherNamesAreNone(_ name: String) {
    #expect(ScrollTrace(named: name) == nil)
  }

  @Test func isReadFromLines() throws {
    let trace = try ScrollTrace(text: "# seconds row\n0 0\n\n1.5\t4\r\n2 4.5\n")
    #expect(trace.points.map(\.row) == [0, 4, 4.5])
    #expect(trace.duration == .seconds(2))
  }

  @Test func unreadableTextNamesItsLine() {
    #expect(throws: ScrollTrace.Problem.empty) { try ScrollTrace(text: "# nothing\n") }
    #expect(throws: ScrollTrace.Problem.unreadable(line: 2, text: "1 two")) { try ScrollTrace(text: "0 0\n1 two") }
    #expect(throws: ScrollTrace.Problem.unreadable(line: 1, text: "-1 0")) { try ScrollTrace(text: "-1 0") }
    #expect(throws: ScrollTrace.Problem.unreadable(line: 1, text: "0 nan")) { try ScrollTrace(text: "0 nan") }
    #expect(throws: ScrollTrace.Problem.unreadable(line: 1, text: "1e300 0")) { try ScrollTrace(text: "1e300 0") }
    #expect(throws: ScrollTrace.Problem.backwards(line: 2)) { try ScrollTrace(text: "2 0\n1 0") }
  }
}

struct ScrollReportTests {
  private func report(waits: [Int?]) -> ScrollReport {
    let cells = waits.enumerated().map { item, wait in
      ScrollReport.Cell(item: item, inView: .seconds(1), ready: wait.map { .seconds(1) + .milliseconds($0) })
    }
    return ScrollReport(cells: cells, duration: .seconds(3), restsAt: .seconds(2), downloadedBytes: 10, unseenBytes: 1)
  }

  @Test func thumbnailsThatWereThereBeforeWaitForNothing() {
    let report = report(waits: [-500, 0, 10])
    #expect(report.cells[0].wait == .zero)
    #expect(report.readyOnSight == 2.0 / 3)
  }

  @Test func sharesAreByTheNearestRank() {
    let report = report(waits: Array(1...100))
    #expect(report.wait(ofShare: 0.5) == .milliseconds(50))
    #expect(report.wait(ofShare: 0.99) == .milliseconds(99))
    #expect(report.wait(ofShare: 1) == .milliseconds(100))
    #expect(report.wait(ofShare: 0) == .milliseconds(1))
  }

  @Test func aCellWithoutThumbnailWaitedToTheEnd() {
    #expect(report(waits: [nil]).wait(ofShare: 0.5) == .seconds(2))
    #expect(report(waits: [nil]).readyOnSight == 0)
  }

  @Test func theFirstScreenDoesNotCount() {
    var report = report(waits: [900, 0])
    report.cells[0].isOfFirstScreen = true
    #expect(report.readyOnSight == 1)
    #expect(report.wait(ofShare: 1) == .zero)
    report.cells.removeLast()
    #expect(report.readyOnSight == 1)
    #expect(report.wait(ofShare: 1) == nil)
  }

  @Test func completeIsCountedFromTheRest() {
    #expect(report(waits: [0]).completeAfterRest == .seconds(1))
  }
}
