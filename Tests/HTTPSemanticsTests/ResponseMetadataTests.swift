import Foundation
import Testing

@testable import HTTPSemantics

/// For how long answers hold, and by what they are asked about.
@Suite struct ResponseMetadataTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let now = Self.now
  private static let day = 86_400.0

  private static func header(_ name: String, _ seconds: Double) -> HTTPHeader {
    HTTPHeader(name, HTTPDate.text(now.addingTimeInterval(seconds)))
  }

  /// For how many seconds from now an answer with these fields holds.
  private func freshFor(_ headers: [HTTPHeader], delay: Double = 0) -> Double {
    ResponseMetadata(headers).freshness(headers, receivedAt: now, delay: delay).expires.timeIntervalSince(now)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let headers: [HTTPHeader]
    let seconds: Double
    var testDescription: String { headers.map { "\($0.name): \($0.value)" }.joined(separator: "; ") }

    init(_ seconds: Double, _ headers: (String, String)...) {
      self.seconds = seconds
      self.headers = headers.map { HTTPHeader($0, $1) }
    }
  }

  @Test(arguments: [
    Case(60, ("Cache-Control", "max-age=60")), Case(60, ("cache-control", "Public, MAX-AGE=60, immutable")),
    Case(60, ("Cache-Control", "max-age=\"60\"")), Case(60, ("Cache-Control", "s-maxage=5, private, max-age=60")),
    // The strictest of several, on one line or on two.
    Case(10, ("Cache-Control", "max-age=60, max-age=10")),
    Case(10, ("Cache-Control", "max-age=10"), ("Cache-Control", "max-age=60")),
    // What makes no sense is stale.
    Case(0, ("Cache-Control", "max-age=never")), Case(0, ("Cache-Control", "max-age=-5")),
    Case(0, ("Cache-Control", "max-age=1.5")), Case(0, ("Cache-Control", "max-age=")),
    Case(0, ("Cache-Control", "max-age")),
    // Beyond every number means for ever, which is a year.
    Case(31_536_000, ("Cache-Control", "max-age=99999999999999999999999999")),
    Case(31_536_000, ("Cache-Control", "max-age=2147483648")),
    Case(0, ("Cache-Control", "no-cache, max-age=60")), Case(0, ("Cache-Control", "no-store")),
    Case(60, ("Cache-Control", "public; max-age=60")), Case(0, ("Cache-Control", "max-age=60; no-cache=")),
    // Of a field, not of the answer.
    Case(60, ("Cache-Control", "no-cache=\"Set-Cookie, X\", max-age=60")),
    // Directives that nobody knows, and texts that are none.
    Case(60, ("Cache-Control", "what=ever, ,, =, max-age=60")),
    // A quote that is never closed hides nothing.
    Case(60, ("Cache-Control", "what=\"unclosed, max-age=60")),
    Case(0, ("Cache-Control", "private=\"unclosed, no-store, max-age=60")),
    Case(604_800, ("Cache-Control", "")), Case(604_800, ("ETag", "\"a\"")), Case(604_800),
    Case(0, ("Vary", "*")), Case(0, ("Vary", "Accept, *"), ("Cache-Control", "max-age=60")),
    Case(60, ("Vary", "Accept"), ("Cache-Control", "max-age=60")),
    // What a cache on the way has held it for counts.
    Case(40, ("Cache-Control", "max-age=60"), ("Age", "20")),
    Case(-40, ("Cache-Control", "max-age=60"), ("Age", "100")),
    Case(60, ("Cache-Control", "max-age=60"), ("Age", "-20")),
    Case(60, ("Cache-Control", "max-age=60"), ("Age", "old")),
    Case(40, ("Cache-Control", "max-age=60"), ("Age", "20, 50")),
    Case(60, ("Cache-Control", "max-age=60"), ("Age", ", 50")),
    // Beyond every number it is as old as can be.
    Case(60 - 2_147_483_648, ("Cache-Control", "max-age=60"), ("Age", "99999999999999999999999999")),
    Case(0, ("Expires", "0")), Case(0, ("Expires", "-1")), Case(0, ("Expires", "tomorrow")),
  ])
  func anAnswerHoldsForAsLongAsItSays(_ example: Case) {
    #expect(freshFor(example.headers) == example.seconds)
  }

  @Test func datesAreComparedWithTheServersOwnClock() {
    let date = Self.header("Date", 0)
    #expect(freshFor([date, Self.header("Expires", 90)]) == 90)
    #expect(freshFor([Self.header("Expires", 90)]) == 90)
    #expect(freshFor([date, Self.header("Expires", -90)]) == 0)
    // max-age goes before Expires.
    #expect(freshFor([date, Self.header("Expires", 90), HTTPHeader("Cache-Control", "max-age=5")]) == 5)
    // A server whose clock is ten minutes ahead means the same by it.
    #expect(freshFor([Self.header("Date", 600), Self.header("Expires", 690)]) == 90)
    // One whose clock is behind looks as if its answer were old.
    #expect(freshFor([Self.header("Date", -60), Self.header("Expires", 30)]) == 30)
    // Two lines that say different things say nothing.
    #expect(freshFor([Self.header("Expires", 90), Self.header("Expires", 900)]) == 0)
  }

  @Test func datesFarInThePastAndFutureHoldForNothingAndForAYear() {
    #expect(freshFor([HTTPHeader("Expires", "Thu, 01 Jan 1970 00:00:00 GMT")]) == 0)
    #expect(freshFor([HTTPHeader("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")]) == 365 * Self.day)
    #expect(
      freshFor([HTTPHeader("Date", "Thu, 01 Jan 1970 00:00:00 GMT"), HTTPHeader("Cache-Control", "max-age=60")]) < 0)
    #expect(
      freshFor([HTTPHeader("Date", "Fri, 31 Dec 9999 23:59:59 GMT"), HTTPHeader("Cache-Control", "max-age=60")]) == 60)
    #expect(freshFor([HTTPHeader("Date", "yesterday"), HTTPHeader("Cache-Control", "max-age=60")]) == 60)
  }

  @Test(arguments: [
    ("Thursday, 18-Aug-50 02:01:18 GMT", true), ("Thu Aug  8 02:01:18 2050", true),
    ("Thu, 18 Aug 50 02:01:18 GMT", false), ("Thu, 18-Aug-2050 02:01:18 GMT", false),
    ("Thu, 18  Aug  2050 02:01:18 GMT", false),
  ])
  func anEndThatIsNoDateIsInThePast(expires: String, isDate: Bool) {
    #expect((freshFor([HTTPHeader("Expires", expires)]) > 0) == isDate)
  }

  @Test func whatOnlySaysWhenItWasChangedHoldsForATenthOfThat() {
    #expect(freshFor([Self.header("Last-Modified", -600)]) == 60)
    #expect(freshFor([Self.header("Last-Modified", -1000 * Self.day)]) == 7 * Self.day)
    #expect(freshFor([Self.header("Last-Modified", 600)]) == 0)
    #expect(freshFor([HTTPHeader("Last-Modified", "long ago")]) == 7 * Self.day)
    // Only where nothing else is said.
    #expect(freshFor([Self.header("Last-Modified", -600), HTTPHeader("Cache-Control", "max-age=5")]) == 5)
  }

  @Test func theTimeThatTheAnswerTookCounts() {
    #expect(freshFor([HTTPHeader("Cache-Control", "max-age=60")], delay: 25) == 35)
    #expect(freshFor([HTTPHeader("Cache-Control", "max-age=60"), HTTPHeader("Age", "10")], delay: 25) == 25)
  }

  @Test func aClockThatWasSetBackMakesNothingFreshForEver() {
    let freshness = ResponseMetadata([]).freshness([], receivedAt: now, delay: 0)
    // Clocks are put right by fractions of a second all the time.
    #expect(freshness.isFresh(at: now.addingTimeInterval(-0.5)))
    #expect(freshness.isFresh(at: now.addingTimeInterval(1)))
    #expect(!freshness.isFresh(at: now.addingTimeInterval(-2)))
    #expect(!freshness.isFresh(at: now.addingTimeInterval(-30 * 365 * Self.day)))
    #expect(!freshness.isFresh(at: now.addingTimeInterval(30 * 365 * Self.day)))
    #expect(Freshness.lasting.isFresh(at: now) && !Freshness.unknown.isFresh(at: now))
  }

  @Test func aPictureIsAskedAboutByItsTagAndItsTime() {
    let headers = [HTTPHeader("ETag", "W/\"a\""), Self.header("Last-Modified", -600)]
    let conditions = ResponseMetadata(headers).conditions
    #expect(conditions.map(\.name) == ["If-None-Match", "If-Modified-Since"])
    #expect(conditions.map(\.value) == headers.map(\.value))
    #expect(ResponseMetadata([HTTPHeader("ETag", ""), HTTPHeader("Last-Modified", "long ago")]).conditions.isEmpty)
    for tag in ["*", "W/*", "\"a\", \"b\"", "a, b", "\"", "\"a"] {
      #expect(ResponseMetadata([HTTPHeader("ETag", tag)]).conditions.isEmpty, "\(tag)")
    }
    for tag in ["\"a, *\"", "\"\"", "W/\"*\"", "without-quotes"] {
      #expect(ResponseMetadata([HTTPHeader("ETag", tag)]).conditions.map(\.value) == [tag])
    }
    #expect(ResponseMetadata([HTTPHeader("ETag", String(repeating: "e", count: 1025))]).conditions.isEmpty)
  }

  @Test(arguments: ["\r", "\n", "\0"]) func aTagThatWouldEndItsLineIsNotSent(character: String) {
    let response = ResponseMetadata([HTTPHeader("ETag", "\"a\(character)b\""), Self.header("Last-Modified", -600)])
    #expect(response.conditions.map(\.name) == ["If-Modified-Since"])
  }

  @Test func whatAConfirmationSaysTakesThePlaceOfWhatWasKnown() {
    let known = ResponseMetadata([
      HTTPHeader("ETag", "\"a\""), HTTPHeader("Cache-Control", "max-age=5"), HTTPHeader("Vary", "Accept"),
    ])
    let updated = known.updated(by: [HTTPHeader("Cache-Control", "max-age=70"), Self.header("Last-Modified", -600)])
    #expect(updated.etag == "\"a\"" && updated.cacheControl == "max-age=70" && updated.vary == "Accept")
    #expect(updated.lastModified != nil)
    #expect(known.isConfirmed(by: []) && known.isConfirmed(by: [HTTPHeader("ETag", "W/\"a\"")]))
    #expect(!known.isConfirmed(by: [HTTPHeader("ETag", "\"b\"")]))
    // By the time where there are no tags to compare.
    let timed = ResponseMetadata([Self.header("Last-Modified", -600)])
    #expect(timed.isConfirmed(by: [Self.header("Last-Modified", -600), HTTPHeader("ETag", "\"a\"")]))
    #expect(timed.isConfirmed(by: [HTTPHeader("Last-Modified", "once")]))
    #expect(!timed.isConfirmed(by: [Self.header("Last-Modified", -700)]))
  }

  @Test func overlongFieldsAreTakenForTheStrictest() {
    let long = String(repeating: "x", count: 2000)
    #expect(freshFor([HTTPHeader("Cache-Control", "max-age=60, \(long)")]) == 0)
    #expect(ResponseMetadata([HTTPHeader("Cache-Control", "\(long), no-store")]).control.forbidsStoring)
    #expect(freshFor([HTTPHeader("Vary", long)]) == 0)
    #expect(freshFor([HTTPHeader("Expires", long)]) == 0)
  }

  @Test func whatIsSaidAboutKeepingIsRead() {
    #expect(CacheControl("max-age=1, no-store").forbidsStoring && CacheControl("private;no-store").forbidsStoring)
    #expect(!CacheControl("no-store, must-understand").forbidsStoring)
    #expect(CacheControl("Must-Revalidate").mustRevalidate && !CacheControl("proxy-revalidate").mustRevalidate)
    #expect(CacheControl("stale-if-error=30").staleIfError == 30 && CacheControl("stale-if-error").staleIfError == 0)
    #expect(CacheControl("stale-while-revalidate=30").staleWhileRevalidate == 30)
    #expect(
      CacheControl("Stale-While-Revalidate").staleWhileRevalidate == 0 && CacheControl("").staleWhileRevalidate == nil)
    #expect(
      CacheControl("no-cache").requiresRevalidation && !CacheControl("no-cache=\"Set-Cookie\"").requiresRevalidation)
  }
}
