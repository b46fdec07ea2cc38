/// Reads a date from text, from its start to its end.
struct DateScanner {
  private(set) var rest: ArraySlice<UInt8>

  init(_ text: some Collection<UInt8>) { rest = Array(text)[...] }

  /// The number of decimal digits that follow.
  var digitCount: Int { rest.prefix(while: Self.isDigit).count }

  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The next digits as a number; nil if there are fewer.
  mutating func number(_ digits: Int) -> Int? {
    let text = rest.prefix(digits)
    guard text.count == digits, text.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(digits)
    return text.reduce(0) { $0 * 10 + Int($1 & 15) }
  }

  /// Skips one of these characters, and returns it.
  mutating func skip(anyOf characters: String) -> UInt8? {
    guard let next = rest.first, characters.utf8.contains(next) else { return nil }
    rest = rest.dropFirst()
    return next
  }

  /// Skips this text; false if it is not there.
  mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  /// Digits behind a decimal point, in milliseconds.
  mutating func fraction() -> Int {
    let digits = rest.prefix(while: Self.isDigit)
    rest = rest.dropFirst(digits.count)
    return (digits.prefix(3) + [0x30, 0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int($1 & 15) }
  }

  /// A time zone, in minutes ahead of UTC: `Z`, `+01:00`, `-0530`.
  mutating func zone() -> Int? {
    if skip("Z") { return 0 }
    guard let sign = skip(anyOf: "+-"), let hours = number(2) else { return nil }
    _ = skip(":")
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + (number(2) ?? 0))
  }
}

extension CaptureDate {
  /// A date of EXIF or XMP: `2026:11:20 08:05:00`, `2026-11-20T08:05:00.25+01:00`. The day suffices.
  ///
  /// - Parameters:
  ///   - fraction: The digits behind the second, if they are a text of their own.
  ///   - zone: The text of the time zone, if there is one.
  init?(
    _ text: some Collection<UInt8>, fraction: some Collection<UInt8> = [UInt8](),
    zone: some Collection<UInt8> = [UInt8](),
    source: Source
  ) {
    var scanner = DateScanner(text)
    guard let year = scanner.number(4), scanner.skip(anyOf: ":-/.") != nil, let month = scanner.number(2),
      scanner.skip(anyOf: ":-/.") != nil, let day = scanner.number(2)
    else { return nil }
    var time: Int?
    var ahead: Int?
    if scanner.skip(anyOf: " T") != nil, let hours = scanner.number(2), scanner.skip(":"),
      let minutes = scanner.number(2)
    {
      // A leap second counts as the one before.
      let seconds = scanner.skip(":") ? min(59, scanner.number(2) ?? 60) : 0
      guard hours < 24, minutes < 60 else { return nil }
      let milliseconds = scanner.skip(".") ? scanner.fraction() : Self.milliseconds(fraction)
      time = ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
      ahead = scanner.zone()
      if ahead == nil {
        var own = DateScanner(zone)
        ahead = own.zone()
      }
    }
    self.init(year: year, month: month, day: day, time: time, zone: ahead, source: source)
  }

  private static func milliseconds(_ digits: some Collection<UInt8>) -> Int {
    var scanner = DateScanner(digits)
    return scanner.fraction()
  }
}
