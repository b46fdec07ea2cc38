import CSandbox
import Glibc
import ThumbnailCore

/// The process that becomes ffmpeg: it confines itself as a decode helper does, and then replaces itself.
///
/// Its standard input is the film, which it may open again to seek in it. It can read only that and libraries, and write
/// only to its output; it has no network, and starts threads but no process.
enum FilmHelper {
  /// The first command-line argument.
  static let command = "film-helper"
  /// The exit status if the kernel has no Landlock or no seccomp: ffmpeg with its many formats runs within both or not
  /// at all.
  static let notConfined: Int32 = 71
  /// The exit status if ffmpeg cannot be run.
  static let notStarted: Int32 = 127
  /// Where ffmpeg finds its libraries.
  private static let libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"]

  struct Settings {
    var parent = getpid()
    /// The most memory that it may write to, in bytes.
    var memoryLimit: Int
    /// The most CPU time.
    var seconds: Int
    /// The path of ffmpeg.
    var program: String

    var arguments: [String] { ["\(parent)", "\(memoryLimit)", "\(seconds)", program] }
  }

  /// Confines itself and becomes ffmpeg. Returns only the exit status of a failure.
  static func run(_ arguments: [String]) -> Int32 {
    guard arguments.count > 3, let parent = pid_t(arguments[0]), let memoryLimit = UInt(arguments[1]),
      let seconds = UInt(arguments[2])
    else { DecodeHelper.refuse(command) }
    close(HelperSpawn.executableNumber)
    if (try? HelperConfinement.enterNamespaces()) != nil { HelperConfinement.limitThreads() }
    _ = csandbox_drop_capabilities()
    guard HelperConfinement.diesWithParent(parent) else { return 0 }
    // Not the address space, of which ffmpeg's libraries take more than any film.
    for (resource, most) in [
      (RLIMIT_CORE, 0), (RLIMIT_FSIZE, 0), (RLIMIT_NOFILE, 64), (RLIMIT_CPU, seconds), (RLIMIT_DATA, memoryLimit),
    ] {
      HelperConfinement.limit(resource, to: most)
    }
    do throws(SystemFailure) {
      guard csandbox_set_no_new_privileges() == 0 else { throw .last }
      try FileRules.enforce(
        reading: ["/proc/self/fd/0", "/etc/ld.so.cache"], running: libraries + [arguments[3]])
      try CallFilter.install(rules, others: .refuse(EPERM))
    } catch {
      return notConfined
    }
    let words = arguments[3...].map { strdup($0) } + [nil]
    let variables = [strdup("LC_ALL=C"), nil]
    execve(arguments[3], words, variables)
    return notStarted
  }

  /// Those of a decode helper, and what a program needs to start. Other calls fail, because ffmpeg's many libraries try
  /// some that depend on the system.
  private static var rules: [CallRule] {
    var rules = AllowedCalls.rules(socket: STDOUT_FILENO, process: getpid())
    for index in rules.indices where rules[index].otherwise == .end { rules[index].otherwise = .refuse(EPERM) }
    #if arch(x86_64)
      rules.append(.allow(SYS_arch_prctl))
    #endif
    // libgcrypt locks a page, or complains. The limit of memory does not count what is shared.
    return [
      .allow(SYS_execve, SYS_set_tid_address, SYS_mlock),
      .allow(SYS_mmap, if: .flags(3, without: Int(MAP_SHARED)), otherwise: .refuse(EPERM)),
    ] + rules
  }
}
