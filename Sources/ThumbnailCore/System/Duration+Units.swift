extension Duration {
  /// The duration in seconds.
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

  /// The duration in milliseconds.
  package var milliseconds: Double { seconds * 1000 }

  /// The duration in a convenient unit, rounded up: `90 s`, `59 min`, `24 h`.
  package var inWords: String {
    let seconds = components.seconds + (components.attoseconds > 0 ? 1 : 0)
    return switch seconds {
    case ...120: "\(seconds) s"
    case ...7200: "\((seconds + 59) / 60) min"
    default: "\((seconds + 3599) / 3600) h"
    }
  }
}
