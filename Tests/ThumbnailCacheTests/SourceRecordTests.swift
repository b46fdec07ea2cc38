@testable import HTTPSemantics
@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

@Suite struct SourceRecordTests {
  @Test func theLocationHoldsNoSecrets() throws {
    let url = try #require(URL(string: "https://user:pass@example.org:8080/p/a%20b.jpg?token=secret#part"))
    let record = SourceRecord(
      ImageSource(url, headers: [HTTPHeader("Authorization", "Bearer secret")]), description: Sample.description)
    #expect(record.location == "https://example.org:8080/p/a%20b.jpg")
    #expect(record.host == "example.org")
  }

  @Test(arguments: [
    ("https://example.org/p/a.jpg", "example.org", "/p/a.jpg"), ("https://example.org", "example.org", nil),
    ("https://example.org:8080/a", "example.org", nil), ("http://example.org/a", "example.org", nil),
    ("https://example.organic/a", "example.org", nil), ("file:///a/b.jpg", "", nil),
  ])
  func theHostStandsOnceInTheDatabase(location: String, host: String, stored: String?) {
    let short = SourceRecord.stored(location, host: host)
    #expect(short == stored ?? location)
    #expect(SourceRecord.location(short, host: host) == location)
  }
}
