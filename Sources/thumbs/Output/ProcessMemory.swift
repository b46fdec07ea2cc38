import Foundation

/// The memory of this process, as reported by the kernel.
enum ProcessMemory {
  /// The peak resident set size in bytes (VmHWM). 0 if unknown.
  static var peak: Int { field("VmHWM:") }

  /// The current resident set size in bytes (VmRSS). 0 if unknown.
  static var current: Int { field("VmRSS:") }

  private static func field(_ name: String) -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
      let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { return 0 }
    return kibibytes << 10
  }
}
