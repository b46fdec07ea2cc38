import Glibc
import Synchronization
import ThumbnailCore

/// A child of this process, which is killed and reaped once, at the latest on `deinit`.
final class ChildProcess: Sendable {
  let pid: pid_t
  private let isCollected = Mutex(false)

  init(_ pid: pid_t) { self.pid = pid }

  deinit { end() }

  /// Kills the process, which takes a while, without waiting for its end.
  func beginEnd() { isCollected.withLock { isCollected in if !isCollected { kill(pid, SIGKILL) } } }

  /// Kills the process and reaps it. Has no effect if that was done already.
  func end() {
    isCollected.withLock { isCollected in
      guard !isCollected else { return }
      isCollected = true
      kill(pid, SIGKILL)
      while waitpid(pid, nil, 0) < 0, errno == EINTR {}
    }
  }

  /// Kills the process after a failure, and reports how it exited if it was dead already.
  func end(after failure: HelperFailure) -> HelperFailure {
    guard case .crashed = failure else {
      end()
      return failure
    }
    let status = isCollected.withLock { isCollected -> Int32? in
      // A process that has closed its socket is about to exit, and its own exit status is more informative than a kill.
      for _ in 0..<500 where !isCollected {
        var status: Int32 = 0
        let ended = waitpid(pid, &status, WNOHANG)
        if ended != 0 { isCollected = true }
        if ended == pid { return status }
        if !isCollected { usleep(1000) }
      }
      return nil
    }
    end()
    guard let status else { return failure }
    let signal = status & 0x7f
    if signal == 0 { return .crashed(how: "exit status \(status >> 8 & 0xff)") }
    return .crashed(how: "signal \(signal), \(String(cString: strsignal(signal)))")
  }
}
