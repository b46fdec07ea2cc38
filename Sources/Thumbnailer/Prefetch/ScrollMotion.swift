import Foundation

/// The motion of a viewport, derived from successive positions: its speed, its direction, and how far it will still go.
///
/// The speed is an average over about 50 ms. A second average over 200 ms lags behind while the scroll slows down, and
/// the lag gives the deceleration. A jump, as by a scroll bar or a search, does not count as speed.
struct ScrollMotion: Sendable {
  /// The time constants of the two averages, in seconds.
  private static let shortAverage = 0.05
  private static let longAverage = 0.2
  /// After this many seconds without movement the viewport is at rest. Front ends report movements at least 30 times a
  /// second.
  static let restInterval = 0.1
  /// A step of more than two viewport heights is a jump if it is faster than this many heights per second.
  private static let jumpSpeed = 25.0
  /// The longest time of a step, in seconds: in a longer gap the viewport was at rest.
  private static let longestStep = 0.25
  /// A jump within this many seconds of the last is part of a series, as when a scroll bar is dragged.
  private static let scrubInterval = 0.25
  /// The direction reverses once the viewport has moved back by this part of its height, so that jitter does not
  /// reverse it.
  private static let turningDistance = 0.1

  /// The latest viewport.
  private(set) var viewport: Viewport?
  /// The current or last direction of the scroll.
  private(set) var direction = ScrollDirection.down
  /// Whether the last step was a jump.
  private(set) var hasJumped = false
  /// The time until which nothing is started, because the viewport jumps repeatedly; in the past or nil if it does not.
  private(set) var holdTime: ContinuousClock.Instant?
  private var lastJump: ContinuousClock.Instant?
  private var shortSpeed = 0.0
  private var longSpeed = 0.0
  /// How far the viewport has moved back since its farthest point, in points.
  private var backtracked = 0.0
  private var lastMovement: ContinuousClock.Instant?

  /// Adds the next viewport.
  mutating func move(to next: Viewport) {
    defer { viewport = next }
    hasJumped = false
    guard let last = viewport else { return }
    let distance = next.offset - last.offset
    let elapsed = (next.time - last.time).seconds
    if isJump(distance, in: elapsed, height: next.height) {
      rest()
      (hasJumped, backtracked) = (true, 0)
      let isOneOfMany = lastJump.map { (next.time - $0).seconds < Self.scrubInterval } ?? false
      holdTime = isOneOfMany ? next.time + .seconds(Self.restInterval) : nil
      lastJump = next.time
      return
    }
    turnIfNeeded(after: distance, height: next.height)
    if distance == 0 {
      if let lastMovement, (next.time - lastMovement).seconds >= Self.restInterval / 3 { rest() }
      return
    }
    lastMovement = next.time
    guard elapsed > 0 else { return }
    let speed = distance / elapsed
    // A scroll that starts or reverses has no history to average with.
    if speed * shortSpeed <= 0 { (shortSpeed, longSpeed) = (speed, speed) }
    shortSpeed += (speed - shortSpeed) * (1 - exp(-elapsed / Self.shortAverage))
    longSpeed += (speed - longSpeed) * (1 - exp(-elapsed / Self.longAverage))
  }

  /// The speed at a moment, in points per second; negative upwards. Without new viewports it is soon 0.
  func velocity(at time: ContinuousClock.Instant) -> Double {
    guard let viewport, (time - viewport.time).seconds < Self.restInterval else { return 0 }
    return shortSpeed
  }

  /// The distance that the viewport will move within `seconds` at the current speed and deceleration, in points.
  /// Negative upwards.
  func travel(in seconds: Double, from time: ContinuousClock.Instant) -> Double {
    let velocity = velocity(at: time)
    guard let decay else { return velocity * seconds }
    // The lag of the average is in its factor, T/(T-a).
    return velocity * (decay - Self.shortAverage) * (1 - exp(-seconds / decay))
  }

  /// The time when the viewport counts as resting, unless a new one comes before; nil if it is at rest.
  var restTime: ContinuousClock.Instant? {
    shortSpeed == 0 ? nil : viewport.map { $0.time + .seconds(Self.restInterval) }
  }

  /// The time constant of the deceleration in seconds, in which the speed falls to 1/e; nil if it does not fall.
  ///
  /// For a speed that falls as e^(-t/T), an average over the time a is T/(T-a) times the speed. The quotient of two
  /// such averages gives T.
  private var decay: Double? {
    guard shortSpeed != 0 else { return nil }
    let quotient = longSpeed / shortSpeed
    // Below that it is noise, or too slow to matter.
    guard quotient > 1.1 else { return nil }
    return (quotient * Self.longAverage - Self.shortAverage) / (quotient - 1)
  }

  private func isJump(_ distance: Double, in elapsed: Double, height: Double) -> Bool {
    let interval = min(max(elapsed, 0), Self.longestStep)
    return abs(distance) > max(2, Self.jumpSpeed * interval) * height
  }

  private mutating func rest() { (shortSpeed, longSpeed) = (0, 0) }

  private mutating func turnIfNeeded(after distance: Double, height: Double) {
    let forward = direction == .down ? distance : -distance
    backtracked = max(0, backtracked - forward)
    guard backtracked > Self.turningDistance * height else { return }
    direction = direction.reversed
    backtracked = 0
  }
}

/// The direction of a scroll.
enum ScrollDirection: Sendable {
  /// Towards the end of the content: offsets grow.
  case down
  /// Towards the start of the content: offsets shrink.
  case up

  /// The other direction.
  var reversed: ScrollDirection { self == .down ? .up : .down }

  /// The items of a range in the order in which the scroll reaches them.
  func order(_ items: Range<Int>) -> StrideTo<Int> {
    self == .down
      ? stride(from: items.lowerBound, to: items.upperBound, by: 1)
      : stride(from: items.upperBound - 1, to: items.lowerBound - 1, by: -1)
  }
}
