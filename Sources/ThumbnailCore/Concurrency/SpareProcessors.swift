import Synchronization

/// Counts the processors that decodes use. A decode can use a second one while a processor is idle.
package final class SpareProcessors: Sendable {
  private let used = Atomic(0)
  private let count: Int

  /// - Parameter count: The processors that all decodes may use together.
  package init(_ count: Int) { self.count = count }

  /// Counts the calling thread as one that uses a processor during `decode`. It does not wait for an idle processor.
  package func counting<Result>(_ decode: () -> Result) -> Result {
    used.add(1, ordering: .relaxed)
    defer { giveBack() }
    return decode()
  }

  /// Takes an idle processor for a decode, if there is one. New decodes do not wait for it.
  package func take() -> Bool {
    var seen = used.load(ordering: .relaxed)
    while seen < count {
      let (isTaken, found) = used.compareExchange(expected: seen, desired: seen + 1, ordering: .relaxed)
      if isTaken { return true }
      seen = found
    }
    return false
  }

  /// Returns a processor.
  package func giveBack() { used.subtract(1, ordering: .relaxed) }
}
