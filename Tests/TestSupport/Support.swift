// What nearly every test needs comes with this module.
@_exported public import Foundation
import Synchronization
@_exported public import TestOrigin
@_exported public import Testing
import ThumbnailCore

/// Records a test failure if the condition does not become true in time.
package func poll(
  _ sourceLocation: SourceLocation = #_sourceLocation, until condition: () async throws -> Bool
) async rethrows {
  let holds = try await eventually(condition)
  #expect(holds, "the condition did not come true in time", sourceLocation: sourceLocation)
}

/// Work that only ends when it is cancelled.
package func untilCancelled() async { for await _ in AsyncStream<Never>.makeStream().stream {} }

/// Records values from any thread, in order.
package final class Recorder<Value: Sendable>: Sendable {
  private let storage = Mutex<[Value]>([])
  package init() {}
  package var values: [Value] { storage.withLock { $0 } }
  package func append(_ value: Value) { storage.withLock { $0.append(value) } }
}

/// An atomic counter.
package final class Counter: Sendable {
  private let storage = Mutex(0)
  package init() {}
  package var value: Int { storage.withLock { $0 } }
  @discardableResult package func increment() -> Int {
    storage.withLock {
      $0 += 1
      return $0
    }
  }
  package func decrement() { storage.withLock { $0 -= 1 } }
  package func raise(to value: Int) { storage.withLock { $0 = max($0, value) } }
}

extension Data {
  /// Writes a file, and returns once no other process has it open for writing: one that another test starts shares what
  /// is open here until it runs its own program, and what is being written is not replaced.
  package func write(to url: URL) throws {
    try write(to: url, options: [])
    let file = RawPath(fileURL: url)
    // Real time: for a moment.
    while NewFile.isBeingWritten(file, AT_FDCWD), !isOpen(file) { usleep(1000) }
  }

  /// Whether this process has the file open.
  private func isOpen(_ file: RawPath) -> Bool {
    let (folder, place) = ("/proc/self/fd", file.resolved)
    let open = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return place == nil || open.contains { RawPath("\(folder)/\($0)").destination == place }
  }
}

extension Process {
  /// Runs it, and returns what it has printed: into a file, as an end of a pipe would stay open in processes that other
  /// tests start at the same moment.
  package func printed() throws -> String {
    let directory = try TemporaryDirectory()
    let file = directory.url.appendingPathComponent("printed")
    try Data().write(to: file)
    standardOutput = try FileHandle(forWritingTo: file)
    try run()
    waitUntilExit()
    return try String(decoding: Data(contentsOf: file), as: UTF8.self)
  }
}

/// Blocks threads until it is opened.
package final class Latch: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  package init() {}
  package func wait() {
    semaphore.wait()
    semaphore.signal()
  }
  package func open() { semaphore.signal() }
}

/// A temporary directory, deleted when the value is dropped.
package final class TemporaryDirectory: Sendable {
  package let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("thumbnailer-\(UUID())", isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The names of all entries, including hidden ones.
  package var contents: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }
}

/// A random number generator with a seed, for reproducible sequences.
package struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  package init(state: UInt64) { self.state = state }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

extension RandomNumberGenerator {
  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// Gives some bytes, at least one and at most so many, other values.
  package mutating func damage(_ bytes: inout [UInt8], in range: Range<Int>? = nil, places: Int) {
    for _ in 0...below(places) {
      bytes[Int.random(in: range ?? bytes.indices, using: &self)] = .random(in: 0...255, using: &self)
    }
  }
}

/// A wall clock that starts at the present and advances only when told to.
package final class WallClock: Sendable {
  // Real time: files and rows that the program dates by itself are not in this clock's future.
  private let storage = Mutex(Date())
  package init() {}
  package var now: Date { storage.withLock { $0 } }
  /// Advances it by this many seconds, which may be negative.
  package func advance(by seconds: Double) { storage.withLock { $0.addTimeInterval(seconds) } }
}
