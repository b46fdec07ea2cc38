import HTTPTransport

/// Limits the items in flight, so that items that wait for their servers do not delay others. A pure value.
///
/// A deferred item is not counted, and neither is a silent one once a later one has finished: until then the server may
/// be slow for all. Every item takes memory, so the uncounted ones are limited too: beyond the limit they count like
/// all others.
struct InFlightWindow: Sendable {
  /// The most items that are not counted. Each takes a few kilobytes.
  static let mostUncounted = 4096

  /// The most counted items in flight.
  let capacity: Int
  private var running: Set<Int> = []
  private var silent: Set<Int> = []
  private var deferred: Set<Int> = []
  private var lastDone = Int.min

  /// - Parameter capacity: At least 1.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// The number of items in flight.
  var count: Int { running.count }
  /// The number of items that are not counted.
  var uncounted: Int { min(deferred.count + silent.count { $0 < lastDone }, Self.mostUncounted) }
  /// Whether another item may start.
  var hasRoom: Bool { count - uncounted < capacity }

  /// Adds an item. Its number is higher than all before.
  mutating func begin(_ number: Int) { running.insert(number) }

  /// Sets whether an item waits for its server. Has no effect once it has finished.
  mutating func setSilence(_ number: Int, _ silence: ServerSilence) {
    guard running.contains(number) else { return }
    silent.remove(number)
    deferred.remove(number)
    switch silence {
    case .responding: break
    case .silent: silent.insert(number)
    case .deferred: deferred.insert(number)
    }
  }

  /// Removes a finished item.
  mutating func end(_ number: Int) {
    running.remove(number)
    silent.remove(number)
    deferred.remove(number)
    lastDone = max(lastDone, number)
  }
}
