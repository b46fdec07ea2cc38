import Foundation

/// How a view moves, as successive viewports tell: its speed, its direction, and how far it will still go.
///
/// The speed is an average over the last 50 ms or so. A second one over 200 ms lags behind it while the view slows down,
/// and by how much tells how fast it does. A jump, as by a scroll bar or a search, is no speed.
struct ScrollMotion: Sendable {
  /// Over how long the speed is averaged, in seconds.
  private static let shortAverage = 0.05
  private static let longAverage = 0.2
  /// After so many seconds without movement, the view rests. A front end tells of movements 30 times a second and more.
  static let restInterval = 0.1
  /// A step of more than two heights of the view is a jump if it is faster than this many heights a second.
  private static let jumpSpeed = 25.0
  /// No step takes longer, in seconds: what was longer without news rested.
  private static let longestStep = 0.25
  /// The direction turns once the view has gone back by this part of its height: a trembling finger turns nothing.
  private static let turningDistance = 0.1

  /// The viewport told last.
  private(set) var viewport: Viewport?
  /// Where the scroll goes, or went last.
  private(set) var direction = ScrollDirection.down
  /// Whether the last step was a jump.
  private(set) var hasJumped = false
  private var shortSpeed = 0.0
  private var longSpeed = 0.0
  /// How far the view has gone against the direction since its farthest point.
  private var backtracked = 0.0
  private var lastMovement: ContinuousClock.Instant?

  /// The view is here now.
  mutating func move(to next: Viewport) {
    defer { viewport = next }
    hasJumped = false
    guard let last = viewport else { return }
    let distance = next.offset - last.offset
    let elapsed = (next.time - last.time).seconds
    if isJump(distance, in: elapsed, height: next.height) {
      rest()
      (hasJumped, backtracked) = (true, 0)
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
    // A scroll that begins, or turns, has no past to average with.
    if speed * shortSpeed <= 0 { (shortSpeed, longSpeed) = (speed, speed) }
    shortSpeed += (speed - shortSpeed) * (1 - exp(-elapsed / Self.shortAverage))
    longSpeed += (speed - longSpeed) * (1 - exp(-elapsed / Self.longAverage))
  }

  /// The speed at a moment, in points a second; negative upwards. Without news it is 0 soon.
  func velocity(at time: ContinuousClock.Instant) -> Double {
    guard let viewport, (time - viewport.time).seconds < Self.restInterval else { return 0 }
    return shortSpeed
  }

  /// How far the view will go within `seconds` if it goes on as it does, slowing down as it does. Negative upwards.
  func travel(in seconds: Double, from time: ContinuousClock.Instant) -> Double {
    let velocity = velocity(at: time)
    guard let decay else { return velocity * seconds }
    // What the average lags behind by is in its factor, T/(T-a).
    return velocity * (decay - Self.shortAverage) * (1 - exp(-seconds / decay))
  }

  /// When the view counts as resting, unless something is heard of it before; nil when it rests.
  var restTime: ContinuousClock.Instant? {
    shortSpeed == 0 ? nil : viewport.map { $0.time + .seconds(Self.restInterval) }
  }

  /// After how many seconds the speed will be down to 1/e, if it falls as it does; nil when it does not fall.
  ///
  /// Of a speed that falls as e^(-t/T), an average over the time a is T/(T-a) times the speed. The quotient of two such
  /// averages gives T.
  private var decay: Double? {
    guard shortSpeed != 0 else { return nil }
    let quotient = longSpeed / shortSpeed
    // Below that it is noise, or so slow that it does not matter.
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

extension Duration {
  /// The duration in seconds.
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
