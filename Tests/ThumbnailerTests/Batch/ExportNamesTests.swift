import Foundation
import Testing

@testable import Thumbnailer

/// Names made of addresses that come from anywhere.
@Suite struct ExportNamesTests {
  private func name(_ location: String, names: inout ExportNames) throws -> String {
    names.path(
      location: location, picture: ImageSource(try #require(URL(string: "https://x/"))).key,
      variant: Variant(size: PixelSize(40, 30)), size: PixelSize(40, 27), format: .jpeg
    ).description
  }

  private func name(_ location: String, _ template: String? = nil) throws -> String {
    var names = ExportNames(try template.map { try NamingTemplate($0) })
    return try name(location, names: &names)
  }

  @Test(arguments: [
    ("https://example.org/a/b.png", "example.org/a/b-40x30.jpg"),
    ("https://example.org:8080/a%20b.png", "example.org_8080/a b-40x30.jpg"),
    ("https://example.org/", "example.org/index-40x30.jpg"), ("https://example.org", "example.org/index-40x30.jpg"),
    ("https://example.org/a/", "example.org/a/index-40x30.jpg"), ("file:///home/x/a.jpg", "home/x/a-40x30.jpg"),
    ("file:///a.jpg", "a-40x30.jpg"),
    ("https://example.org/../../etc/passwd", "example.org/_./_./etc/passwd-40x30.jpg"),
    ("https://example.org/%2e%2e/%2Fetc", "example.org/_./_etc-40x30.jpg"),
    ("https://example.org/a%00b%0Ac.jpg", "example.org/a_b_c-40x30.jpg"),
    ("https://example.org/a%E2%80%AEgpj.exe", "example.org/a_gpj-40x30.jpg"),
    ("https://example.org/.thumbs-index", "example.org/_thumbs-index-40x30.jpg"), ("", "index-40x30.jpg"),
    ("https://example.org/%FF%GG.jpg", "example.org/\u{FFFD}%GG-40x30.jpg"),
  ])
  func anAddressBecomesAPathBelowTheFolder(location: String, expected: String) throws {
    #expect(try name(location) == expected)
  }

  @Test func templatesAreFollowed() throws {
    #expect(try name("https://h/a/b.png", "{name}_{width}.{oldext}.{ext}") == "b_40.png.jpg")
    let hash = try name("https://h/a/b.png", "{hash}")
    #expect(hash.count == 16 && hash.allSatisfy(\.isHexDigit))
  }

  @Test(arguments: [String(repeating: "é", count: 300), String(repeating: "x", count: 1000)])
  func longNamesAreCutBetweenCharactersAndStayApart(long: String) throws {
    let one = try name("https://h/\(long)/\(long)a")
    let other = try name("https://h/\(long)/\(long)b")
    #expect(one != other && one.hasSuffix(".jpg") && !one.contains("\u{FFFD}"))
    #expect(one.split(separator: "/").allSatisfy { $0.utf8.count <= 240 })
  }

  @Test func aNameIsGivenOnce() throws {
    var names = ExportNames()
    let first = try name("https://h/a.jpg", names: &names)
    let second = names.path(
      location: "https://h/a.png", picture: Sample.source(2).key, variant: Variant(size: PixelSize(40, 30)),
      size: PixelSize(40, 30), format: .jpeg
    ).description
    #expect(first == "h/a-40x30.jpg")
    #expect(second.hasPrefix("h/a-40x30-") && second.hasSuffix(".jpg") && second.count == first.count + 9)
  }
}
