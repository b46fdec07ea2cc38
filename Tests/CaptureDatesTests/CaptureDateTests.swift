import TestSupport

@testable import CaptureDates

/// Dates as values, and in texts and names.
@Suite struct CaptureDateTests {
  private func text(_ text: String, fraction: String = "", zone: String = "") -> String? {
    CaptureDate(Array(text.utf8), fraction: Array(fraction.utf8), zone: Array(zone.utf8), source: .camera)?.text
  }

  @Test func aTextTellsDayTimeFractionAndZone() {
    #expect(text("2026:11:20 08:05:09") == "2026-11-20T08:05:09")
    #expect(text("2026:11:20 08:05:09\0", fraction: "25", zone: "+01:00\0") == "2026-11-20T08:05:09.250+01:00")
    #expect(text("2026-11-20T08:05:09.1234-0530") == "2026-11-20T08:05:09.123-05:30")
    #expect(text("2026-11-20T08:05Z") == "2026-11-20T08:05:00+00:00")
    #expect(text("2026/11/20 08:05:60") == "2026-11-20T08:05:59")
    #expect(text("2026-11-20") == "2026-11-20")
    #expect(text("2026:11:20   :  :  ") == "2026-11-20")
    #expect(text("1899:12:31 23:59:59", fraction: "999") == "1899-12-31T23:59:59.999")
    // No zone of the world: it is not told.
    #expect(text("2026:11:20 08:05:09", zone: "+99:59") == "2026-11-20T08:05:09")
  }

  @Test func whatNoCalendarHasIsNoDate() {
    for none in [
      "", "0000:00:00 00:00:00", "    :  :     :  :  ", "2026:13:01 00:00:00", "2026:02:30 00:00:00", "2025:02:29",
      "2026:11:20 24:00:00", "2026:11:20 12:60:00", "1700:01:01", "3000:01:01", "2026-11", "20261120", "yesterday",
    ] {
      #expect(text(none) == nil, "\(none)")
    }
  }

  @Test func everyDayOfTwelveCenturiesIsTheCalendarsOwn() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    let first = try #require(calendar.date(from: DateComponents(year: 1800, month: 1, day: 1)))
    // A prime number of days meets all months and all kinds of years.
    for number in stride(from: 0, to: 438_000, by: 97) {
      let date = first.addingTimeInterval(Double(number) * 86_400)
      let parts = calendar.dateComponents([.year, .month, .day], from: date)
      let (year, month, day) = (parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
      let found = try #require(CaptureDate(year: year, month: month, day: day, time: 43_200_000, source: .camera))
      #expect(found.clock == (Int(date.timeIntervalSince1970) + 43_200) * 1000)
      #expect(found.month.year == year && found.month.month == month)
      #expect(found.month.begin == found.clock - ((day - 1) * 86_400 + 43_200) * 1000)
      #expect(CaptureDate(packed: found.packed) == found)
      #expect(found.day.hasSuffix("-\(day < 10 ? "0" : "")\(day)"))
    }
  }

  @Test func aPackedNumberThatIsNoDateIsRefused() throws {
    let date = try #require(CaptureDate(Array("2026:11:20 08:05:09".utf8), source: .xmp))
    #expect(date.source == .xmp)
    for number in [.min, .max, date.packed | 0xFF, date.packed & ~0xFF00 | 0x7000, date.packed &+ 1 << 62] {
      #expect(CaptureDate(packed: number) == nil, "\(number)")
    }
  }

  @Test func aMomentIsToldByTheClockOfThisMachine() throws {
    let moment = 1_763_625_909
    var (time, parts) = (time_t(moment), tm())
    localtime_r(&time, &parts)
    let date = CaptureDate(fileTime: moment * 1_000_000_000 + 999_999_999)
    #expect(date.clock == (moment + parts.tm_gmtoff) * 1000)
    #expect(date.source == .file)
    #expect(CaptureDate(fileTime: .max).source == .file)
    #expect(CaptureDate(fileTime: -1).clock == CaptureDate(fileTime: 0).clock)
  }

  // MARK: Names

  private func named(_ name: String) -> String? { CaptureDate(name: Array(name.utf8))?.text }

  @Test(arguments: [
    ("IMG_20261120_080509.jpg", "2026-11-20T08:05:09"), ("20261120_080509.heic", "2026-11-20T08:05:09"),
    ("VID_20261120_080509250.mp4", "2026-11-20T08:05:09.250"), ("IMG20261120080509.jpg", "2026-11-20T08:05:09"),
    ("Screenshot_20261120-080509.png", "2026-11-20T08:05:09"),
    ("Screenshot_2026-11-20-08-05-09-25_a1b2c3d4e5f6.jpg", "2026-11-20T08:05:09"),
    ("IMG-20261120-WA0003.jpg", "2026-11-20"), ("2026-11-20 08.05.09-2.jpg", "2026-11-20T08:05:09"),
    ("WhatsApp Image 2026-11-20 at 08.05.09.jpeg", "2026-11-20T08:05:09"),
    ("Screen Shot 2026-11-20 at 8.05.09 PM.png", "2026-11-20T20:05:09"),
    ("Screenshot 2026-11-20 at 12.05.09\u{202F}AM.png", "2026-11-20T00:05:09"),
    ("photo_2026-11-20_08-05-09.jpg", "2026-11-20T08:05:09"), ("signal-2026-11-20-080509.jpg", "2026-11-20T08:05:09"),
    ("WP_20261120_08_05_09_Pro.jpg", "2026-11-20T08:05:09"), ("DJI_20261120080509_0001_D.JPG", "2026-11-20T08:05:09"),
    ("Beach 2026-11-20.jpg", "2026-11-20"),
  ])
  func namesOfPhonesTellTheirDate(name: String, date: String) { #expect(named(name) == date) }

  @Test(arguments: [
    "IMG_1234.jpg", "DSC00012.ARW", "20261340_080509.jpg", "12345678901234567890.jpg", "wallpaper-2048x1152.png",
    "20261120123.jpg", "18991120_080509.jpg", "2026.jpg", "2026-11.jpg", "2026-11_20.jpg", "",
    "Snapchat-1763625909123.jpg",
  ])
  func otherNumbersAreNoDate(name: String) { #expect(named(name) == nil) }

  @Test func namesWithAMomentAreToldByTheClockOfThisMachine() {
    for name in ["FB_IMG_1763625909123.jpg", "mmexport1763625909123.jpg"] {
      #expect(CaptureDate(name: Array(name.utf8)) == CaptureDate(moment: 1_763_625_909_123, source: .name))
    }
    #expect(
      CaptureDate(name: Array("PXL_20251120_080509123.MP.jpg".utf8))
        == CaptureDate(moment: 1_763_625_909_123, source: .name))
    #expect(CaptureDate(moment: 40_000_000_000_000, source: .name) == nil)
  }
}
