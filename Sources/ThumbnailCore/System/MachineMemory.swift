import FoundationEssentials

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
  guard let text = try? String(contentsOfFile: path, encoding: .utf8),
    let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
    let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
  else { return nil }
  return kibibytes << 10
}
