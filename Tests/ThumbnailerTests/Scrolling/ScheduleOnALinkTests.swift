@testable import Thumbnailer
@testable import scroll_player

/// What the schedule's rules are worth on a link of 20 Mbit/s and 50 ms, in simulated time: photographs of 150 kB, two
/// columns of 200 × 200 points, six rows in view, 100,000 items. Measured for real in `Benchmarks`.
@Suite struct ScheduleOnALinkTests {
  /// What the link needs for the cells of one screen alone, in seconds.
  private let screenSeconds = 12 * 150_000 / 2_500_000 + 0.05 + 0.015

  private func play(_ trace: ScrollTrace) throws -> SimulatedScroll {
    let layout = GridLayout(columns: 2, cell: PixelSize(400, 400), scale: 2, sections: [.init(itemCount: 100_000)])
    var schedule = PrefetchSchedule(layout: layout, options: .init(), limits: .init(running: 8, prefetches: 4))
    var scroll = SimulatedScroll(layout: layout, height: 1_200)
    scroll.play(trace, with: &schedule)
    return scroll
  }

  /// From the first sight of the last place of a scroll until all its cells are there, in seconds.
  private func wait(for trace: ScrollTrace, in scroll: SimulatedScroll) -> Double {
    let offset = scroll.offset(of: trace, at: trace.duration.seconds)
    let arrival = trace.points.first { $0.row == trace.row(at: trace.duration) }?.time.seconds ?? 0
    let cells = scroll.layout.items(from: offset, height: scroll.height)
    return (cells.map { scroll.cells[$0]?.ready ?? .infinity }.max() ?? .infinity) - arrival
  }

  @Test(arguments: [1.0, 2, 3, 4, 5, 6]) func inASteadyScrollTheCellsAreThereOnSight(rowsPerSecond: Double) throws {
    let scroll = try play(.steady(rowsPerSecond: rowsPerSecond))
    let afterFirstScreen = scroll.cells.values.filter { ($0.seen ?? 0) > 0 }
    let onSight = afterFirstScreen.filter { ($0.ready ?? .infinity) <= ($0.seen ?? 0) }
    #expect(afterFirstScreen.count == Int(rowsPerSecond * 20) * 2)
    #expect(Double(onSight.count) >= 0.99 * Double(afterFirstScreen.count))
  }

  @Test func theScreenWhereAFlingRestsIsThereAlmostAsSoonAsTheLinkCan() throws {
    let trace = ScrollTrace.fling
    #expect(wait(for: trace, in: try play(trace)) <= 1.3 * screenSeconds)
  }

  @Test func aFlingThatSlowsDownFindsItsScreenHalfReady() throws {
    // 40 rows a second at first, down to 1/e of that in half a second.
    let points = (0...240).map { frame -> ScrollTrace.Point in
      let time = Double(frame) / 60
      return ScrollTrace.Point(time: .seconds(2 + time), row: 20 * (1 - exp(-time / 0.5)))
    }
    let trace = try ScrollTrace([ScrollTrace.Point(time: .zero, row: 0)] + points)
    let scroll = try play(trace)
    let rest = scroll.layout.items(from: scroll.offset(of: trace, at: trace.duration.seconds), height: scroll.height)
    let slowest = rest.compactMap { index in
      scroll.cells[index].flatMap { cell in cell.ready.map { $0 - (cell.seen ?? 0) } }
    }.max()
    #expect(try #require(slowest) < 0.8 * screenSeconds)
  }

  @Test func toAndFroNothingIsFetchedTwiceAndLittleForNobody() throws {
    let scroll = try play(.backAndForth)
    #expect(scroll.cells.values.allSatisfy { $0.begun <= 1 })
    let unseen = scroll.cells.values.filter { $0.seen == nil }.reduce(0) { $0 + $1.received }
    #expect(unseen <= 0.15 * scroll.bytesReceived)
  }

  @Test func afterAJumpTheScreenIsThereAlmostAsSoonAsTheLinkCan() throws {
    let trace = ScrollTrace.jump
    #expect(wait(for: trace, in: try play(trace)) <= 1.3 * screenSeconds)
  }
}
