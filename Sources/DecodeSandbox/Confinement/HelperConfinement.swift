import CSandbox
import Foundation
import ImageCodec
import ThumbnailCore

/// The kernel limits of a helper process, in the order in which they can be set.
enum HelperConfinement {
  /// The most threads beyond those that decoders start for the cores of the machine.
  private static let spareThreads = 256
  /// The stack of a decoder's thread, in bytes: an eighth of the usual.
  private static let threadStackBytes = 1 << 20

  /// Drops everything that no decoder needs. Returns what the machine cannot give; nil if the parent has exited.
  static func apply(_ settings: DecodeHelper.Settings, socket: FileDescriptor) throws(CodecError) -> [ConfinementGap]? {
    var gaps: [ConfinementGap] = []
    Codec.setUpAllocator()
    csandbox_use_one_heap()
    // Failing costs nothing but address space.
    _ = csandbox_limit_stacks(threadStackBytes)
    csandbox_keep_memory(4 << 20, 1 << 20)
    do throws(SystemFailure) {
      try enterNamespaces()
      // Counted in the new namespace; elsewhere all processes of the user would count. It does not hold for root.
      limit(__RLIMIT_NPROC, to: UInt(spareThreads + 4 * ProcessInfo.processInfo.processorCount))
    } catch {
      gaps.append(ConfinementGap(.namespaces, error))
    }
    _ = csandbox_drop_capabilities()
    // After that: a change of rights would clear it.
    _ = csandbox_die_with_parent()
    // The kernel sends the signal only for a parent that exits from now on.
    guard getppid() == settings.parent else { return nil }
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    limit(RLIMIT_CORE, to: 0)
    // No file can grow, so only the open socket can be written to.
    limit(RLIMIT_FSIZE, to: 0)
    limit(RLIMIT_NOFILE, to: 64)
    switch settings.kind {
    case .common: Codec.forbidStart()
    case .full:
      try Codec.start()
      HelperOnlyFormat.unblockLoaders()
      LateLibraries.load()
    }
    // What is mapped by now is the program and its libraries, most of it never touched.
    let mapped = mappedBytes() ?? 1 << 30
    limit(RLIMIT_AS, to: UInt(mapped + settings.memoryLimit))
    return gaps + close(socket, settings.kind)
  }

  /// The last steps, after which no library can be loaded.
  private static func close(_ socket: FileDescriptor, _ kind: HelperKind) -> [ConfinementGap] {
    var gaps: [ConfinementGap] = []
    guard csandbox_set_no_new_privileges() == 0 else {
      return [.systemCalls, .files].map { ConfinementGap($0, .last) }
    }
    do throws(SystemFailure) {
      // It holds for this thread and its children: nothing has started another one.
      guard threadCount() == 1 else { throw SystemFailure(code: EBUSY) }
      try FileRules.enforce(
        reading: kind == .common ? [] : ReadableFiles.paths(ProcessInfo.processInfo.environment))
    } catch {
      gaps.append(ConfinementGap(.files, error))
    }
    do throws(SystemFailure) {
      try CallFilter.install(AllowedCalls.rules(socket: socket.rawValue, process: getpid()))
    } catch {
      gaps.append(ConfinementGap(.systemCalls, error))
    }
    return gaps
  }

  /// A network without interfaces, no shared memory of others, and a user who has no rights over anything outside.
  ///
  /// Not a PID namespace: a process cannot enter one itself, and one that has asked for it starts no threads any more.
  private static func enterNamespaces() throws(SystemFailure) {
    let others = csandbox_network_namespace | csandbox_ipc_namespace
    guard csandbox_unshare(csandbox_user_namespace | others) != 0 else { return }
    let failure = SystemFailure.last
    // Root can do without the first.
    guard csandbox_unshare(others) == 0 else { throw failure }
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

  private static func threadCount() -> Int? {
    try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
  }
}
