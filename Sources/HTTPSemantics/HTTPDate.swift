package import FoundationEssentials
import Glibc

/// A date in one of HTTP's three forms, which recipients must accept (RFC 9110, 5.6.7):
///
///     Sun, 06 Nov 1994 08:49:37 GMT       what senders write
///     Sunday, 06-Nov-94 08:49:37 GMT      RFC 850, with two digits for the year
///     Sun Nov  6 08:49:37 1994            asctime
///
/// Mixed forms, such as dashes or a two-digit year after a short weekday, or extra spaces, are rejected: an expiry must
/// not be guessed. Case does not matter, nor a leading zero of the day. The weekday is not checked against the date.
package enum HTTPDate {
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
  private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

  /// Parses a date; nil for anything else. `now` decides the century of a two-digit year: one more than 50 years ahead
  /// is in the past.
  package static func parse(_ text: String, now: Date = Date()) -> Date? {
    var words = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
    guard let first = words.first else { return nil }
    if first.hasSuffix(",") {
      guard words.last == "gmt" else { return nil }
      let name = String(first.dropLast())
      if words.count == 6, isShortWeekday(name) {
        return number(words[3], digits: 4...4).flatMap { date($0, words[2], words[1], words[4]) }
      }
      let parts = words.count == 4 ? words[1].split(separator: "-", omittingEmptySubsequences: false) : []
      guard parts.count == 3, weekdays.contains(name) else { return nil }
      return number(parts[2], digits: 2...2).flatMap { date(century(of: $0, now: now), parts[1], parts[0], words[2]) }
    }
    // asctime pads a one-digit day with a space.
    if words.count == 6, words[2].isEmpty, words[3].count == 1 { words.remove(at: 2) }
    guard words.count == 5, isShortWeekday(String(first)) else { return nil }
    return number(words[4], digits: 4...4).flatMap { date($0, words[1], words[2], words[3]) }
  }

  private static func isShortWeekday(_ name: String) -> Bool {
    name.count == 3 && weekdays.contains { $0.hasPrefix(name) }
  }

  /// Formats a date in the form that senders use, rounded down to the second.
  package static func text(_ date: Date) -> String {
    let fields = fields(of: date)
    func padded(_ number: Int32, _ digits: Int = 2) -> String {
      String(repeating: "0", count: max(0, digits - "\(number)".count)) + "\(number)"
    }
    let weekday = weekdays[Int(fields.tm_wday + 6) % 7].prefix(3).capitalized
    let day = "\(padded(fields.tm_mday)) \(months[Int(fields.tm_mon)].capitalized) \(padded(fields.tm_year + 1900, 4))"
    let time = [fields.tm_hour, fields.tm_min, fields.tm_sec].map { padded($0) }.joined(separator: ":")
    return "\(weekday), \(day) \(time) GMT"
  }

  private static func century(of year: Int, now: Date) -> Int {
    let current = Int(fields(of: now).tm_year) + 1900
    let candidate = current / 100 * 100 + year
    return candidate > current + 50 ? candidate - 100 : candidate
  }

  private static func fields(of date: Date) -> tm {
    var (seconds, fields) = (time_t(date.timeIntervalSince1970.rounded(.down)), tm())
    gmtime_r(&seconds, &fields)
    return fields
  }

  private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
    digits.contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  private static func date(_ year: Int, _ month: Substring, _ day: Substring, _ time: Substring) -> Date? {
    guard let month = months.firstIndex(of: String(month)), let day = number(day, digits: 1...2),
      (1...31).contains(day)
    else { return nil }
    let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2...2) }
    guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
      (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
    else { return nil }
    var midnight = tm()
    (midnight.tm_year, midnight.tm_mon, midnight.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
    let seconds = timegm(&midnight)
    // A day that the month does not have, such as 31 April, has become another one.
    guard midnight.tm_mday == day else { return nil }
    return Date(timeIntervalSince1970: Double(seconds + hour * 3600 + minute * 60 + second))
  }
}
