import CLibC
import Foundation

/// Holds a response back until the test opens the gate. It stays open; opening it again has no effect.
public final class Gate: Sendable {
  /// The read end of a pipe that becomes readable, and stays so, when the gate opens: a connection can poll it together
  /// with its socket.
  let descriptor: Int32
  private let writeEnd: Int32

  /// A closed gate.
  public init() {
    (descriptor, writeEnd) = makePipe()
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  /// Whether the gate was opened.
  public var isOpen: Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 0) > 0
  }

  /// Opens the gate for current and future waiters.
  public func open() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }
}

/// Prevents child processes of a test from inheriting the descriptor.
func setCloseOnExec(_ descriptor: Int32) {
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}

/// Waits until the condition holds, polling every few milliseconds.
///
/// Gives up after `deadline`, but not before about three hundred polls: on a machine busy with other tests the time may
/// pass before other threads could run. Without one, when the time limit of the test has cancelled it.
///
/// - Returns: False if the condition did not hold by then.
public func eventually(
  within deadline: Duration? = nil, _ condition: () async throws -> Bool
) async rethrows -> Bool {
  // Real time: looks at what threads, the kernel and other processes do, which no clock of a test moves. A deadline is
  // the caller's, who says why.
  let end = deadline.map { ContinuousClock.now + $0 }
  var looks = 0
  while try await !condition() {
    looks += 1
    // Real time: as said above.
    if Task.isCancelled || end.map({ ContinuousClock.now >= $0 && looks > 300 }) == true { return false }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return true
}

/// A pipe whose ends no process inherits that another test starts at the same moment: it would keep them open.
public func makePipe() -> (read: Int32, write: Int32) {
  var ends: [Int32] = [-1, -1]
  precondition(pipe2(&ends, O_CLOEXEC) == 0, "no pipe: the process has run out of descriptors")
  return (ends[0], ends[1])
}
