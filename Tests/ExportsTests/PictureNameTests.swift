import TestSupport

@testable import Exports
@testable import ThumbnailCore

@Suite struct PictureNameTests {
  private func path(_ name: PictureName, _ template: String = "{path}/{name}.{ext}") throws -> String? {
    try NamingTemplate(template).path(
      for: name.templateSource, size: TargetSize(PixelSize(9, 9)), ext: Array("jpg".utf8)
    )
    .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    arguments: [
      ("https://example.org/2024/may/lake.png", "example.org/2024/may/lake.jpg"),
      ("https://example.org/lake", "example.org/lake.jpg"),
      ("https://example.org/a%20b/%E5%AF%8C%E5%A3%AB.jpeg?size=big#x", "example.org/a b/富士.jpg"),
      ("https://example.org:8080/a.jpg", "example.org/a.jpg"),
    ])
  func anAddressBecomesItsHostAndFolders(address: String, expected: String) throws {
    let url = try #require(URL(string: address))
    #expect(try path(PictureName(url)) == expected)
  }

  @Test(
    arguments: [
      ("https://example.org/..%2F..%2Fetc%2Fpasswd", "example.org/____etc_passwd.jpg"),
      ("https://example.org/a/..%2f/b.jpg", "example.org/a/b.jpg"),
      ("https://example.org/%2e%2e/%2e%2e/b.jpg", "example.org/b.jpg"),
      ("https://example.org/a%0A%1B%5B2J.jpg", "example.org/a__[2J.jpg"),
      ("https://example.org/a%00.jpg", "example.org/a_.jpg"),
      ("https://example.org/-rf.jpg", "example.org/_rf.jpg"),
      ("https://example.org/.thumbs-0.tmp", "example.org/_thumbs-0.jpg"),
      ("https://example.org/%E2%80%AEgpj.exe", "example.org/_gpj.jpg"),
      ("https://example.org/%FF%FE.jpg", "example.org/__.jpg"),
      // A dot with a combining accent behind it is one character, and hides a file all the same.
      ("https://example.org/.%CC%88a.jpg", "example.org/_\u{308}a.jpg"),
      ("https://example.org/-%CC%88a.jpg", "example.org/_\u{308}a.jpg"),
    ])
  func hostileNamesStayBelowTheirFolderAndCanBeTyped(address: String, expected: String) throws {
    let url = try #require(URL(string: address))
    #expect(try path(PictureName(url)) == expected)
  }

  @Test(arguments: [
    "https://example.org", "https://example.org/", "https://example.org/..%2f", "https://example.org/...",
  ])
  func whatHasNoNameIsNamedByItsDigest(address: String) throws {
    let url = try #require(URL(string: address))
    let name = try #require(try path(PictureName(url)))
    let last = try #require(name.split(separator: "/").last)
    #expect(last.count == 20 && last.dropLast(4).allSatisfy(\.isHexDigit), "\(name)")
  }

  @Test func longNamesAreCutBetweenCharactersAndStayDifferent() throws {
    let long = String(repeating: "ä", count: 400)
    let names = try ["1", "2"].compactMap { try path(PictureName("\(long)\($0).jpeg", identity: $0)) }
    try #require(names.count == 2)
    #expect(names[0] != names[1])
    for name in names {
      #expect(name.utf8.count <= 160 && name.hasPrefix("äää") && name.hasSuffix(".jpg") && !name.contains("\u{FFFD}"))
    }
    #expect(PictureName.marked(Array(repeating: 97, count: 300), to: 100, mark: [98]).count == 100)
    func deep(_ length: Int) throws -> Int {
      let folder = String(repeating: String(repeating: "f", count: 99) + "/", count: 6).dropFirst(600 - length)
      return try path(PictureName("\(folder)a.jpg", identity: "x"))?.utf8.count ?? 0
    }
    #expect(try [deep(599), deep(600)] == [604, 605])
    let far = PictureName(Array(repeating: "folder", count: 500).joined(separator: "/") + "/a.jpg", identity: "x")
    #expect(try path(far)?.utf8.count ?? 99 < 40)
  }
}
