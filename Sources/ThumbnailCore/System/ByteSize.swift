/// A number of bytes in human-readable form: `256MiB`, `1.5GB`, `4096`.
public struct ByteSize: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number of bytes; never negative.
  public var bytes: Int

  /// A size in bytes. Negative numbers count as 0.
  public init(bytes: Int) { self.bytes = max(0, bytes) }

  /// A size of `count` × 1024 bytes.
  public static func kibibytes(_ count: Int) -> ByteSize { .init(bytes: count << 10) }
  /// A size of `count` × 1024² bytes.
  public static func mebibytes(_ count: Int) -> ByteSize { .init(bytes: count << 20) }
  /// A size of `count` × 1024³ bytes.
  public static func gibibytes(_ count: Int) -> ByteSize { .init(bytes: count << 30) }

  private static let units: [(suffix: String, factor: Double)] = [
    ("kib", 1024), ("mib", 1_048_576), ("gib", 1_073_741_824), ("tib", 1_099_511_627_776),
    ("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("tb", 1e12),
    ("k", 1024), ("m", 1_048_576), ("g", 1_073_741_824), ("t", 1_099_511_627_776), ("b", 1), ("", 1),
  ]

  /// Reads `4096`, `64k`, `256MiB` or `1.5 GB`: binary units for `K`, `KiB` …, decimal ones for `kB`, `MB` ….
  ///
  /// Nil when the text is not a size, is negative, or does not fit.
  package init?(parsing text: String) {
    let lowered = text.filter { !$0.isWhitespace }.lowercased()
    guard let unit = Self.units.first(where: { lowered.hasSuffix($0.suffix) }) else { return nil }
    let digits = lowered.dropLast(unit.suffix.count)
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
      let number = Double(digits), number.isFinite, number * unit.factor < 0x1p62
    else { return nil }
    bytes = Int(number * unit.factor)
  }

  /// The size in the largest binary unit that keeps it at least 1, with one decimal: `12.3 MiB`.
  public var description: String {
    var value = Double(bytes)
    for unit in ["B", "KiB", "MiB", "GiB"] {
      if value < 1024 { return unit == "B" ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(unit)" }
      value /= 1024
    }
    return "\((value * 10).rounded() / 10) TiB"
  }

  /// Orders by the number of bytes.
  public static func < (lhs: ByteSize, rhs: ByteSize) -> Bool { lhs.bytes < rhs.bytes }
}

extension Int {
  /// The nearest integer, at most 2³¹ away from 0 so that products do not overflow; 0 for what is no number.
  package init(bounded number: Double) {
    self = number.isNaN ? 0 : Int(Swift.min(Swift.max(number, -0x1p31), 0x1p31).rounded())
  }
}

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
