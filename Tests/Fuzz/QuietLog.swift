/// Stands in for the library's loggers, so that the fuzzed part of it needs no other package.
enum Log {
  static let codec = QuietLog()
}

/// Says nothing.
struct QuietLog: Sendable {
  func debug(_ message: @autoclosure () -> String) {}
}
