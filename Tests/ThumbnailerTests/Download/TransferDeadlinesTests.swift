import Foundation
import Testing

@testable import Thumbnailer

/// Which deadline has passed, without a clock.
@Suite
struct TransferDeadlinesTests {
  private let start = ContinuousClock.now
  private var deadlines: TransferDeadlines

  init() {
    deadlines = TransferDeadlines(
      .example(connect: .seconds(10), stall: .seconds(20), total: .seconds(300)), start: start)
  }

  private func check(
    after seconds: Double, connecting: Duration? = .seconds(1)
  ) -> (next: Duration, missed: DownloadError.Deadline?) {
    let check = deadlines.check(now: start + .seconds(seconds), connecting: connecting)
    return (check.next - start, check.missed)
  }

  @Test func silenceCountsFromWhenTheRequestCouldBeSent() {
    #expect(check(after: 20.9) == (.seconds(21), nil))
    #expect(check(after: 21) == (.seconds(21), .stall))
  }

  @Test mutating func slowButSteadyIsNoStall() {
    for second in stride(from: 2.0, to: 290, by: 19) {
      #expect(check(after: second).missed == nil)
      deadlines.somethingCame(at: start + .seconds(second))
      #expect(check(after: second + 19.9).missed == nil)
    }
  }

  @Test mutating func silenceInTheBodyIsAStall() {
    deadlines.somethingCame(at: start + .seconds(50))
    #expect(check(after: 60) == (.seconds(70), nil))
    #expect(check(after: 70) == (.seconds(70), .stall))
  }

  @Test func waitingForAConnectionToShareIsTimedOutAsConnecting() {
    #expect(check(after: 29, connecting: nil) == (.seconds(30), nil))
    #expect(check(after: 30, connecting: nil) == (.seconds(30), .connect))
  }

  @Test mutating func theTotalGoesBeforeAllOthers() {
    deadlines.somethingCame(at: start + .seconds(290))
    #expect(check(after: 295) == (.seconds(300), nil))
    #expect(check(after: 300) == (.seconds(300), .total))
    #expect(check(after: 400, connecting: nil).missed == .total)
  }
}
