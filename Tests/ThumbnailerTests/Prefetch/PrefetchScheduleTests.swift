@testable import ThumbnailCore
@testable import Thumbnailer

/// The schedule without a pipeline: two columns of cells 200 points high, six rows in view.
@Suite struct PrefetchScheduleTests {
  private let start = ContinuousClock().systemEpoch

  private func schedule(
    items: Int = 1_000, running: Int = 8, prefetches: Int = 4, options: Prefetcher.Options = .init()
  ) throws -> PrefetchSchedule {
    let layout = GridLayout(columns: 2, cell: PixelSize(200, 200), sections: [.init(itemCount: items)])
    return PrefetchSchedule(layout: layout, options: options, limits: .init(running: running, prefetches: prefetches))
  }

  /// Everything that is to be done is to be fetched, unless it is in `cached`.
  private func update(
    _ schedule: inout PrefetchSchedule, at seconds: Double = 0, offset: Double? = nil, cached: Set<Int> = [],
    received: (Int) -> Double = { _ in 0 }
  ) -> PrefetchSchedule.Changes {
    let time = start + .seconds(seconds)
    if let offset { schedule.move(to: Viewport(offset: offset, height: 1_200, time: time)) }
    return schedule.update(at: time, isMissing: { !cached.contains($0) }, received: received)
  }

  /// Ends all work, and whatever follows from that, and returns the items in the order they were begun.
  private func finishAll(
    _ schedule: inout PrefetchSchedule, _ changes: PrefetchSchedule.Changes, at seconds: Double = 0.2,
    bytes: Int = 150_000
  ) -> [Int] {
    var open = changes.begun
    var order = open.map(\.index)
    while !open.isEmpty {
      let work = open.removeFirst()
      #expect(schedule.finish(work.id, bytes: bytes, duration: .milliseconds(300)) == work.index)
      let next = update(&schedule, at: seconds)
      open += next.begun
      order += next.begun.map(\.index)
    }
    return order
  }

  @Test func cellsInViewComeFirstThenThoseAheadThenThoseBehind() throws {
    var schedule = try schedule()
    let first = update(&schedule, offset: 4_000)
    #expect(first.begun.map(\.index) == Array(40..<48))
    #expect(first.begun.allSatisfy { $0.priority == .visible })
    #expect(finishAll(&schedule, first) == Array(40..<64) + Array(34..<40).reversed())
    #expect(schedule.isIdle)
  }

  @Test func nothingElseIsBegunWhileACellInViewIsMissing() throws {
    var schedule = try schedule(running: 20)
    let first = update(&schedule, offset: 0)
    #expect(first.begun.map(\.index) == Array(0..<12))
    for work in first.begun.dropLast() {
      _ = schedule.finish(work.id, bytes: 1, duration: nil)
      #expect(update(&schedule, at: 0.1).begun.isEmpty)
    }
    _ = schedule.finish(first.begun[11].id, bytes: 1, duration: nil)
    #expect(update(&schedule, at: 0.1).begun.map(\.index) == Array(12..<16))
  }

  @Test func aCellThatTakesTooLongHoldsNothingBack() throws {
    var schedule = try schedule(running: 20)
    let first = update(&schedule, offset: 0)
    for work in first.begun.dropLast() { _ = schedule.finish(work.id, bytes: 1, duration: nil) }
    let early = update(&schedule, at: 0.5)
    #expect(early.begun.isEmpty)
    let wakeTime = try #require(early.wakeTime)
    #expect(wakeTime == start + schedule.pace.patience)
    #expect(update(&schedule, at: 1.3).begun.map(\.index) == Array(12..<16))
  }

  @Test func theWindowsOverlapIsNotAskedAgain() throws {
    var schedule = try schedule()
    let first = update(&schedule, offset: 4_000)
    var seen = Set(finishAll(&schedule, first))
    for row in 1...40 {
      let changes = update(&schedule, at: 1 + Double(row), offset: 4_000 + Double(row) * 200)
      for index in finishAll(&schedule, changes, at: 1.5 + Double(row)) { #expect(seen.insert(index).inserted) }
    }
  }

  @Test func aJumpDropsTheWorkForTheOldPlaceInTheSameUpdate() throws {
    var schedule = try schedule(items: 100_000)
    let first = update(&schedule, offset: 0)
    let jump = update(&schedule, at: 1, offset: 200_000)
    #expect(Set(jump.dropped.map(\.id)) == Set(first.begun.map(\.id)))
    #expect(jump.begun.map(\.index) == Array(2_000..<2_008))
  }

  @Test func aJumpIsOneEvenIfTheViewHasMovedOnBeforeTheUpdate() throws {
    var schedule = try schedule()
    let first = update(&schedule, offset: 0)
    schedule.move(to: Viewport(offset: 50_000, height: 1_200, time: start + .seconds(1)))
    let next = update(&schedule, at: 1.016, offset: 50_010, received: { _ in 0.9 })
    #expect(Set(next.dropped.map(\.id)) == Set(first.begun.map(\.id)))
  }

  @Test func forAViewThatJumpsOnAndOnNothingIsBegunBeforeItStops() throws {
    var schedule = try schedule(items: 100_000)
    _ = update(&schedule, offset: 0)
    #expect(update(&schedule, at: 1, offset: 200_000).begun.count == 8)
    let second = update(&schedule, at: 1.016, offset: 300_000)
    #expect(second.dropped.count == 8 && second.begun.isEmpty)
    let third = update(&schedule, at: 1.032, offset: 400_000)
    #expect(third.begun.isEmpty && !schedule.isIdle)
    let wakeTime = try #require(third.wakeTime)
    #expect(wakeTime <= start + .seconds(1.14))
    let changes = schedule.update(at: wakeTime, isMissing: { _ in true }, received: { _ in 0 })
    #expect(changes.begun.map(\.index) == Array(4_000..<4_008))
  }

  @Test func whatIsNearlyDoneGoesOn() throws {
    var schedule = try schedule(items: 100_000)
    let first = update(&schedule, offset: 0)
    // 0 is being decoded, 1 lacks little: a jump waits for no more than a decode.
    let jump = update(&schedule, at: 1, offset: 200_000) { [0: 1, 1: 0.9][$0] ?? 0.1 }
    #expect(Set(jump.dropped.map(\.index)) == Set(1..<8))
    #expect(schedule.finish(first.begun[0].id, bytes: 1, duration: nil) == 0)
    #expect(schedule.finish(first.begun[1].id, bytes: 1, duration: nil) == nil)
  }

  @Test func aPrefetchIsPromotedWhenItComesIntoView() throws {
    var schedule = try schedule()
    _ = finishAll(&schedule, update(&schedule, offset: 4_000))
    let below = update(&schedule, at: 2, offset: 4_200)
    #expect(below.begun.map(\.index) == [64, 65, 66, 67])
    #expect(below.begun.allSatisfy { $0.priority == .prefetch })
    let seen = update(&schedule, at: 3, offset: 5_300)
    #expect(Set(seen.reprioritised.map(\.index)) == [64, 65])
    #expect(seen.reprioritised.allSatisfy { $0.priority == .visible })
  }

  @Test func aColdViewTakesTheWholeLink() throws {
    var schedule = try schedule(items: 100_000)
    _ = finishAll(&schedule, update(&schedule, offset: 4_000))
    let ahead = update(&schedule, at: 2, offset: 4_600)
    #expect(ahead.begun.map(\.index) == Array(64..<68))
    // The view comes to rest a little below: what runs is still near, and yet gives way, but for what has its body.
    schedule.move(to: Viewport(offset: 7_000, height: 1_200, time: start + .seconds(2.3)))
    let cold = update(&schedule, at: 2.8, offset: 7_000) { $0 == 64 ? 1 : 0.9 }
    #expect(cold.dropped.map(\.index).sorted() == [65, 66, 67])
    #expect(cold.begun.map(\.index) == Array(70..<77))
  }

  @Test func theByteBudgetStopsTheLookAhead() throws {
    var options = Prefetcher.Options()
    options.byteBudget = ByteSize(bytes: 1_000_000)
    var schedule = try schedule(options: options)
    let order = finishAll(&schedule, update(&schedule, offset: 4_000), bytes: 200_000)
    #expect(order == Array(40..<57))
    #expect(schedule.isIdle)
  }

  @Test func aBudgetOfNothingFetchesWhatIsInViewAlone() throws {
    var options = Prefetcher.Options()
    options.byteBudget = ByteSize(bytes: 0)
    var schedule = try schedule(options: options)
    #expect(finishAll(&schedule, update(&schedule, offset: 4_000)) == Array(40..<52))
  }

  @Test func cachedItemsCostNothingOfTheBudgetAndNoWork() throws {
    var schedule = try schedule()
    let changes = update(&schedule, offset: 4_000, cached: Set(0..<1_000))
    #expect(changes.begun.isEmpty && changes.hasSettled)
    #expect(schedule.isIdle)
  }

  @Test func anUpdateLooksAtAFewItemsAndComesBackForTheRest() throws {
    var options = Prefetcher.Options()
    options.screensAhead = 50
    var schedule = try schedule(options: options)
    var looks = 0
    var updates = 0
    var wakeTime: ContinuousClock.Instant? = start
    schedule.move(to: Viewport(offset: 0, height: 1_200, time: start))
    while wakeTime == start {
      let before = looks
      let changes = schedule.update(at: start) { _ in
        looks += 1
        return false
      } received: { _ in
        0
      }
      #expect(looks - before <= 64)
      updates += 1
      wakeTime = changes.wakeTime
    }
    #expect(looks == 612)
    #expect(updates > 9)
    #expect(schedule.isIdle)
  }

  @Test func whilePausedOnlyTheViewIsFetched() throws {
    var schedule = try schedule()
    schedule.setPaused(true)
    #expect(finishAll(&schedule, update(&schedule, offset: 4_000)) == Array(40..<52))
    #expect(schedule.isIdle)
    schedule.setPaused(false)
    #expect(update(&schedule, at: 1).begun.map(\.index) == Array(52..<56))
  }

  @Test func anItemTakenOutMovesTheWorkBehindIt() throws {
    var schedule = try schedule(items: 100)
    let first = update(&schedule, offset: 0)
    let dropped = schedule.remove(2)
    schedule.changeLayout { $0.setItemCount(99, inSection: 0) }
    #expect(dropped?.index == 2)
    #expect(schedule.finish(first.begun[3].id, bytes: 0, duration: nil) == 2)
    #expect(schedule.finish(first.begun[1].id, bytes: 0, duration: nil) == 1)
    #expect(schedule.finish(first.begun[2].id, bytes: 0, duration: nil) == nil)
    #expect(update(&schedule).begun.map(\.index) == [7, 8, 9])
  }

  @Test func aFailureIsNotTriedAgainBeforeTheItemComesBack() throws {
    var schedule = try schedule(items: 4)
    for work in update(&schedule, offset: 0).begun { _ = schedule.finish(work.id, bytes: 0, duration: nil) }
    #expect(update(&schedule, at: 1).begun.isEmpty)
    _ = update(&schedule, at: 2, offset: 90_000)
    #expect(schedule.isIdle)
  }

  @Test func whateverHappensTheLimitsHoldAndNothingIsAskedTwiceAtOnce() throws {
    var random = SplitMix(state: 5)
    for _ in 0..<30 {
      var schedule = try schedule(items: 400)
      var open: [PrefetchSchedule.Work] = []
      var time = 0.0
      var offset = 0.0
      for _ in 0..<200 {
        time += Double.random(in: 0...0.05, using: &random)
        offset += Double.random(in: -400...600, using: &random)
        if Int.random(in: 0..<40, using: &random) == 0 { offset = .random(in: -1_000...42_000, using: &random) }
        while !open.isEmpty, Bool.random(using: &random) {
          let work = open.remove(at: .random(in: open.indices, using: &random))
          _ = schedule.finish(work.id, bytes: 100_000, duration: .milliseconds(200))
        }
        let changes = update(&schedule, at: time, offset: offset) { $0 % 5 == 0 ? 1 : 0.5 }
        let dropped = Set(changes.dropped.map(\.id))
        open = (open + changes.begun).filter { !dropped.contains($0.id) }
        #expect(Set(open.map(\.index)).count == open.count)
        #expect(open.count == schedule.runningCount)
        #expect(open.count <= 32)
        for work in changes.begun { #expect(schedule.window.kept.contains(work.index)) }
      }
    }
  }

  /// A view at the top with eight pieces of work under way, 0 with its whole body and 1 nearly; all else is cached.
  private func scheduleWithWork() throws -> (PrefetchSchedule, [PrefetchSchedule.Work], cached: Set<Int>) {
    var schedule = try schedule(items: 10_000)
    let work = update(&schedule, offset: 0).begun
    #expect(work.map(\.index) == Array(0..<8))
    return (schedule, work, Set(8..<10_000))
  }

  private func part(_ index: Int) -> Double { [0: 1, 1: 0.9][index] ?? 0.1 }

  @Test func whatIsNearlyDoneLingersAfterAScrollAndTheWholeBodyAfterAJump() throws {
    var (scrolled, _, cached) = try scheduleWithWork()
    scrolled.move(to: Viewport(offset: 6_000, height: 1_200, time: start + .seconds(1)))
    let scroll = update(&scrolled, at: 1.5, offset: 6_000, cached: cached, received: part)
    #expect(Set(scroll.dropped.map(\.index)) == Set(2..<8) && scrolled.runningCount == 2)
    var (jumped, _, _) = try scheduleWithWork()
    let jump = update(&jumped, at: 1, offset: 200_000, cached: cached, received: part)
    #expect(Set(jump.dropped.map(\.index)) == Set(1..<8) && jumped.runningCount == 1)
  }

  @Test func whatLingersHoldsNothingBackAndIsNotRemembered() throws {
    var (schedule, work, cached) = try scheduleWithWork()
    let jump = update(&schedule, at: 1, offset: 200_000, cached: cached, received: part)
    #expect(jump.hasSettled && schedule.isIdle && schedule.runningCount == 1)
    let remembered = schedule.rememberedItems
    #expect(schedule.finish(work[0].id, bytes: 9, duration: nil) == 0)
    #expect(schedule.rememberedItems == remembered && schedule.runningCount == 0)
    // Whoever comes back looks again.
    #expect(update(&schedule, at: 3, offset: 0, cached: cached).begun.map(\.index) == Array(0..<8))
  }

  @Test func whatLingersCountsAgainOnceTheViewIsBack() throws {
    var (schedule, work, cached) = try scheduleWithWork()
    _ = update(&schedule, at: 1, offset: 200_000, cached: cached, received: part)
    cached.formUnion(1..<8)
    let back = update(&schedule, at: 3, offset: 0, cached: cached, received: part)
    #expect(back.begun.isEmpty && back.dropped.isEmpty && !schedule.isIdle)
    #expect(schedule.finish(work[0].id, bytes: 9, duration: nil) == 0)
    let end = update(&schedule, at: 3.1, cached: cached)
    #expect(end.begun.isEmpty && end.hasSettled)
  }
}
