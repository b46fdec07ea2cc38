// The module CaptureDates: when a photograph was taken, from few of its bytes.

import Glibc

/// The time when an image was taken, by the clock of the camera, and the source of the time.
///
/// The time is the camera's local time and is never converted, so photographs stay in the order and in the months in
/// which they were taken. Takes eight bytes.
package struct CaptureDate: Sendable, Hashable {
  /// The source of a date, the most reliable first.
  package enum Source: UInt8, Sendable, CaseIterable {
    /// EXIF data: when the image was taken or scanned.
    case camera = 0
    /// XMP data.
    case xmp = 1
    // 2 was the header of a film.
    /// The file's name, as phones write it.
    case name = 3
    /// The time of the file's last change.
    case file
  }

  /// The milliseconds since 1970 by the local clock, then a byte for the zone and one for the source.
  package let packed: Int64

  /// Codes in the byte of the zone, which otherwise counts quarters of an hour.
  private enum Zone {
    static let unknown: Int8 = 127
    static let dayOnly: Int8 = 126
    /// The farthest zone is 14 hours ahead.
    static let quarters = -56...56
  }

  /// The years that a photograph can be of.
  private static let years = 1800...2999
  private static let millisecondsOfDay = 86_400_000

  /// - Parameters:
  ///   - time: The milliseconds since midnight; nil if only the day is known.
  ///   - zone: The minutes by which the clock is ahead of UTC; nil if unknown.
  /// - Returns: Nil for a day that no calendar has.
  init?(year: Int, month: Int, day: Int, time: Int?, zone: Int? = nil, source: Source) {
    guard Self.years.contains(year), (1...12).contains(month), (1...31).contains(day),
      (0..<Self.millisecondsOfDay).contains(time ?? 0)
    else { return nil }
    let days = Self.days(year, month, day)
    guard Self.civil(days) == (year, month, day) else { return nil }
    self.init(days * Self.millisecondsOfDay + (time ?? 0), zone: zone, hasTime: time != nil, source)
  }

  /// A moment by the clock of this machine, in milliseconds since 1970; nil beyond the years of photographs.
  init?(moment: Int, source: Source) {
    let (seconds, milliseconds) = moment.quotientAndRemainder(dividingBy: 1000)
    var time = time_t(seconds)
    var parts = tm()
    guard seconds >= 0, localtime_r(&time, &parts) != nil else { return nil }
    let clock = seconds + parts.tm_gmtoff
    guard Self.years.contains(Self.civil(max(0, clock) / 86_400).year) else { return nil }
    self.init(clock * 1000 + milliseconds, zone: parts.tm_gmtoff / 60, hasTime: true, source)
  }

  /// The time of a file's last change, in nanoseconds since 1970. Its fraction does not count.
  package init(fileTime: Int) {
    let seconds = max(0, fileTime / 1_000_000_000)
    self = Self(moment: seconds * 1000, source: .file) ?? Self(0, zone: nil, hasTime: true, .file)
  }

  private init(_ clock: Int, zone: Int?, hasTime: Bool, _ source: Source) {
    let quarters = zone.flatMap { $0 % 15 == 0 && Zone.quarters.contains($0 / 15) ? Int8($0 / 15) : nil }
    let code = hasTime ? quarters ?? Zone.unknown : Zone.dayOnly
    packed = Int64(clock) << 16 | Int64(UInt8(bitPattern: code)) << 8 | Int64(source.rawValue)
  }

  /// A date from its packed form; nil for other numbers.
  package init?(packed: Int64) {
    let zone = Int8(bitPattern: UInt8(truncatingIfNeeded: packed >> 8))
    let clock = packed >> 16
    guard Source(rawValue: UInt8(truncatingIfNeeded: packed)) != nil,
      zone == Zone.unknown || zone == Zone.dayOnly || Zone.quarters.contains(Int(zone)),
      // From 1800 on, up to 3000.
      (Int64(Self.days(1800, 1, 1)) * 86_400_000..<Int64(Self.days(3000, 1, 1)) * 86_400_000).contains(clock)
    else { return nil }
    self.packed = packed
  }

  /// The source of the date.
  package var source: Source { Source(rawValue: UInt8(truncatingIfNeeded: packed)) ?? .file }

  /// The milliseconds since 1970 by the local clock, for sorting.
  package var clock: Int { Int(packed >> 16) }

  /// The day: `2026-11-20`.
  package var day: String { Self.text(Self.civil(clock.floored(by: Self.millisecondsOfDay).quotient)) }

  /// The date in ISO 8601: the day alone, or with the time and, if known, its fraction and zone:
  /// `2026-11-20T08:05:00.250+01:00`.
  package var text: String {
    let zone = Int8(bitPattern: UInt8(truncatingIfNeeded: packed >> 8))
    if zone == Zone.dayOnly { return day }
    let rest = clock.floored(by: Self.millisecondsOfDay).remainder
    let (seconds, fraction) = rest.quotientAndRemainder(dividingBy: 1000)
    var text = "\(day)T\(Self.two(seconds / 3600)):\(Self.two(seconds / 60 % 60)):\(Self.two(seconds % 60))"
    if fraction > 0 { text += ".\(fraction / 100)\(Self.two(fraction % 100))" }
    guard zone != Zone.unknown else { return text }
    let minutes = abs(Int(zone)) * 15
    return text + (zone < 0 ? "-" : "+") + "\(Self.two(minutes / 60)):\(Self.two(minutes % 60))"
  }

  /// The month, and the time at which it begins.
  package var month: (year: Int, month: Int, begin: Int) {
    let (year, month, _) = Self.civil(clock.floored(by: Self.millisecondsOfDay).quotient)
    return (year, month, Self.days(year, month, 1) * Self.millisecondsOfDay)
  }

  /// The month for people: `November 2026`.
  package var monthTitle: String { "\(Self.months[month.month - 1]) \(month.year)" }

  // MARK: The calendar

  /// The names of the months.
  package static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]

  /// The names by which searches find the months: English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish
  /// and Polish ones, without capitals and accents.
  package static let searchedMonths = [
    "january januar janvier enero gennaio janeiro januari styczen",
    "february februar fevrier febrero febbraio fevereiro februari luty",
    "march marz maerz mars marzo marco maart marzec", "april avril abril aprile kwiecien",
    "may mai mayo maggio maio mei maj", "june juni juin junio giugno junho czerwiec",
    "july juli juillet julio luglio julho lipiec", "august aout agosto augustus augusti sierpien",
    "september septembre septiembre settembre setembro wrzesien",
    "october oktober octobre octubre ottobre outubro pazdziernik", "november novembre noviembre listopad",
    "december dezember decembre diciembre dicembre dezembro grudzien",
  ]

  /// The days from the first of March of the year 0, on which a year of this calculation begins, to 1970.
  private static let daysUntil1970 = 719_468
  private static let (daysOfFourYears, daysOfCentury, daysOfEra) = (1461, 36_524, 146_097)

  /// The days since 1970. Years are counted from March, so that a leap day is their last.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let (years, months) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    return 365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1 - daysUntil1970
  }

  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, day) = (days + daysUntil1970).quotientAndRemainder(dividingBy: daysOfEra)
    // Without the leap days that came before.
    let years = (day - day / (daysOfFourYears - 1) + day / daysOfCentury - day / (daysOfEra - 1)) / 365
    let dayOfYear = day - (365 * years + years / 4 - years / 100)
    let months = (5 * dayOfYear + 2) / 153
    let year = 400 * era + years + (months >= 10 ? 1 : 0)
    return (year, months < 10 ? months + 3 : months - 9, dayOfYear - (153 * months + 2) / 5 + 1)
  }

  private static func text(_ date: (year: Int, month: Int, day: Int)) -> String {
    "\(date.year)-\(two(date.month))-\(two(date.day))"
  }

  private static func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
}

extension Int {
  /// The quotient rounded down, and the remainder.
  fileprivate func floored(by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
