import CAttack
import Foundation

/// To take so much of something that nothing is left for others.
enum Exhaustion: String, CaseIterable, Sendable {
  case memory, threads, output, time, descriptors, crash

  /// Returns an account of how it ended, if it does.
  func run(_ scene: Attempt.Scene) -> String {
    switch self {
    case .memory:
      var taken = 0
      while let block = malloc(1 << 20) {
        memset(block, 7, 1 << 20)
        taken += 1
      }
      return "refused: after \(taken) MiB"
    case .threads:
      var count = 0
      while Self.startThread() { count += 1 }
      return "refused: after \(count) threads"
    case .output:
      let bytes = Kernel.zeroes(1 << 16)
      while Kernel.call(SYS_sendto, scene.socket, bytes, 1 << 16, Int(MSG_NOSIGNAL), 0, 0) > 0 {}
      return "refused: the parent listens no more"
    case .time: while true {}
    case .descriptors:
      var count = 0
      while Kernel.call(SYS_dup, scene.image) >= 0 { count += 1 }
      return "refused: after \(count) descriptors"
    case .crash: abort()
    }
  }

  /// A thread that never ends.
  private static func startThread() -> Bool {
    var thread = pthread_t()
    // Real time: for ever.
    return pthread_create(&thread, nil, { _ in while true { sleep(1000) } }, nil) == 0
  }
}
