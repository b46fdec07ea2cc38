import CSandbox
import Glibc

/// The system calls that decoders need. Any other call ends the helper, because its code has been taken over.
enum AllowedCalls {
  /// The rules of a process with this number, which talks through this socket.
  static func rules(socket: Int32, process: pid_t) -> [CallRule] {
    conversation(Int(socket)) + files(Int(socket)) + memory + threads(Int(process)) + clocks + triedInVain
  }

  /// Requests and responses: no other socket, and no address that a message could be sent to.
  private static func conversation(_ socket: Int) -> [CallRule] {
    [
      .allow(SYS_recvmsg, if: .argument(0, isOneOf: [socket])),
      .allow(SYS_recvfrom, if: .argument(0, isOneOf: [socket]), .argumentIsNull(4)),
      .allow(SYS_sendto, if: .argument(0, isOneOf: [socket]), .argumentIsNull(4)),
      .allow(SYS_ppoll),
    ] + older { [.allow(SYS_poll)] }
  }

  /// Reading: the image, which is already open, and the files of `ReadableFiles`. Fontconfig and ImageMagick try to
  /// write caches and temporary files, and continue without them.
  private static func files(_ socket: Int) -> [CallRule] {
    [
      .allow(SYS_read, SYS_pread64, SYS_readv, SYS_lseek, SYS_close, SYS_fadvise64, SYS_dup),
      .allow(
        SYS_openat, if: .flags(2, without: Int(O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)), otherwise: .refuse(EACCES)),
      .allow(SYS_fstat, SYS_newfstatat, SYS_statx, SYS_fstatfs, SYS_statfs, SYS_getdents64),
      .allow(SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getcwd),
      // The helper's own descriptors; no locks, no signals to owners, no sizes of pipes.
      .allow(
        SYS_fcntl, if: .argument(1, isOneOf: [F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC].map { Int($0) })),
      // Standard output and errors, which are /dev/null; and responses, which have several parts.
      .allow(SYS_write, if: .argument(0, isOneOf: [1, 2])),
      .allow(SYS_writev, if: .argument(0, isOneOf: [1, 2, socket])),
      // The C library checks whether a descriptor is a terminal before it writes to it.
      .allow(SYS_ioctl, if: .argument(1, isOneOf: [Int(TCGETS)])),
    ] + older { [.allow(SYS_access, SYS_readlink, SYS_stat, SYS_lstat)] }
  }

  /// Memory without code. No library can be loaded late, and compilers of shaders or patterns fail; their callers then
  /// interpret these instead.
  private static var memory: [CallRule] {
    [
      .allow(SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise),
      .allow(SYS_mmap, if: .flags(2, without: Int(PROT_EXEC)), otherwise: .refuse(EPERM)),
      .allow(SYS_mprotect, if: .flags(2, without: Int(PROT_EXEC)), otherwise: .refuse(EPERM)),
    ]
  }

  /// The helper's threads, with their names and signals, and its exit.
  private static func threads(_ process: Int) -> [CallRule] {
    [
      // As pthread_create(3) calls it, and in no other way: no process, no namespace.
      .allow(SYS_clone, if: .argument(0, isOneOf: [0x3d_0f00])),
      .allow(SYS_set_robust_list, SYS_rseq, SYS_futex, SYS_exit, SYS_exit_group, SYS_restart_syscall),
      .allow(SYS_gettid, SYS_getpid, SYS_sched_yield, SYS_sched_getaffinity, SYS_sigaltstack),
      .allow(SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn),
      // abort(3) signals its own thread.
      .allow(SYS_tgkill, if: .argument(0, isOneOf: [process])),
      .allow(SYS_prctl, if: .argument(0, isOneOf: [Int(PR_SET_NAME), Int(PR_GET_NAME)]), otherwise: .refuse(EINVAL)),
      // Reading its own limits: thread stacks, the number of open files.
      .allow(SYS_prlimit64, if: .argument(0, isOneOf: [0, process]), .argumentIsNull(2)),
    ]
  }

  /// Time, random numbers, and properties of the machine.
  private static var clocks: [CallRule] {
    [
      .allow(SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_nanosleep, SYS_clock_nanosleep),
      .allow(SYS_getrandom, SYS_times, SYS_getrusage, SYS_sysinfo, SYS_uname),
      .allow(SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid),
    ] + older { [.allow(SYS_time)] }
  }

  /// Calls that libraries try and do not need. They fail instead of ending the process.
  private static var triedInVain: [CallRule] {
    [
      // The C library starts threads with clone(2) if this call is unknown; its flags are in memory, which a filter
      // cannot read.
      .refuse(SYS_clone3, with: ENOSYS),
      // The C library asks name services for the user's home folder over a socket.
      .refuse(SYS_socket, with: EACCES),
      // Fontconfig renews its caches; ImageMagick removes its temporary files.
      .refuse(SYS_mkdirat, SYS_unlinkat, SYS_fchmodat, SYS_fchmod, with: EACCES),
      // GLib gives a new thread the priority of the thread that makes it.
      .refuse(SYS_sched_getattr, SYS_sched_setattr, with: EPERM),
    ] + older { [.refuse(SYS_mkdir, SYS_unlink, SYS_chmod, with: EACCES)] }
  }

  /// The forerunners of newer calls, which the C library still uses on x86-64 and which arm64 never had.
  private static func older(_ rules: () -> [CallRule]) -> [CallRule] {
    #if arch(x86_64)
      rules()
    #else
      []
    #endif
  }
}
