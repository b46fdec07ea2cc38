/// Prometheus' text format.
struct MetricsPage {
  private(set) var text = ""

  mutating func begin(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func add(_ name: String, _ value: some CustomStringConvertible) { text += "\(name) \(value)\n" }

  mutating func add(_ name: String, _ labels: String, _ value: some CustomStringConvertible) {
    text += "\(name){\(labels)} \(value)\n"
  }

  /// A histogram's buckets, sum and count.
  ///
  /// - Parameter label: What tells it from others of the same name, such as `route="thumb"`.
  mutating func add(_ name: String, _ label: String, _ histogram: Histogram) {
    var total = 0
    for (bound, count) in zip(Histogram.bounds, histogram.buckets) {
      total += count
      add("\(name)_bucket", "\(label),le=\"\(bound)\"", total)
    }
    add("\(name)_bucket", "\(label),le=\"+Inf\"", histogram.count)
    add("\(name)_sum", label, histogram.sum)
    add("\(name)_count", label, histogram.count)
  }
}
