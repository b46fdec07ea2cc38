import ArgumentParser

extension Duration {
  private static let secondsOfUnits: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

  /// Parses `30s`, `10m`, `12h`, `7d`, `2w` or `0`, or throws an error that explains the syntax.
  static func option(_ text: String) throws -> Duration {
    if text == "0" { return .zero }
    let digits = text.dropLast()
    let isNumber = !digits.isEmpty && digits.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
    // The limit of a thousand years keeps sums of times from overflowing.
    guard let unit = text.last.flatMap({ secondsOfUnits[$0] }), isNumber, let number = Double(digits),
      number * unit <= 1000 * 365.25 * 86_400
    else { throw ValidationError("write a duration with its unit, such as 30s, 10m, 12h or 7d, or 0") }
    return .seconds(number * unit)
  }
}
