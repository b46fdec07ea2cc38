/// Measures how long work takes, from its creation on, without the pauses and the sleep of the machine.
package struct Stopwatch: Sendable {
  private var started = SuspendingClock.now

  package init() {}

  /// The time so far.
  package var time: Duration { .now - started }

  /// Does something else.
  package mutating func pause(_ work: () -> Void) {
    let began = SuspendingClock.now
    work()
    started += .now - began
  }
}
