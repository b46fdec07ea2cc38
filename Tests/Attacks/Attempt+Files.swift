import CAttack
import Foundation

extension Attempt {
  private static let here = Int(AT_FDCWD)

  /// To read what the helper was not given, and to change anything.
  static let onFiles: [Attempt] = [
    Attempt("openat of the user's file", .refused, worksFreely: true) { Kernel.open($0.file) },
    Attempt("openat of /etc/passwd", .refused, worksFreely: true) { _ in Kernel.open("/etc/passwd") },
    Attempt("openat2", worksFreely: true) { scene in
      Kernel.call(SYS_openat2, here, Kernel.text(scene.file), Kernel.zeroes(), 24)
    },
    Attempt("/proc of the parent: environ", .refused, worksFreely: true) { Kernel.open("/proc/\($0.parent)/environ") },
    Attempt("/proc of the parent: mem", .refused) { Kernel.open("/proc/\($0.parent)/mem") },
    Attempt("/proc of the parent: maps", .refused) { Kernel.open("/proc/\($0.parent)/maps") },
    Attempt("/proc of the parent: fd", .refused) { Kernel.open("/proc/\($0.parent)/fd", O_DIRECTORY) },
    Attempt("/proc of the parent: a descriptor", .refused) { Kernel.open("/proc/\($0.parent)/fd/0") },
    Attempt("/proc of all", .refused, worksFreely: true) { _ in Kernel.open("/proc", O_DIRECTORY) },
    Attempt("/proc of its own: mem", .refused) { _ in Kernel.open("/proc/self/mem", O_RDWR) },
    Attempt("open for writing", .refused, worksFreely: true) { Kernel.open($0.file, O_WRONLY) },
    Attempt("open to append", .refused, worksFreely: true) { Kernel.open($0.file, O_WRONLY | O_APPEND) },
    Attempt("open to truncate", .refused) { Kernel.open($0.file, O_RDONLY | O_TRUNC) },
    Attempt("create", .refused, worksFreely: true) { Kernel.open($0.file + ".new", O_WRONLY | O_CREAT) },
    Attempt("a file without a name", .refused) { _ in Kernel.open("/tmp", O_RDWR | 0o20200000) },
    Attempt("unlinkat", .refused) { Kernel.call(SYS_unlinkat, here, Kernel.text($0.file), 0) },
    Attempt("mkdirat", .refused, worksFreely: true) {
      Kernel.call(SYS_mkdirat, here, Kernel.text($0.file + ".folder"), 0o700)
    },
    Attempt("mknodat") { Kernel.call(SYS_mknodat, here, Kernel.text($0.file + ".pipe"), Int(S_IFIFO | 0o600), 0) },
    Attempt("renameat2") {
      Kernel.call(SYS_renameat2, here, Kernel.text($0.file), here, Kernel.text($0.file + ".moved"), 0)
    },
    Attempt("symlinkat") { Kernel.call(SYS_symlinkat, Kernel.text("/etc"), here, Kernel.text($0.file + ".link")) },
    Attempt("linkat") { Kernel.call(SYS_linkat, here, Kernel.text($0.file), here, Kernel.text($0.file + ".hard"), 0) },
    Attempt("fchmodat", .refused) { Kernel.call(SYS_fchmodat, here, Kernel.text($0.file), 0o777) },
    Attempt("fchownat") { Kernel.call(SYS_fchownat, here, Kernel.text($0.file), 1, 1, 0) },
    Attempt("truncate") { Kernel.call(SYS_truncate, Kernel.text($0.file), 0) },
    Attempt("utimensat") { Kernel.call(SYS_utimensat, here, Kernel.text($0.file), 0, 0) },
    Attempt("setxattr") {
      Kernel.call(SYS_setxattr, Kernel.text($0.file), Kernel.text("user.a"), Kernel.text("b"), 1, 0)
    },
    Attempt("name_to_handle_at") {
      Kernel.call(SYS_name_to_handle_at, here, Kernel.text($0.file), Kernel.zeroes(), Kernel.zeroes(), 0)
    },
    Attempt("open_by_handle_at", call: SYS_open_by_handle_at, here, Kernel.zeroes(), 0),
    Attempt("chdir", call: SYS_chdir, Kernel.text("/")),
    Attempt("inotify_init1", call: SYS_inotify_init1, 0),
    Attempt("fanotify_init", call: SYS_fanotify_init, 0, 0),
    // The image: the parent's own file, or a copy of it in memory.
    Attempt("write into the image") { Kernel.call(SYS_write, $0.image, Kernel.text("x"), 1) },
    Attempt("pwrite64 into the image") { Kernel.call(SYS_pwrite64, $0.image, Kernel.text("x"), 1, 0) },
    Attempt("ftruncate of the image") { Kernel.call(SYS_ftruncate, $0.image, 0) },
    Attempt("fallocate in the image") { Kernel.call(SYS_fallocate, $0.image, 0, 0, 1 << 20) },
    Attempt("fchmod of the image", .refused) { Kernel.call(SYS_fchmod, $0.image, 0o777) },
    Attempt("map the image for writing", .refused) {
      Kernel.call(SYS_mmap, 0, 4096, Int(PROT_READ | PROT_WRITE), Int(MAP_SHARED), $0.image, 0)
    },
    Attempt("open the image again for writing", .refused) { Kernel.open("/proc/self/fd/\($0.image)", O_RDWR) },
    Attempt("copy_file_range into the image") { Kernel.call(SYS_copy_file_range, $0.image, 0, $0.image, 0, 1, 0) },
    Attempt("splice the image to the parent") { Kernel.call(SYS_sendfile, $0.socket, $0.image, 0, 1) },
    Attempt("fcntl: be signalled", call: SYS_fcntl, 3, Int(F_SETOWN), 1),
    Attempt("fcntl: lock", call: SYS_fcntl, 0, Int(F_SETLK), Kernel.zeroes()),
    Attempt("ioctl of a terminal", call: SYS_ioctl, 1, 0x5412, Kernel.text("x")),
  ]
}
