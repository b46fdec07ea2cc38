import ThumbnailCache
import Thumbnailer

/// The time of a hit in memory, with keys that were prepared before.
enum MemoryMeasurement {
  static func run(_ samples: Samples) throws {
    let cache = MemoryCache(byteLimit: 1 << 30)
    let keys = Array(samples.keys.prefix(20_000))
    for key in keys { cache.insert(samples.thumbnail, for: key) }
    var order = (0..<200_000).map { _ in keys[Int.random(in: 0..<keys.count)] }
    order.shuffle()
    var bytes = 0
    let seconds = median(of: 5) {
      for key in order { bytes += cache.thumbnail(for: key)?.data.count ?? 0 }
    }
    precondition(bytes == 5 * order.count * samples.thumbnail.data.count)
    let nanoseconds = seconds / Double(order.count) * 1e9
    print(
      "memory hit: \(format(nanoseconds, 0)) ns among \(keys.count) thumbnails, "
        + "\(format(nanoseconds / 1000, 3)) of the 1 µs allowed")
  }
}
