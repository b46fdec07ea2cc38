@testable import Thumbnailer

/// Two columns of cells 200 points high, six rows in view, pictures that take 0.3 s.
@Suite struct PrefetchWindowTests {
  private let start = ContinuousClock().systemEpoch

  private func window(
    items: Int = 1_000, from begin: Double, speed: Double, frames: Int = 60, options: Prefetcher.Options = .init()
  ) throws -> PrefetchWindow {
    let layout = GridLayout(columns: 2, cell: PixelSize(200, 200), sections: [.init(itemCount: items)])
    var motion = ScrollMotion()
    var time = start
    for frame in 0...frames {
      let seconds = Double(frame) / 60
      time = start + .seconds(seconds)
      motion.move(to: Viewport(offset: begin + speed * seconds, height: 1_200, time: time))
    }
    let viewport = try #require(motion.viewport)
    return PrefetchWindow(
      layout: layout, viewport: viewport, motion: motion, at: time, pace: FetchPace(), parallel: 8, options: options)
  }

  @Test func atRestTheFocusIsTheView() throws {
    let window = try window(from: 4_000, speed: 0)
    #expect(window.visible == 40..<52)
    #expect(window.focus == 40..<52)
    #expect(window.ahead == 52..<64)
    #expect(window.behind == 34..<40)
    #expect(Array(window.focusInOrder) == Array(40..<52))
    let rest: [[Int]] = [Array(52..<64), Array(34..<40).reversed()]
    #expect(window.restInOrder.map { Array($0) } == rest)
  }

  @Test func theWindowEndsWhereTheListEnds() throws {
    let top = try window(items: 60, from: 0, speed: 0)
    #expect((top.visible, top.ahead, top.behind) == (0..<12, 12..<24, 0..<0))
    #expect(top.kept == 0..<30)
    let bottom = try window(items: 60, from: 4_800, speed: 0)
    #expect((bottom.visible, bottom.ahead, bottom.behind) == (48..<60, 60..<60, 42..<48))
    let beyond = try window(items: 60, from: 9_000, speed: 0)
    #expect(beyond.visible.isEmpty)
    #expect(beyond.focus == 48..<60)
    let before = try window(items: 60, from: -3_000, speed: 0)
    #expect(before.visible.isEmpty)
    #expect(before.focus == 0..<12)
    let empty = try window(items: 0, from: 0, speed: 0)
    #expect(empty.kept.isEmpty && empty.focus.isEmpty && empty.ahead.isEmpty && empty.behind.isEmpty)
    let few = try window(items: 3, from: 0, speed: 0)
    #expect((few.visible, few.ahead, few.behind) == (0..<3, 3..<3, 0..<0))
  }

  @Test func theFasterTheScrollTheFartherAhead() throws {
    let slow = try window(from: 0, speed: 600)
    #expect(slow.ahead.count >= 12)
    let fast = try window(from: 0, speed: 2_400)
    #expect(fast.ahead.upperBound - fast.visible.upperBound > slow.ahead.upperBound - slow.visible.upperBound)
  }

  @Test func whatWillHaveLeftTheViewIsNotBegun() throws {
    // 20 rows a second: six rows go by while a picture is fetched.
    let window = try window(from: 0, speed: 4_000)
    #expect(window.visible == 40..<52)
    #expect((50...52).contains(window.focus.lowerBound) && (64...66).contains(window.focus.upperBound))
    #expect(window.kept.contains(40))
    #expect(!window.restInOrder.joined().contains(45))
  }

  @Test func upwardsEverythingIsMirrored() throws {
    let window = try window(from: 20_000, speed: -600)
    #expect(window.direction == .up)
    #expect(window.visible == 194..<206)
    #expect(window.ahead.upperBound == window.focus.lowerBound)
    #expect(window.ahead.count >= 12)
    #expect(window.behind.lowerBound == window.visible.upperBound)
    #expect(Array(window.focusInOrder) == window.focus.reversed())
    #expect(Array(window.restInOrder[0]) == window.ahead.reversed())
    #expect(Array(window.restInOrder[1]) == Array(window.behind))
  }

  @Test func onATurnTheOrderTurns() throws {
    let layout = GridLayout(columns: 2, cell: PixelSize(200, 200), sections: [.init(itemCount: 1_000)])
    var motion = ScrollMotion()
    for (step, offset) in [4_000.0, 4_400, 4_200].enumerated() {
      motion.move(to: Viewport(offset: offset, height: 1_200, time: start + .seconds(step)))
    }
    let viewport = try #require(motion.viewport)
    let window = PrefetchWindow(
      layout: layout, viewport: viewport, motion: motion, at: viewport.time + .seconds(1), pace: FetchPace(),
      parallel: 8, options: .init())
    #expect(window.visible == 42..<54)
    #expect((window.ahead, window.behind) == (30..<42, 54..<60))
  }

  @Test func atAllSpeedsAndPlacesTheWindowIsWhole() throws {
    var random = SplitMix(state: 11)
    for _ in 0..<300 {
      let window = try window(
        items: .random(in: 0...400, using: &random), from: .random(in: -5_000...50_000, using: &random),
        speed: .random(in: -9_000...9_000, using: &random), frames: 12)
      let order = Array(window.focusInOrder) + window.restInOrder.flatMap { Array($0) }
      #expect(Set(order).count == order.count)
      #expect(order.allSatisfy { window.kept.contains($0) })
      #expect(window.visible.allSatisfy { window.kept.contains($0) })
    }
  }
}

@Suite struct ViewportInboxTests {
  private let inbox = ViewportInbox()

  @discardableResult
  private func post(_ offset: Double) -> Bool { inbox.post(Viewport(offset: offset, height: 400)) }

  @Test func onlyTheFirstNeedsSomebodyToBeTold() {
    #expect(post(1))
    #expect(!post(2))
    _ = inbox.takeAll()
    #expect(post(3))
  }

  @Test func viewportsAreTakenOnceInTheirOrder() {
    for offset in [3.0, 1, 2] { post(offset) }
    #expect(inbox.latest?.offset == 2)
    #expect(inbox.takeAll().map(\.offset) == [3, 1, 2])
    #expect(inbox.takeAll().isEmpty && inbox.latest == nil)
  }

  @Test func whatNobodyTakesDoesNotPileUp() {
    for offset in 0..<1000 { post(Double(offset)) }
    #expect(inbox.takeAll().map(\.offset) == (1000 - ViewportInbox.capacity..<1000).map(Double.init))
  }
}
