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
    max(minimum, min(standard, (Cgroup.memoryLimit(root: root) ?? .max) / 2))
  }
}
