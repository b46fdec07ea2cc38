import Foundation
import Synchronization
import TestOrigin
import Testing

/// Records a test failure if the condition does not become true in time.
func poll(
  _ sourceLocation: SourceLocation = #_sourceLocation, until condition: () async throws -> Bool
) async rethrows {
  let holds = try await eventually(condition)
  #expect(holds, "the condition did not come true in time", sourceLocation: sourceLocation)
}

/// Records values from any thread, in order.
final class Recorder<Value: Sendable>: Sendable {
  private let storage = Mutex<[Value]>([])
  var values: [Value] { storage.withLock { $0 } }
  func append(_ value: Value) { storage.withLock { $0.append(value) } }
}

/// An atomic counter.
final class Counter: Sendable {
  private let storage = Mutex(0)
  var value: Int { storage.withLock { $0 } }
  @discardableResult func increment() -> Int {
    storage.withLock {
      $0 += 1
      return $0
    }
  }
  func decrement() { storage.withLock { $0 -= 1 } }
  func raise(to value: Int) { storage.withLock { $0 = max($0, value) } }
}

/// Blocks threads until it is opened.
final class Latch: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  func wait() {
    semaphore.wait()
    semaphore.signal()
  }
  func open() { semaphore.signal() }
}

/// A temporary directory, deleted when the value is dropped.
final class TemporaryDirectory: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("thumbnailer-\(UUID())", isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The names of all entries, including hidden ones.
  var contents: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }
}

/// A random number generator with a seed, for reproducible sequences.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

/// A wall clock that starts at the present and advances only when told to.
final class WallClock: Sendable {
  private let storage = Mutex(Date())
  var now: Date { storage.withLock { $0 } }
  /// Advances it by this many seconds, which may be negative.
  func advance(by seconds: Double) { storage.withLock { $0.addTimeInterval(seconds) } }
}
