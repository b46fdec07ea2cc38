package import HTTPTransport

/// Counts what is under way, so that what waits for silent servers holds back nothing but itself. A pure value.
///
/// What waits so is not counted once something that began later is done, or once it was put off: until then it may be all
/// of the server that is slow. Whatever is under way takes memory, so there is a limit to what waits in vain, too: beyond it, such pictures count like
/// all others.
package struct InFlightWindow: Sendable {
  /// The most that may wait for silent servers beside what is counted. Each takes a few kilobytes.
  static let mostSilent = 256

  /// The most that is under way, what is not counted left out.
  let capacity: Int
  private var running: Set<Int> = []
  private var silences: [Int: ServerSilence] = [:]
  private var lastDone = Int.min

  /// - Parameter capacity: At least 1.
  package init(capacity: Int) { self.capacity = max(1, capacity) }

  /// How many are under way.
  var count: Int { running.count }
  /// How many wait for silent servers, as far as they are not counted.
  package var uncounted: Int {
    min(silences.count { $0.value == .putOff || $0.key < lastDone }, Self.mostSilent)
  }
  /// Whether one more may begin.
  package var hasRoom: Bool { count - uncounted < capacity }

  /// One more is under way. Its number is higher than those before.
  package mutating func begin(_ number: Int) { running.insert(number) }

  /// One of them waits for a silent server, or does no longer. Nothing happens when it is done.
  package mutating func setSilence(_ number: Int, _ silence: ServerSilence) {
    silences[number] = silence == .answering || !running.contains(number) ? nil : silence
  }

  /// One is done.
  package mutating func end(_ number: Int) {
    running.remove(number)
    silences[number] = nil
    lastDone = max(lastDone, number)
  }
}
