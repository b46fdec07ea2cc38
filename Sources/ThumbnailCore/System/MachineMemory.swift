import Foundation

/// The memory that there is for this process: the machine's, or what its control group lets it have of that.
package enum MachineMemory {
  /// The most the process can have, in bytes. Nil where the kernel does not say.
  ///
  /// `root` stands in for `/` in tests.
  package static func limit(root: String = "/") -> Int? {
    [Cgroup.memoryLimit(root: root), field("MemTotal:", root: root)].compactMap { $0 }.min()
  }

  /// What is free of it at this moment, in bytes: what the kernel can give without ending a process. Nil where it does
  /// not say.
  package static func available(root: String = "/") -> Int? {
    [Cgroup.availableMemory(root: root), field("MemAvailable:", root: root)].compactMap { $0 }.min()
  }

  private static func field(_ name: String, root: String) -> Int? {
    guard let text = try? String(contentsOfFile: root + "proc/meminfo", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
      let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kibibytes << 10
  }
}
