import HTTPTransport

/// Limits the items in flight so that those waiting for silent servers do not hold up others. A pure value.
///
/// A silent item is not counted once a later one has finished, or once it was deferred: until then the server may be
/// slow for all. As every item takes memory, the uncounted ones are limited too: beyond the limit they count like all
/// others.
struct InFlightWindow: Sendable {
  /// The most silent items that are not counted. Each takes a few kilobytes.
  static let mostSilent = 256

  /// The most counted items in flight.
  let capacity: Int
  private var running: Set<Int> = []
  private var silences: [Int: ServerSilence] = [:]
  private var lastDone = Int.min

  /// - Parameter capacity: At least 1.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// The number of items in flight.
  var count: Int { running.count }
  /// The number of silent items that are not counted.
  var uncounted: Int {
    min(silences.count { $0.value == .deferred || $0.key < lastDone }, Self.mostSilent)
  }
  /// Whether another item may start.
  var hasRoom: Bool { count - uncounted < capacity }

  /// Adds an item. Its number is higher than all before.
  mutating func begin(_ number: Int) { running.insert(number) }

  /// Sets whether an item waits for a silent server. Has no effect once it has finished.
  mutating func setSilence(_ number: Int, _ silence: ServerSilence) {
    silences[number] = silence == .responding || !running.contains(number) ? nil : silence
  }

  /// Removes a finished item.
  mutating func end(_ number: Int) {
    running.remove(number)
    silences[number] = nil
    lastDone = max(lastDone, number)
  }
}
