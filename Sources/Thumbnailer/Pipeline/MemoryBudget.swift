import Foundation

/// How much memory all work in flight may take together.
///
/// Bodies have a fixed share, so that they and the decodes can never wait for each other; the rest is for decodes.
struct MemoryBudget: Sendable {
  /// Everything, in bytes.
  let total: Int
  /// What all bodies in RAM may take together.
  let bodyShare: Int
  /// What all decodes may take together: the remainder.
  var decodeShare: Int { total - bodyShare }
  /// What one body may hold in RAM before it goes to a file.
  let bodyLimit: Int

  /// The smallest budget that does useful work: 16 MiB.
  static let minimum = 16 << 20
  /// What is taken where nothing is set and no cgroup limits the process: 512 MiB.
  static let standard = 512 << 20

  /// Divides `total` for `downloads` transfers at once and `jobs` decodes at once.
  ///
  /// A body counts from its first byte to the end of its decode. So that decodes never leave the network idle, there is
  /// room for the bodies of all transfers and of two decodes a worker, but for no more than a quarter of the total.
  init(total: Int, downloads: Int, jobs: Int) {
    self.total = max(total, Self.minimum)
    bodyLimit = 256 << 10
    bodyShare = min((downloads + 2 * jobs) * bodyLimit, self.total / 4)
  }

  /// The smaller of 512 MiB and half of what the process's cgroup allows, if it limits memory.
  static func defaultTotal(root: String = "/") -> Int {
    max(minimum, min(standard, (cgroupLimit(root: root) ?? .max) / 2))
  }

  /// The least memory limit on the way from the process's cgroup to the root, of version 1 and 2, in bytes.
  ///
  /// `root` stands in for `/` in tests. Nil where nothing is limited.
  static func cgroupLimit(root: String = "/") -> Int? {
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
