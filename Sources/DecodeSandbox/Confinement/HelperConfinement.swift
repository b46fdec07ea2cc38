import CSandbox
import FoundationEssentials
import Glibc
import ImageCodec
import ThumbnailCore

/// The kernel limits of a helper process, in the order in which they can be set: first those that it inherits from its
/// zygote, then those that would keep the zygote from its work.
struct HelperConfinement {
  /// The most threads beyond those that decoders start for the cores of the machine.
  private static let spareThreads = 256
  /// The stack of a decoder's thread, in bytes: an eighth of the usual.
  private static let threadStackBytes = 1 << 20

  private let settings: DecodeHelper.Settings
  /// The parts that the machine lacks.
  private var gaps: [ConfinementGap] = []
  /// The bytes that are mapped before any image: the program and its libraries, most of which are never touched.
  private let mapped: Int

  /// Has the zygote drop everything that no decoder needs. Nil if the parent has exited.
  init?(_ settings: DecodeHelper.Settings) throws(CodecError) {
    self.settings = settings
    Codec.setUpAllocator()
    csandbox_use_one_heap()
    // A failure costs only address space.
    _ = csandbox_limit_stacks(Self.threadStackBytes)
    csandbox_keep_memory(4 << 20, 2 << 20)
    do throws(SystemFailure) {
      try Self.enterNamespaces()
    } catch {
      gaps.append(ConfinementGap(.namespaces, error))
    }
    _ = csandbox_drop_capabilities()
    // After that: a change of rights would clear it.
    guard Self.diesWithParent(settings.parent) else { return nil }
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    Self.limit(RLIMIT_CORE, to: 0)
    // No file can grow, so only the open socket can be written to.
    Self.limit(RLIMIT_FSIZE, to: 0)
    Self.limit(RLIMIT_NOFILE, to: 64)
    switch settings.kind {
    case .common: Codec.forbidStart()
    case .extended:
      Codec.forbidStart()
      LateLibraries.loadDecoders()
    case .full:
      try Codec.start()
      Codec.unblockLoaders()
      LateLibraries.load()
    }
    mapped = Self.mappedBytes() ?? 1 << 30
    gaps += Self.restrictFiles(settings.kind)
  }

  /// Whether the parent lives. The process ends with it from now on.
  private static func diesWithParent(_ parent: pid_t) -> Bool {
    _ = csandbox_die_with_parent()
    // The kernel sends the signal only for a parent that exits from now on.
    return getppid() == parent
  }

  /// From now on only a few files can be opened, and no library can be loaded.
  private static func restrictFiles(_ kind: HelperKind) -> [ConfinementGap] {
    guard csandbox_set_no_new_privileges() == 0 else { return [ConfinementGap(.files, .last)] }
    do throws(SystemFailure) {
      // It applies to this thread and its children: no other thread has been started.
      guard threadCount() == 1 else { throw SystemFailure(code: EBUSY) }
      try FileRules.enforce(reading: kind == .full ? ReadableFiles.paths(ProcessInfo.processInfo.environment) : [])
      return []
    } catch {
      return [ConfinementGap(.files, error)]
    }
  }

  /// The last steps, in a forked helper with this memory limit in bytes. Returns the parts that the machine lacks; nil
  /// if the parent has exited.
  func complete(memoryLimit: Int, socket: FileDescriptor) -> [ConfinementGap]? {
    // The limit of threads counts in the helper's own user namespace; in the zygote's, threads of other sites' helpers
    // would count, and otherwise all processes of the user. It does not apply to root.
    if csandbox_unshare(csandbox_user_namespace) == 0 { Self.limitThreads() }
    _ = csandbox_drop_capabilities()
    // After that: a change of rights would clear it.
    guard Self.diesWithParent(settings.parent) else { return nil }
    Self.limit(
      RLIMIT_AS, to: UInt(clamping: mapped + SharedSamples.length(memoryLimit: memoryLimit) + memoryLimit))
    do throws(SystemFailure) {
      guard csandbox_set_no_new_privileges() == 0 else { throw .last }
      try CallFilter.install(AllowedCalls.rules(socket: socket.rawValue, process: getpid()))
      return gaps
    } catch {
      return gaps + [ConfinementGap(.systemCalls, error)]
    }
  }

  /// A network without interfaces, no shared memory of others, and a user without rights over anything outside.
  ///
  /// Not a PID namespace: a process cannot enter one itself, and after requesting one it cannot start threads.
  private static func enterNamespaces() throws(SystemFailure) {
    let others = csandbox_network_namespace | csandbox_ipc_namespace
    guard csandbox_unshare(csandbox_user_namespace | others) != 0 else { return }
    let failure = SystemFailure.last
    // Root can do without the first.
    guard csandbox_unshare(others) == 0 else { throw failure }
  }

  /// To be called in a user namespace of the process's own.
  private static func limitThreads() {
    limit(__RLIMIT_NPROC, to: UInt(spareThreads + 4 * sysconf(Int32(_SC_NPROCESSORS_ONLN))))
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
    guard let text = KernelFile.text("/proc/self/statm"),
      let pages = text.split(separator: " ").first.flatMap({ Int($0) })
    else { return nil }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }

  private static func threadCount() -> Int? {
    try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
  }
}

/// A part of a helper's confinement that a machine lacks.
package struct ConfinementGap: Sendable, Equatable {
  /// A part of the confinement.
  package enum Part: String, Sendable, CaseIterable {
    /// The list of system calls that a helper may make: seccomp.
    case systemCalls
    /// The list of files that a helper may read: Landlock.
    case files
    /// A user, a network and an IPC namespace of its own: a second protection behind the list of system calls.
    case namespaces
  }

  /// The missing part.
  package var part: Part
  /// The kernel's reason.
  package var reason: String

  /// Whether a broken helper could do harm without this part.
  package var isGrave: Bool { part != .namespaces }

  init(_ part: Part, _ failure: SystemFailure) { (self.part, reason) = (part, failure.reason) }
}

extension ConfinementGap: CustomStringConvertible {
  /// One line without advice.
  package var description: String {
    switch part {
    case .systemCalls: "helpers may make any system call: this kernel has no seccomp filter (\(reason))"
    case .files: "helpers may read all that their user may read: this kernel has no Landlock (\(reason))"
    case .namespaces: "helpers have no namespaces of their own (\(reason))"
    }
  }
}

extension DecodeIsolation {
  /// The grave gaps of this machine's kernel; a helper that finds more reports them when it starts.
  package static var gapsOfThisMachine: [ConfinementGap] {
    var gaps: [ConfinementGap] = []
    if csandbox_has_filters() != 0 { gaps.append(ConfinementGap(.systemCalls, .last)) }
    if csandbox_landlock_version() < 1 { gaps.append(ConfinementGap(.files, .last)) }
    return gaps
  }
}
