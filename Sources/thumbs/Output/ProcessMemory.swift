import Foundation

/// The memory of this process, as the kernel counts it.
enum ProcessMemory {
  /// The most that was ever resident, in bytes (VmHWM). 0 where the kernel does not say.
  static var peak: Int { field("VmHWM:") }

  /// What is resident now, in bytes (VmRSS). 0 where the kernel does not say.
  static var current: Int { field("VmRSS:") }

  private static func field(_ name: String) -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
      let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { return 0 }
    return kibibytes << 10
  }
}
