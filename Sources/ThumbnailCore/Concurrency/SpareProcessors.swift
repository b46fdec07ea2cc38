import Synchronization

/// Counts the processors that decodes use, so that a decode can use one more for itself while there is one to spare.
package final class SpareProcessors: Sendable {
  private let used = Atomic(0)
  private let count: Int

  /// - Parameter count: The processors that all decodes may use together.
  package init(_ count: Int) { self.count = count }

  /// Whether one is to spare at the moment.
  package var isThere: Bool { used.load(ordering: .relaxed) < count }

  /// Counts the calling thread as one that uses a processor while it carries out `decode`, whether there is one or not:
  /// nothing waits here.
  package func counting<Result>(_ decode: () -> Result) -> Result {
    used.add(1, ordering: .relaxed)
    defer { giveBack() }
    return decode()
  }

  /// Takes a processor if one is to spare. It is to be given back soon, as decodes that begin meanwhile do not wait for
  /// it.
  package func take() -> Bool {
    var seen = used.load(ordering: .relaxed)
    while seen < count {
      let (isTaken, found) = used.compareExchange(expected: seen, desired: seen + 1, ordering: .relaxed)
      if isTaken { return true }
      seen = found
    }
    return false
  }

  /// Gives back a processor that was taken.
  package func giveBack() { used.subtract(1, ordering: .relaxed) }
}
