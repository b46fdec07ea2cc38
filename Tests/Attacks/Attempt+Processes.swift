import CAttack
import Foundation

extension Attempt {
  // Would do no harm if it arrived.
  private static let signal = Int(SIGCONT)

  /// To reach other processes, and to make new ones.
  static let onProcesses: [Attempt] = [
    Attempt("kill", worksFreely: true) { Kernel.call(SYS_kill, $0.parent, signal) },
    Attempt("kill all", call: SYS_kill, -1, 0),
    Attempt("what an earlier image left in memory", .refused, worksFreely: true) { _ in
      let count = 1000
      guard let earlier = malloc(count) else { return -Int(ENOMEM) }
      memset(earlier, 83, count)
      free(earlier)
      guard let later = malloc(count) else { return -Int(ENOMEM) }
      defer { free(later) }
      return UnsafeRawBufferPointer(start: later, count: count).contains(83) ? count : -Int(ENODATA)
    },
    Attempt("tkill", worksFreely: true) { Kernel.call(SYS_tkill, $0.parent, signal) },
    Attempt("tgkill", worksFreely: true) { Kernel.call(SYS_tgkill, $0.parent, $0.parent, signal) },
    Attempt("rt_sigqueueinfo") { Kernel.call(SYS_rt_sigqueueinfo, $0.parent, signal, Kernel.zeroes()) },
    Attempt("rt_tgsigqueueinfo") { Kernel.call(SYS_rt_tgsigqueueinfo, $0.parent, $0.parent, signal, Kernel.zeroes()) },
    Attempt("pidfd_open", worksFreely: true) { Kernel.call(SYS_pidfd_open, $0.parent, 0) },
    Attempt("pidfd_getfd", call: SYS_pidfd_getfd, 4, 0, 0),
    Attempt("pidfd_send_signal", call: SYS_pidfd_send_signal, 4, signal, 0, 0),
    Attempt("process_vm_readv") {
      Kernel.call(SYS_process_vm_readv, $0.parent, Kernel.zeroes(), 1, Kernel.zeroes(), 1, 0)
    },
    Attempt("process_vm_writev") {
      Kernel.call(SYS_process_vm_writev, $0.parent, Kernel.zeroes(), 1, Kernel.zeroes(), 1, 0)
    },
    Attempt("process_madvise", call: SYS_process_madvise, 4, Kernel.zeroes(), 1, 0, 0),
    Attempt("ptrace") { Kernel.call(SYS_ptrace, 0x4206, $0.parent, 0, 0) },
    Attempt("kcmp") { Kernel.call(SYS_kcmp, $0.parent, $0.parent, 0, 0, 0) },
    Attempt("prlimit64 of the parent", worksFreely: true) {
      Kernel.call(SYS_prlimit64, $0.parent, Int(RLIMIT_CORE.rawValue), 0, Kernel.zeroes())
    },
    Attempt("prlimit64: more memory", call: SYS_prlimit64, 0, Int(RLIMIT_AS.rawValue), Kernel.zeroes(), 0),
    Attempt("setpriority") { Kernel.call(SYS_setpriority, 0, $0.parent, 19) },
    Attempt("sched_setaffinity") { Kernel.call(SYS_sched_setaffinity, $0.parent, 8, Kernel.zeroes()) },
    Attempt("clone: a process", call: SYS_clone, Int(SIGCHLD), 0, 0, 0, 0),
    Attempt("clone: a user namespace", call: SYS_clone, 0x1000_0000 | Int(SIGCHLD), 0, 0, 0, 0),
    Attempt("clone: a thread in other namespaces", call: SYS_clone, 0x3d_0f00 | 0x4000_0000, 0, 0, 0, 0),
    Attempt("clone3", .refused, call: SYS_clone3, Kernel.zeroes(), 88),
    Attempt("unshare", call: SYS_unshare, 0x1000_0000),
    Attempt("setns", call: SYS_setns, 0, 0),
    Attempt("execve", call: SYS_execve, Kernel.text("/bin/true"), Kernel.zeroes(), Kernel.zeroes()),
    Attempt("execveat", call: SYS_execveat, -100, Kernel.text("/bin/true"), Kernel.zeroes(), Kernel.zeroes(), 0),
    Attempt("memfd_create, to execute it", worksFreely: true) { _ in
      Kernel.call(SYS_memfd_create, Kernel.text("a"), 0)
    },
    Attempt("setuid", call: SYS_setuid, 0),
    Attempt("setresuid", call: SYS_setresuid, 0, 0, 0),
    Attempt("setgroups", call: SYS_setgroups, 0, 0),
    Attempt("capset", call: SYS_capset, Kernel.zeroes(), Kernel.zeroes()),
    Attempt("setsid", call: SYS_setsid),
    Attempt("getppid", worksFreely: true) { _ in Kernel.call(SYS_getppid) },
    Attempt("prctl: outlive the parent", .refused, call: SYS_prctl, Int(PR_SET_PDEATHSIG), 0),
    Attempt("prctl: be inspected", .refused, call: SYS_prctl, Int(PR_SET_DUMPABLE), 1),
    Attempt("seccomp", call: SYS_seccomp, 1, 0, Kernel.zeroes()),
  ]

  /// To run code that was not there.
  static let onMemory: [Attempt] = [
    Attempt("mmap of code", .refused, worksFreely: true) { _ in
      Kernel.call(SYS_mmap, 0, 4096, Int(PROT_WRITE | PROT_EXEC), Int(MAP_PRIVATE | MAP_ANONYMOUS), -1, 0)
    },
    Attempt("mprotect to code", .refused, worksFreely: true) { _ in
      let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      return Kernel.call(SYS_mprotect, Int(bitPattern: page), 4096, Int(PROT_READ | PROT_EXEC))
    },
    Attempt("pkey_mprotect to code", call: SYS_pkey_mprotect, 0, 4096, Int(PROT_EXEC), -1),
    Attempt("a library", .refused, worksFreely: true) { _ in dlopen("libBrokenLocale.so.1", RTLD_NOW) == nil ? -1 : 0 },
    Attempt("userfaultfd", call: SYS_userfaultfd, 0),
    Attempt("mlockall", call: SYS_mlockall, 3),
  ]
}
