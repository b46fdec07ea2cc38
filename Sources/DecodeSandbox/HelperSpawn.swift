import CSandbox
import FoundationEssentials
import Glibc
import ThumbnailCore

/// Starts a zygote with the socket as its standard input, and no other open file of ours.
enum HelperSpawn {
  /// The environment variables that a helper inherits: the folders of its libraries and of their modules; the language,
  /// which selects fonts for Chinese and Japanese; the home folder and others, where fontconfig finds the fonts for SVG
  /// and PDF; and ImageMagick's limits. No others, because variables may contain keys and proxy passwords, and the helper decodes
  /// untrusted files. It starts no program and writes no file, so it needs no `PATH` and no `TMPDIR`.
  private static let inherited = [
    "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "XDG_DATA_DIRS", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "MAGICK_CONFIGURE_PATH",
  ]
  /// The variables that name modules. A helper inherits them only if they name files beside this executable, as the
  /// Python wheel has them: others, such as those of a Snap or an AppImage, name modules for other libraries.
  private static let modules = ["VIPSHOME", "MAGICK_CODER_MODULE_PATH", "GDK_PIXBUF_MODULE_FILE", "GIO_MODULE_DIR"]
  /// One thread per image, no temporary files for images that do not fit into memory, no vector code compiled by Orc,
  /// no crash reports, for which Swift would start a program, and cleared memory.
  private static let own = [
    "MAGICK_THREAD_LIMIT=1", "OMP_NUM_THREADS=1", "VIPS_CONCURRENCY=1", "VIPS_DISC_THRESHOLD=1024g",
    "ORC_CODE=emulate", "SWIFT_BACKTRACE=enable=no",
    // Allocated memory is filled with zeros, and freed memory with ones: uninitialised memory shows nothing of an
    // earlier image. glibc's cache of small blocks for each thread does neither, so it is off.
    "MALLOC_PERTURB_=255", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0",
  ]

  /// The descriptor of a helper's own executable when it starts.
  static let executableNumber: Int32 = 3

  /// A connection: this process' end, which does not block, and a helper's.
  static func socketPair() throws(HelperFailure) -> (ours: FileDescriptor, theirs: FileDescriptor) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw .cannotStart(detail: "no socket: \(SystemFailure.last.reason)")
    }
    let (ours, theirs) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
    _ = fcntl(ours.rawValue, F_SETFL, O_NONBLOCK)
    // Room for the samples of a thumbnail, so that the helper does not wait until they are received.
    var room: Int32 = 212_992
    setsockopt(theirs.rawValue, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    return (ours, theirs)
  }

  /// Starts a zygote.
  static func start(
    _ program: HelperProgram, _ kind: HelperKind
  ) throws(HelperFailure) -> (pid: pid_t, socket: FileDescriptor) {
    let (ours, theirs) = try socketPair()
    let settings = DecodeHelper.Settings(kind: kind, parent: getpid())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, theirs.rawValue, STDIN_FILENO)
    // The output of its libraries must not mix with ours.
    for number in [STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, try program.file().rawValue, executableNumber)
    // A program that embeds this library may have open files without close-on-exec.
    csandbox_close_from(&actions, executableNumber + 1)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    // A process group of its own, so that Ctrl-C signals only the parent, which decides.
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))

    let words = (["thumbs", DecodeHelper.command] + settings.arguments).map { strdup($0) } + [nil]
    let variables = environment(from: ProcessInfo.processInfo.environment).map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, "/proc/self/fd/\(executableNumber)", &actions, &attributes, words, variables)
    guard code == 0 else { throw .cannotStart(detail: "\(program.path): \(SystemFailure(code: code).reason)") }
    return (pid, ours)
  }

  /// The environment of a helper started from the given one, as `NAME=value`.
  static func environment(from ours: [String: String]) -> [String] {
    // Of this executable, which the helper's is beside.
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let folder = program.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    let known =
      inherited.filter { ours[$0] != nil }
      + modules.filter { !folder.isEmpty && ours[$0]?.hasPrefix(folder + "/") == true }
    return known.map { "\($0)=\(ours[$0] ?? "")" } + own
  }
}
