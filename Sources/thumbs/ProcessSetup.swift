import CMalloc
import Foundation

/// What the process needs before it does anything: how it takes broken pipes, and how its memory is kept small.
enum ProcessSetup {
  static func apply() {
    // A peer that closes early, or `| head`, is an error to be handled, not a reason to die in the middle of a write.
    signal(SIGPIPE, SIG_IGN)
    // One heap for all threads: with one for each, what a decode frees on one thread stays lost to the others, and the
    // peak grows with the number of pictures. (The library itself sees to it that large blocks go straight back.)
    _ = mallopt(M_ARENA_MAX, 1)
    _ = mallopt(M_TRIM_THRESHOLD, 1 << 20)
  }
}
