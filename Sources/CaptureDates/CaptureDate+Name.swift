extension CaptureDate {
  /// The years that names contain: other numbers of eight digits are no dates.
  private static let namedYears = 1990...2099
  /// Numbers of milliseconds since 1970 follow these.
  private static let prefixesOfMoments = ["FB_IMG_", "mmexport"]
  private static let digitsOfMoment = 13
  /// Google's cameras name files by UTC.
  private static let prefixOfUTC = "PXL_"

  /// The date in a file's name, as phones and their programs write it; nil if there is none:
  /// `IMG_20261120_080500.jpg`, `Screenshot_2026-11-20-08-05-00.png`, `IMG-20261120-WA0003.jpg`.
  package init?(name: some Collection<UInt8>) {
    let name = Array(name)
    for index in name.indices where DateScanner.isDigit(name[index]) {
      if index > 0, DateScanner.isDigit(name[index - 1]) { continue }
      var scanner = DateScanner(name[index...])
      let prefix = name[..<index]
      if scanner.digitCount == Self.digitsOfMoment,
        Self.prefixesOfMoments.contains(where: { prefix.elementsEqual($0.utf8) })
      {
        guard let moment = scanner.number(Self.digitsOfMoment) else { continue }
        self.init(moment: moment, source: .name)
        return
      }
      guard let (year, month, day) = scanner.namedDay() else { continue }
      let time = scanner.namedTime()
      // More digits that are no time: the number is no date.
      guard time != nil || scanner.digitCount == 0, Self.namedYears.contains(year),
        let date = CaptureDate(year: year, month: month, day: day, time: time, source: .name)
      else { continue }
      let isUTC = time != nil && prefix.elementsEqual(Self.prefixOfUTC.utf8)
      self = isUTC ? CaptureDate(moment: date.clock, source: .name) ?? date : date
      return
    }
    return nil
  }
}

extension DateScanner {
  /// A day: `20261120`, or its parts with a mark between them.
  fileprivate mutating func namedDay() -> (year: Int, month: Int, day: Int)? {
    guard let year = number(4) else { return nil }
    let mark = skip(anyOf: "-_. ")
    guard let month = number(2) else { return nil }
    if let mark, skip(anyOf: "-_. ") != mark { return nil }
    return number(2).map { (year, month, $0) }
  }

  /// A time after a day, in milliseconds: `_080500`, ` at 8.05.00 PM`, `-08-05-00-250`. Without one nothing is read.
  fileprivate mutating func namedTime() -> Int? {
    var ahead = self
    _ = ahead.skip(" at ") || ahead.skip(", ") || ahead.skip(anyOf: "-_. T") != nil
    // A mark follows an hour of one digit.
    let hourDigits = ahead.digitCount == 1 ? 1 : 2
    guard var hours = ahead.number(hourDigits) else { return nil }
    let mark = ahead.skip(anyOf: "-_.:'")
    guard mark != nil || hourDigits == 2, let minutes = ahead.number(2) else { return nil }
    if let mark, ahead.skip(anyOf: "-_.:'") != mark { return nil }
    guard let seconds = ahead.number(2) else { return nil }
    var milliseconds = 0
    if ahead.digitCount == 3 {
      milliseconds = ahead.fraction()
    } else if ahead.digitCount > 0 {
      return nil
    } else if let half = ahead.half() {
      guard (1...12).contains(hours) else { return nil }
      hours = hours % 12 + half
    }
    guard hours < 24, minutes < 60, seconds < 60 else { return nil }
    self = ahead
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
  }

  /// The first hour of the half of the day that `AM` or `PM` names.
  private func half() -> Int? {
    var ahead = self
    // Some programs put a narrow space that does not break there.
    _ = ahead.skip(" ") || ahead.skip("\u{202F}")
    return ahead.skip("AM") ? 0 : ahead.skip("PM") ? 12 : nil
  }
}
