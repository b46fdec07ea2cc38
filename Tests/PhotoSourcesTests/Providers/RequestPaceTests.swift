@testable import PhotoSources
@testable import ThumbnailCore

@Suite struct RequestPaceTests {
  private let start = ContinuousClock().systemEpoch

  @Test func requestsKeepTheirDistance() {
    var pace = RequestPace(.init(interval: .seconds(3)))
    #expect(pace.turn(at: start) == .go(after: .zero))
    #expect(pace.turn(at: start) == .go(after: .seconds(3)))
    #expect(pace.turn(at: start + .seconds(1)) == .go(after: .seconds(5)))
    #expect(pace.turn(at: start + .seconds(60)) == .go(after: .zero))
  }

  @Test func afterARestSomeMayFollowEachOtherAtOnce() {
    var pace = RequestPace(.init(interval: .seconds(6), burst: 3))
    let waits = (0..<5).map { _ in pace.turn(at: start) }
    #expect(waits == [0, 0, 0, 6, 12].map { .go(after: .seconds($0)) })
    let later = start + .seconds(100)
    #expect((0..<4).map { _ in pace.turn(at: later) } == [0, 0, 0, 6].map { .go(after: .seconds($0)) })
  }

  @Test func nothingGoesWhileTheProviderIsToBeLeftAlone() {
    var pace = RequestPace(.init())
    pace.close(for: .seconds(10), at: start)
    #expect(pace.turn(at: start + .seconds(4)) == .refused(retryAfter: .seconds(6)))
    // A shorter pause does not end a longer one.
    pace.close(for: .seconds(1), at: start)
    #expect(pace.turn(at: start + .seconds(9)) == .refused(retryAfter: .seconds(1)))
    #expect(pace.turn(at: start + .seconds(10)) == .go(after: .zero))
  }

  @Test func aRequestThatWasGivenUpHoldsNobodyBack() {
    var pace = RequestPace(.init(interval: .seconds(3)))
    #expect(pace.turn(at: start) == .go(after: .zero))
    for _ in 0..<5 {
      #expect(pace.turn(at: start) == .go(after: .seconds(3)))
      pace.returnTurn()
    }
    #expect(pace.turn(at: start + .seconds(1)) == .go(after: .seconds(2)))
  }

  @Test func severalTakeTheirTurnsFromOneRecord() {
    let date = Date(timeIntervalSince1970: 1_800_000_000)
    var record = HostRecord()
    let waits = (0..<4).map { _ in
      var pace = RequestPace(.init(interval: .seconds(3)), record, now: start, date: date)
      defer { pace.write(to: &record, now: start, date: date) }
      return pace.turn(at: start)
    }
    #expect(waits == [0, 3, 6, 9].map { .go(after: .seconds($0)) })
  }

  @Test func timesThatMakeNoSenseCountForNothing() {
    let date = Date(timeIntervalSince1970: 1_800_000_000)
    for ahead in [1e4, 1e9, -1e9, 1e300, -1e300] {
      let record = HostRecord(until: date + ahead * 10, due: date + ahead)
      var pace = RequestPace(.init(interval: .seconds(3)), record, now: start, date: date)
      #expect(pace.turn(at: start) == .go(after: .zero))
    }
  }

  /// Whatever the moment from which a window is counted.
  @Test(arguments: [
    (PhotoService.commons(namesContact: false), 10, Duration.seconds(60)),
    (PhotoService.commons(), 200, .seconds(60)), (PhotoService.pexels, 200, .seconds(3600)),
  ])
  func noWindowHoldsMoreThanTheServiceTakes(service: PhotoService, limit: Int, window: Duration) {
    var pace = RequestPace(service.dialect.pace)
    var now = start
    var times: [ContinuousClock.Instant] = []
    for _ in 0...(2 * limit) {
      if case .go(let wait) = pace.turn(at: now) { now += wait }
      times.append(now)
    }
    for (first, over) in zip(times, times.dropFirst(limit)) {
      #expect(over - first >= window, "\(service.dialect.name)")
    }
  }
}
