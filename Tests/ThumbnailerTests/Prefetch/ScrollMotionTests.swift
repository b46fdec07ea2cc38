@testable import Thumbnailer

@Suite struct ScrollMotionTests {
  private let start = ContinuousClock().systemEpoch

  /// Plays a scroll at 60 frames a second: `offset` gives where the view, 1,200 points high, is after some seconds.
  private func play(_ motion: inout ScrollMotion, from begin: Double = 0, to end: Double, offset: (Double) -> Double) {
    for frame in Int(begin * 60)...Int(end * 60) {
      let time = Double(frame) / 60
      motion.move(to: Viewport(offset: offset(time), height: 1_200, time: start + .seconds(time)))
    }
  }

  private func velocity(_ motion: ScrollMotion, at seconds: Double) -> Double {
    motion.velocity(at: start + .seconds(seconds))
  }

  @Test func aSteadyScrollHasItsSpeed() {
    var motion = ScrollMotion()
    play(&motion, to: 1) { $0 * 600 }
    #expect(abs(velocity(motion, at: 1) - 600) < 1)
    #expect(abs(motion.travel(in: 0.5, from: start + .seconds(1)) - 300) < 15)
    #expect(motion.direction == .down)
  }

  @Test func jitterOfTheEventsDoesNotShakeTheSpeed() {
    var motion = ScrollMotion()
    var random = SplitMix(state: 1)
    var time = 0.0
    for _ in 0..<120 {
      time += Double.random(in: 0.004...0.03, using: &random)
      motion.move(
        to: Viewport(
          offset: time * 600 + .random(in: -1...1, using: &random), height: 1_200, time: start + .seconds(time)))
    }
    #expect(abs(velocity(motion, at: time) - 600) < 150)
  }

  @Test func aViewWithoutNewsRests() {
    var motion = ScrollMotion()
    play(&motion, to: 1) { $0 * 600 }
    #expect(motion.restTime == start + .seconds(1) + .seconds(ScrollMotion.restInterval))
    #expect(velocity(motion, at: 1.2) == 0)
  }

  @Test func aViewThatStaysWhereItIsRests() {
    var motion = ScrollMotion()
    play(&motion, to: 1) { $0 * 4_000 }
    play(&motion, from: 1 + 1.0 / 60, to: 1.1) { _ in 4_000 }
    #expect(velocity(motion, at: 1.1) == 0)
    #expect(motion.restTime == nil)
  }

  @Test func aFlingThatSlowsDownIsExpectedWhereItWillRest() {
    // A fling of 4,000 points a second that slows down as flings do: to 1/e in half a second.
    var motion = ScrollMotion()
    let offset = { (time: Double) in 2_000 * (1 - exp(-time / 0.5)) }
    play(&motion, to: 0.6, offset: offset)
    let left = 2_000 - offset(0.6)
    let expected = motion.travel(in: 60, from: start + .seconds(0.6))
    #expect(abs(expected - left) < 0.35 * left, "expected \(expected) of \(left)")
  }

  @Test func aJumpIsNoSpeed() {
    var motion = ScrollMotion()
    play(&motion, to: 1) { $0 * 600 }
    motion.move(to: Viewport(offset: 200_000, height: 1_200, time: start + .seconds(1.016)))
    #expect(motion.hasJumped)
    #expect(velocity(motion, at: 1.016) == 0)
    motion.move(to: Viewport(offset: 200_010, height: 1_200, time: start + .seconds(1.033)))
    #expect(!motion.hasJumped)
  }

  @Test func aFastFlingIsNoJump() {
    var motion = ScrollMotion()
    play(&motion, to: 1) { $0 * 8_000 }
    #expect(!motion.hasJumped)
    #expect(velocity(motion, at: 1) > 7_900)
  }

  @Test func theDirectionTurnsAfterATenthOfTheView() {
    var motion = ScrollMotion()
    play(&motion, to: 1) { $0 * 600 }
    let move = { (motion: inout ScrollMotion, offset: Double, time: Double) in
      motion.move(to: Viewport(offset: offset, height: 1_200, time: start + .seconds(time)))
    }
    move(&motion, 500, 1.02)
    #expect(motion.direction == .down)
    #expect(velocity(motion, at: 1.02) < 0)
    move(&motion, 470, 1.04)
    #expect(motion.direction == .up)
  }

  @Test func timesThatStandStillOrGoBackDoNoHarm() {
    var motion = ScrollMotion()
    for offset in [0.0, 10, 20] { motion.move(to: Viewport(offset: offset, height: 1_200, time: start)) }
    motion.move(to: Viewport(offset: 30, height: 1_200, time: start - .seconds(1)))
    #expect(velocity(motion, at: 0).isFinite)
  }
}
