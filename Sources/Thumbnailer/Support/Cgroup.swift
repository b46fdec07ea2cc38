import Foundation

/// What the control group that the process is in lets it have.
enum Cgroup {
  /// The least memory limit on the way from the process's cgroup to the root, of version 1 and 2, in bytes.
  ///
  /// `root` stands in for `/` in tests. Nil where nothing is limited.
  static func memoryLimit(root: String = "/") -> Int? {
    guard let memberships = try? String(contentsOfFile: root + "proc/self/cgroup", encoding: .utf8) else { return nil }
    var least: Int?
    for line in memberships.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let (base, file): (String, String)
      if parts[1].isEmpty {
        (base, file) = ("sys/fs/cgroup", "memory.max")
      } else if parts[1].split(separator: ",").contains("memory") {
        (base, file) = ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
      } else {
        continue
      }
      var path = parts[2].split(separator: "/").map(String.init)
      while true {
        let name = ([root + base] + path + [file]).joined(separator: "/")
        if let text = try? String(contentsOfFile: name, encoding: .utf8),
          // Version 1 says "no limit" with a number near 2⁶³.
          let limit = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)), limit > 0, limit < 1 << 60
        {
          least = min(least ?? limit, limit)
        }
        if path.isEmpty { break }
        path.removeLast()
      }
    }
    return least
  }
}
