import Testing

@testable import Thumbnailer

@Suite struct RequestPaceTests {
  private let start = ContinuousClock.now

  @Test func requestsKeepTheirDistance() {
    var pace = RequestPace(.init(interval: .seconds(3)))
    #expect(pace.turn(at: start) == .go(after: .zero))
    #expect(pace.turn(at: start) == .go(after: .seconds(3)))
    #expect(pace.turn(at: start + .seconds(1)) == .go(after: .seconds(5)))
    #expect(pace.turn(at: start + .seconds(60)) == .go(after: .zero))
  }

  @Test func nothingGoesWhileTheProviderIsToBeLeftAlone() {
    var pace = RequestPace(.init())
    pace.close(for: .seconds(10), isTold: true, at: start)
    #expect(pace.turn(at: start + .seconds(4)) == .refused(retryAfter: .seconds(6)))
    // A shorter pause does not end a longer one.
    pace.close(for: .seconds(1), isTold: true, at: start)
    #expect(pace.turn(at: start + .seconds(9)) == .refused(retryAfter: .seconds(1)))
    #expect(pace.turn(at: start + .seconds(10)) == .go(after: .zero))
    pace.close(for: .seconds(5), isTold: false, at: start + .seconds(10))
    #expect(pace.turn(at: start + .seconds(11)) == .refused(retryAfter: nil))
  }
}
