import Synchronization

/// Tells work that runs on a thread that its result is no longer wanted.
package final class CancellationFlag: Sendable {
  private let flag = Atomic(false)

  package init() {}

  /// Whether the work should stop.
  package var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Asks the work to stop.
  func set() { flag.store(true, ordering: .relaxed) }
}
