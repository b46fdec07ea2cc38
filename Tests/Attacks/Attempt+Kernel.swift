import CAttack
import Foundation

extension Attempt {
  /// To talk to anybody but the parent.
  static let onNetworks: [Attempt] =
    [
      ("AF_UNIX", AF_UNIX), ("AF_INET", AF_INET), ("AF_INET6", AF_INET6), ("AF_NETLINK", AF_NETLINK),
      ("AF_PACKET", AF_PACKET), ("AF_ALG", 38), ("AF_VSOCK", 40),
    ].map { name, family in
      Attempt("socket of \(name)", .refused, worksFreely: family != AF_PACKET && family != 40 && family != 38) { _ in
        Kernel.call(SYS_socket, Int(family), family == AF_NETLINK ? 3 : 1, 0)
      }
    } + [
      Attempt("socketpair", call: SYS_socketpair, Int(AF_UNIX), 1, 0, Kernel.zeroes()),
      Attempt("connect by the inherited socket") { Kernel.call(SYS_connect, $0.socket, Kernel.zeroes(), 16) },
      Attempt("bind", call: SYS_bind, 3, Kernel.zeroes(), 16),
      Attempt("listen", call: SYS_listen, 3, 1),
      Attempt("accept4", call: SYS_accept4, 3, 0, 0, 0),
      Attempt("send descriptors to the parent") { attack_send_descriptor(Int32($0.socket), Int32($0.image)) },
      Attempt("sendmmsg", call: SYS_sendmmsg, 3, Kernel.zeroes(), 1, 0),
      Attempt("sendto with an address") {
        Kernel.call(SYS_sendto, $0.socket, Kernel.text("x"), 1, 0, Kernel.zeroes(), 16)
      },
      Attempt("sendto by another descriptor") { Kernel.call(SYS_sendto, $0.image, Kernel.text("x"), 1, 0, 0, 0) },
      Attempt("recvmsg by another descriptor") { Kernel.call(SYS_recvmsg, $0.image, Kernel.zeroes(), 0) },
      Attempt("getsockopt", call: SYS_getsockopt, 3, 1, 17, Kernel.zeroes(), Kernel.zeroes()),
    ]

  /// To use the kernel's other doors, most of which are root's.
  static let onTheKernel: [Attempt] = [
    Attempt("io_uring_setup", call: SYS_io_uring_setup, 1, Kernel.zeroes()),
    Attempt("keyctl", call: SYS_keyctl, 0, 0),
    Attempt("add_key", call: SYS_add_key, Kernel.text("user"), Kernel.text("a"), Kernel.text("b"), 1, -3),
    Attempt("request_key", call: SYS_request_key, Kernel.text("user"), Kernel.text("a"), 0, 0),
    Attempt("mount", call: SYS_mount, Kernel.text("none"), Kernel.text("/tmp"), Kernel.text("tmpfs"), 0, 0),
    Attempt("umount2", call: SYS_umount2, Kernel.text("/proc"), 2),
    Attempt("pivot_root", call: SYS_pivot_root, Kernel.text("/"), Kernel.text("/")),
    Attempt("chroot", call: SYS_chroot, Kernel.text("/")),
    Attempt("perf_event_open", call: SYS_perf_event_open, Kernel.zeroes(), 0, -1, -1, 0),
    Attempt("bpf", call: SYS_bpf, 0, Kernel.zeroes(), 64),
    Attempt("reboot", call: SYS_reboot, 0, 0, 0, 0),
    Attempt("kexec_load", call: SYS_kexec_load, 0, 0, 0, 0),
    Attempt("init_module", call: SYS_init_module, Kernel.zeroes(), 1, Kernel.text("")),
    Attempt("finit_module", call: SYS_finit_module, 0, Kernel.text(""), 0),
    Attempt("delete_module", call: SYS_delete_module, Kernel.text("none"), 0),
    Attempt("swapon", call: SYS_swapon, Kernel.text("/none"), 0),
    Attempt("personality", call: SYS_personality, 0x40000),
    Attempt("quotactl", call: SYS_quotactl, 0, 0, 0, 0),
    Attempt("sethostname", call: SYS_sethostname, Kernel.text("a"), 0),
    Attempt("clock_settime", call: SYS_clock_settime, 99, Kernel.zeroes()),
    Attempt("settimeofday", call: SYS_settimeofday, 0, 0),
    Attempt("adjtimex", call: SYS_adjtimex, Kernel.zeroes()),
    Attempt("syslog", call: SYS_syslog, 10, 0, 0),
    Attempt("acct", call: SYS_acct, Kernel.text("/none")),
    Attempt("vhangup", call: SYS_vhangup),
    Attempt("a call that does not exist", call: 1234),
    Attempt("landlock_create_ruleset", call: 444, 0, 0, 1),
  ]

  /// To leave something behind in memory that processes share.
  static let onSharedMemory: [Attempt] = [
    Attempt("shmget", worksFreely: true) { _ in Kernel.call(SYS_shmget, 0, 4096, 0o1600) },
    Attempt("shmat", call: SYS_shmat, 0, 0, 0),
    Attempt("msgget", worksFreely: true) { _ in Kernel.call(SYS_msgget, 0, 0o1600) },
    Attempt("semget", worksFreely: true) { _ in Kernel.call(SYS_semget, 0, 1, 0o1600) },
    Attempt("mq_open", call: SYS_mq_open, Kernel.text("a"), 0o102, 0o600, 0),
    Attempt("mq_unlink", call: SYS_mq_unlink, Kernel.text("none")),
  ]

  /// To get at the same kernel by other interfaces, whose calls have other numbers.
  static let onOtherInterfaces: [Attempt] = [
    Attempt("an old call: open", .ended) { older("open", $0) },
    Attempt("an old call: creat", .ended) { older("creat", $0) },
    Attempt("an old call: unlink", .refused) { older("unlink", $0) },
    Attempt("an old call: rename", .ended) { older("rename", $0) },
    Attempt("an old call: chmod", .refused) { older("chmod", $0) },
    Attempt("an old call: fork", .ended) { older("fork", $0) },
    Attempt("an old call: iopl", .ended) { older("iopl", $0) },
    Attempt("x32: getpid", call: 0x4000_0000 + 39),
    Attempt("x32: ptrace", call: 0x4000_0000 + 521),
    Attempt("int 0x80: getpid") { _ in attack_int80(20, 0, 0) },
    Attempt("int 0x80: write to the parent") { _ in attack_int80(4, 3, 0) },
  ].filter { _ in isX86 }

  #if arch(x86_64)
    private static let isX86 = true

    /// A call that x86-64 has of old, and that newer architectures left out.
    private static func older(_ name: String, _ scene: Scene) -> Int {
      let path = Kernel.text(scene.file)
      return switch name {
      case "open": Kernel.call(SYS_open, path, 0)
      case "creat": Kernel.call(SYS_creat, path, 0o600)
      case "unlink": Kernel.call(SYS_unlink, path)
      case "rename": Kernel.call(SYS_rename, path, Kernel.text(scene.file + ".moved"))
      case "chmod": Kernel.call(SYS_chmod, path, 0o777)
      case "fork": Kernel.call(SYS_fork)
      default: Kernel.call(SYS_iopl, 3)
      }
    }
  #else
    private static let isX86 = false

    private static func older(_ name: String, _ scene: Scene) -> Int { -Int(ENOSYS) }
  #endif

  static let all =
    onFiles + onProcesses + onMemory + onNetworks + onTheKernel + onSharedMemory + onOtherInterfaces
}
