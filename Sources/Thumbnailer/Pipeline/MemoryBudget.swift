import ThumbnailCore

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
  /// What is taken where nothing is set and there is enough memory: 512 MiB.
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

  /// What the memory cache may take where there is enough memory: 64 MiB.
  static let standardMemoryCache = 64 << 20
  /// What the program needs by itself, of which nothing is reserved: 32 MiB.
  ///
  /// Measured: 10 MiB with downloads and the disk cache, the rest for connections, for helpers that wait, for thumbnails
  /// on their way to the disk, and for the pages of code that must stay in memory.
  static let programBytes = 32 << 20

  /// What is taken where nothing is set: 512 MiB, or what the memory limit leaves beside the program and a memory cache
  /// of so many bytes, where that is less.
  static func defaultTotal(memoryCache: Int, root: String = "/") -> Int {
    guard let limit = MachineMemory.limit(root: root) else { return standard }
    return max(minimum, min(standard, limit - programBytes - memoryCache))
  }

  /// What the memory cache may take where nothing is set: 64 MiB, or an eighth of the memory limit if that is less.
  static func defaultMemoryCache(root: String = "/") -> Int {
    min(standardMemoryCache, (MachineMemory.limit(root: root) ?? .max) / 8)
  }
}
