import ThumbnailCore

/// The memory limits of all work in flight, in bytes.
///
/// Bodies have a fixed share, so that bodies and decodes can never wait for each other; the rest is for decodes.
package struct MemoryBudget: Sendable {
  /// The whole budget, in bytes.
  let total: Int
  /// The most bytes of all bodies in RAM together.
  let bodyShare: Int
  /// The most bytes of all decodes together: the remainder.
  var decodeShare: Int { total - bodyShare }
  /// The most bytes of one body in RAM before it moves to a spill file.
  let bodyLimit: Int

  /// The smallest budget that does useful work: 16 MiB.
  static let minimum = 16 << 20
  /// The default if there is enough memory: 512 MiB.
  package static let standard = 512 << 20

  /// Divides `total` for `downloads` concurrent transfers and `jobs` concurrent decodes.
  ///
  /// A body counts from its first byte to the end of its decode. So that decodes never leave the network idle, there is
  /// room for the bodies of all transfers and of two decodes per worker, but at most a quarter of the total.
  init(total: Int, downloads: Int, jobs: Int) {
    self.total = max(total, Self.minimum)
    bodyLimit = 256 << 10
    bodyShare = min((downloads + 2 * jobs) * bodyLimit, self.total / 4)
  }

  /// The default limit of the memory cache if there is enough memory: 64 MiB.
  package static let standardMemoryCache = 64 << 20
  /// The memory of the program itself, which is not counted in the budget: 32 MiB.
  ///
  /// Measured: 10 MiB with downloads and the disk cache, the rest for connections, idle helpers, thumbnails waiting to
  /// be written to disk, and resident code.
  static let programBytes = 32 << 20

  /// The default budget: 512 MiB, or the memory limit less the program and a memory cache of `memoryCache` bytes, if
  /// that is less.
  static func defaultTotal(memoryCache: Int, root: String = "/") -> Int {
    guard let limit = MachineMemory.limit(root: root) else { return standard }
    return max(minimum, min(standard, limit - programBytes - memoryCache))
  }

  /// The default limit of the memory cache: 64 MiB, or an eighth of the memory limit if that is less.
  static func defaultMemoryCache(root: String = "/") -> Int {
    min(standardMemoryCache, (MachineMemory.limit(root: root) ?? .max) / 8)
  }
}
