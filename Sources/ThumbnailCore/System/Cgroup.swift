/// The memory limits of the process's control group.
package enum Cgroup {
  /// The lowest memory limit of the process's cgroup and its ancestors, of version 1 and 2, in bytes.
  ///
  /// `root` replaces `/` in tests. Nil without a limit.
  package static func memoryLimit(root: String = "/") -> Int? { limitedGroups(root: root).map(\.limit).min() }

  /// The bytes that the process can still allocate before it reaches one of those limits. Nil without a limit.
  ///
  /// The page cache counts as free, since the kernel drops it before it kills a process; pages of a `tmpfs` do not.
  static func availableMemory(root: String = "/") -> Int? {
    limitedGroups(root: root).compactMap { group in
      guard let used = number(group.path + "/" + group.version.usageFile) else { return nil }
      let statistics = KernelFile.text(group.path + "/memory.stat") ?? ""
      var reclaimable = 0
      for line in statistics.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard words.count == 2, let bytes = Int(words[1]), bytes < 1 << 60 else { continue }
        if group.version.reclaimableFields.contains(String(words[0])) { reclaimable += bytes }
      }
      return max(0, group.limit - max(0, used - reclaimable))
    }.min()
  }

  private enum Version {
    case one, two

    var limitFile: String { self == .one ? "memory.limit_in_bytes" : "memory.max" }
    var usageFile: String { self == .one ? "memory.usage_in_bytes" : "memory.current" }
    /// The fields of `memory.stat` that count the page cache, descendant groups included.
    var reclaimableFields: Set<String> {
      self == .one ? ["total_inactive_file", "total_active_file"] : ["inactive_file", "active_file"]
    }
  }

  private struct Group {
    let path: String
    let version: Version
    let limit: Int
  }

  /// The process's cgroup and its ancestors that have a memory limit.
  private static func limitedGroups(root: String) -> [Group] {
    guard let memberships = KernelFile.text(root + "proc/self/cgroup") else { return [] }
    var groups: [Group] = []
    for line in memberships.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let (base, version): (String, Version)
      if parts[1].isEmpty {
        (base, version) = ("sys/fs/cgroup", .two)
      } else if parts[1].split(separator: ",").contains("memory") {
        (base, version) = ("sys/fs/cgroup/memory", .one)
      } else {
        continue
      }
      var names = parts[2].split(separator: "/").map(String.init)
      while true {
        let path = ([root + base] + names).joined(separator: "/")
        // Version 1 expresses "no limit" as a number near 2⁶³.
        if let limit = number(path + "/" + version.limitFile), limit > 0, limit < 1 << 60 {
          groups.append(Group(path: path, version: version, limit: limit))
        }
        if names.isEmpty { break }
        names.removeLast()
      }
    }
    return groups
  }

  private static func number(_ path: String) -> Int? {
    guard let text = KernelFile.text(path) else { return nil }
    return Int(text.prefix { !$0.isNewline })
  }
}

/// The memory available to this process: the machine's, or that of its control group.
package enum MachineMemory {
  /// The most memory that the process can have, in bytes. Nil if the kernel does not report it.
  ///
  /// `root` replaces `/` in tests.
  package static func limit(root: String = "/") -> Int? {
    [Cgroup.memoryLimit(root: root), field("MemTotal:", root: root)].compactMap { $0 }.min()
  }

  /// The free memory, in bytes: the kernel can give it without killing a process. Nil if the kernel does not report it.
  package static func available(root: String = "/") -> Int? {
    [Cgroup.availableMemory(root: root), field("MemAvailable:", root: root)].compactMap { $0 }.min()
  }

  private static func field(_ name: String, root: String) -> Int? {
    kernelFigure(name, in: root + "proc/meminfo")
  }
}

/// The memory of this process, as reported by the kernel.
package enum ProcessMemory {
  /// The peak resident set size in bytes (VmHWM). 0 if unknown.
  package static var peak: Int { kernelFigure("VmHWM:", in: "/proc/self/status") ?? 0 }

  /// The current resident set size in bytes (VmRSS). 0 if unknown.
  package static var current: Int { kernelFigure("VmRSS:", in: "/proc/self/status") ?? 0 }
}

/// A figure in bytes that the kernel reports in KiB; nil if it does not report it.
private func kernelFigure(_ name: String, in path: String) -> Int? {
  guard let text = KernelFile.text(path),
    let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
    let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
  else { return nil }
  return kibibytes << 10
}
