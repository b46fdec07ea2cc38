import Foundation

/// Holds a response back until the test opens it. Opening it twice does no harm; an open gate stays open.
public final class Gate: Sendable {
  /// The end of a pipe that becomes readable, and stays so, when the gate opens: a connection can wait for it and its
  /// socket at once.
  let descriptor: Int32
  private let writeEnd: Int32

  /// A closed gate.
  public init() {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0, "no pipe: the process has run out of descriptors")
    for end in ends { setCloseOnExec(end) }
    descriptor = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  /// Whether it was opened.
  public var isOpen: Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 0) > 0
  }

  /// Lets everything pass that waits here, now and later.
  public func open() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }
}

/// Keeps a descriptor out of the programs that a test starts.
func setCloseOnExec(_ descriptor: Int32) {
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}
