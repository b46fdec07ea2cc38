import CSandbox
import Foundation
import ImageCodec
import ThumbnailCore

/// The kernel limits of a helper process.
enum HelperConfinement {
  /// Drops everything that no decoder needs. False if the parent has exited already.
  static func apply(_ settings: DecodeHelper.Settings) throws(CodecError) -> Bool {
    _ = csandbox_die_with_parent()
    // The kernel sends the signal only for a parent that exits from now on.
    guard getppid() == settings.parent else { return false }
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    csandbox_use_one_heap()
    limit(RLIMIT_CORE, to: 0)
    // No file can grow, so only the open socket can be written to.
    limit(RLIMIT_FSIZE, to: 0)
    limit(RLIMIT_NOFILE, to: 64)
    try Codec.start()
    HelperOnlyFormat.unblockLoaders()
    // What is mapped by now is the program and its libraries, most of it never touched.
    let mapped = mappedBytes() ?? 1 << 30
    limit(RLIMIT_AS, to: UInt(mapped + settings.memoryLimit))
    // Without these kernel features the helper runs all the same: it still protects the parent from crashes.
    if csandbox_set_no_new_privileges() != 0 || csandbox_filter_calls() != 0 {
      Log.codec.debug("no filter of system calls: \(SystemFailure.last.reason)")
    }
    return true
  }

  /// Limits the CPU time from now on to `seconds` and 5 s in reserve; the kernel then kills the process, as a backstop
  /// to the deadline.
  static func allowComputing(seconds: Int) {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let used = Int(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limits)
    limits.rlim_cur = min(limits.rlim_max, UInt(used + seconds + 5))
    setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limits)
  }

  private static func limit(_ resource: __rlimit_resource, to value: UInt) {
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(resource.rawValue), &limits)
    let most = min(limits.rlim_max, value)
    limits = rlimit(rlim_cur: most, rlim_max: most)
    setrlimit(__rlimit_resource_t(resource.rawValue), &limits)
  }

  /// The address space in use, in bytes.
  private static func mappedBytes() -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
      let pages = text.split(separator: " ").first.flatMap({ Int($0) })
    else { return nil }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
