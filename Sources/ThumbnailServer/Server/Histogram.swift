/// Times in buckets, as Prometheus counts them.
struct Histogram: Sendable {
  /// The upper bounds of the buckets, in seconds.
  static let bounds = [0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  /// The times in each bucket alone.
  private(set) var buckets = [Int](repeating: 0, count: Histogram.bounds.count)
  private(set) var count = 0
  /// In seconds.
  private(set) var sum = 0.0

  /// Counts a time in seconds.
  mutating func add(_ seconds: Double) {
    count += 1
    sum += seconds
    if let bucket = Self.bounds.firstIndex(where: { seconds <= $0 }) { buckets[bucket] += 1 }
  }
}
