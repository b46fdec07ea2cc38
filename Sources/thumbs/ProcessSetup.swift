import CMalloc
import Foundation

/// Process-wide settings: the handling of broken pipes, and the allocator.
enum ProcessSetup {
  static func apply() {
    // Turns a write to a closed pipe or socket, as with `| head`, into an error instead of a fatal signal.
    signal(SIGPIPE, SIG_IGN)
    // A single heap: with one for each thread, memory freed on one is not reused by others, and the peak grows with the
    // number of images. (The library itself returns large blocks to the system at once.)
    _ = mallopt(M_ARENA_MAX, 1)
    _ = mallopt(M_TRIM_THRESHOLD, 1 << 20)
  }
}
