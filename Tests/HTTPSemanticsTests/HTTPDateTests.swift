import Foundation
import Testing

@testable import HTTPSemantics

@Suite struct HTTPDateTests {
  private let moment = Date(timeIntervalSince1970: 784_111_777)
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "sun, 06 nov 1994 08:49:37 gmt", "Sun, 6 Nov 1994 08:49:37 GMT", "SUN NOV 06 08:49:37 1994",
  ])
  func allThreeFormsAreRead(text: String) {
    #expect(HTTPDate.parse(text, now: now) == moment)
  }

  @Test(arguments: [
    "", "0", "-1", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 31 Feb 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
    "Sun, 06 Nov 199 08:49:37 GMT", "Sun, 06 Smarch 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 94", "784111777",
  ])
  func anythingElseIsNoDate(text: String) {
    #expect(HTTPDate.parse(text, now: now) == nil)
  }

  /// What is guessed of them could make something fresh that its server did not mean to be.
  @Test(arguments: [
    "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
    "Sun, 06  Nov  1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994  08:49:37 GMT",
    "Sunday, 06 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
    "Sunday,  06-Nov-94 08:49:37 GMT", "Sun Nov   6 08:49:37 1994", "Sun Nov  06 08:49:37 1994",
    "Sun  Nov  6 08:49:37 1994", "Sun-Nov-06 08:49:37 1994", "Sun 06 Nov 1994 08:49:37 GMT",
    "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Son, 06 Nov 1994 08:49:37 GMT",
  ])
  func aMixtureOfTheFormsIsNoDate(text: String) {
    #expect(HTTPDate.parse(text, now: now) == nil)
  }

  @Test func ofTwoDigitsTheYearIsNeverMoreThanFiftyAhead() {
    // In 2027.
    #expect(
      HTTPDate.parse("Sunday, 06-Nov-77 08:49:37 GMT", now: now).map(HTTPDate.text) == "Sat, 06 Nov 2077 08:49:37 GMT")
    #expect(
      HTTPDate.parse("Sunday, 06-Nov-78 08:49:37 GMT", now: now).map(HTTPDate.text) == "Mon, 06 Nov 1978 08:49:37 GMT")
  }

  @Test(arguments: [0, 951_782_400, 951_868_799, 4_102_444_800, -1, -2_208_988_800, 253_402_300_799])
  func whatIsWrittenIsReadAgain(seconds: Double) {
    let date = Date(timeIntervalSince1970: seconds)
    #expect(HTTPDate.parse(HTTPDate.text(date), now: now) == date)
  }

  @Test func theWeekdayIsRight() {
    #expect(HTTPDate.text(moment) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.text(Date(timeIntervalSince1970: -86_400)) == "Wed, 31 Dec 1969 00:00:00 GMT")
  }
}
