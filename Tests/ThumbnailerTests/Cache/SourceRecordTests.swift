import Foundation
import Testing

@testable import Thumbnailer

@Suite struct SourceRecordTests {
  @Test func theLocationHoldsNoSecrets() throws {
    let url = try #require(URL(string: "https://user:pass@example.org:8080/p/a%20b.jpg?token=secret#part"))
    let record = SourceRecord(
      ImageSource(url, headers: [HTTPHeader("Authorization", "Bearer secret")]), description: Sample.description)
    #expect(record.location == "https://example.org:8080/p/a%20b.jpg")
    #expect(record.host == "example.org")
  }

  @Test func overlongHeaderValuesAreNotKept() {
    let record = SourceRecord(
      Sample.source(1), description: Sample.description, etag: String(repeating: "e", count: 1025),
      lastModified: "Mon, 01 Jan 2024 00:00:00 GMT")
    #expect(record.etag == nil)
    #expect(record.lastModified != nil)
  }
}
