/// Listing what a cache holds, and reading it without using it.
@Suite(.timeLimit(.minutes(5))) struct StoredPicturesTests {
  private let directory: CacheDirectory
  private let cache: DiskCache

  init() throws {
    directory = try CacheDirectory()
    cache = try DiskCache(directory: directory.url, byteLimit: 64 << 20)
  }

  private func source(_ url: String, headers: [HTTPHeader] = []) throws -> ImageSource {
    ImageSource(try #require(URL(string: url)), headers: headers)
  }

  private let fetched = Date(timeIntervalSince1970: 1e9)

  private func store(_ source: ImageSource, sides: [Int] = [400]) async throws {
    try await cache.store(
      sides.map { Sample.entry($0, bytes: 500, side: $0) },
      of: SourceRecord(source, description: Sample.description, fetchedAt: fetched))
    try await cache.flush()
  }

  private func list(_ selection: CacheSelection) throws -> [StoredPicture] {
    var pictures = try cache.pictures(selection)
    var list: [StoredPicture] = []
    while let picture = try pictures.next() { list.append(picture) }
    return list
  }

  @Test func aPictureIsListedWithItsThumbnailsTheLargestFirst() async throws {
    try await store(source("https://user:secret@example.org/lake/a.jpg?token=1#x"), sides: [20, 400, 90])
    let picture = try #require(try list(.all).first)
    #expect(picture.location == "https://example.org/lake/a.jpg" && picture.host == "example.org")
    #expect(picture.description == Sample.description && picture.bytes == 1500)
    #expect(picture.fetchedAt == fetched)
    #expect(picture.thumbnails.map(\.variant) == [400, 90, 20].map { Sample.variant($0) })
    #expect(picture.thumbnails.map(\.size.width) == [400, 90, 20])
    #expect(picture.thumbnails.allSatisfy { $0.bytes == 500 && $0.format == .jpeg })
  }

  @Test func allPagesAreListedOnceEach() async throws {
    for number in 0..<700 { try await cache.store(number, bytes: 50) }
    try await cache.flush()
    let locations = try list(.all).map(\.location)
    #expect(locations.count == 700 && Set(locations).count == 700)
  }

  @Test func aListThatIsReadWhileOthersWriteGoesOn() async throws {
    for number in 0..<600 { try await cache.store(number, bytes: 50) }
    try await cache.flush()
    var pictures = try cache.pictures()
    let first = try #require(try pictures.next())
    for number in 0..<600 where Sample.source(number).key != first.key {
      try await cache.remove(Sample.source(number).key)
    }
    try await cache.store(1000)
    try await cache.flush()
    var rest: Set<String> = []
    while let picture = try pictures.next() { rest.insert(picture.location) }
    #expect(rest.contains(Sample.source(1000).url.absoluteString))
  }

  @Test func wordsAreFoundWithoutRegardToCaseAccentsAndDigits() async throws {
    try await store(source("https://example.org/Lac%20L%C3%A9man/boat.jpg"))
    try await store(source("https://example.org/lake/boat.jpg"))
    #expect(try list(.words("lac leman")).count == 1)
    #expect(try list(.words("BOAT example")).count == 2)
    #expect(try list(.words("boat mountain")).isEmpty)
    #expect(try list(.words("%")).isEmpty)
    #expect(try list(.words("'; DROP TABLE source; --")).isEmpty)
    #expect(try list(.words("")).count == 2)
  }

  @Test func aURLFindsAllThatWasFetchedFromItsAddress() async throws {
    let plain = try source("https://example.org/a.jpg")
    try await store(plain)
    try await store(source("https://example.org/a.jpg", headers: [HTTPHeader("Authorization", "x")]))
    try await store(source("https://example.org/a.jpg?w=200"))
    try await store(source("https://example.org/b.jpg"))
    #expect(try list(.picture(plain)).count == 3)
    #expect(try list(.picture(source("https://example.org/a.jpg?w=200"))).count == 1)
    #expect(try list(.picture(source("https://example.org/a.jpg?w=300"))).count == 3)
    #expect(try list(.picture(source("https://example.org/c.jpg"))).isEmpty)
  }

  @Test func aFileIsFoundByItsPathEvenWhenItHasChanged() async throws {
    let path = directory.url.appendingPathComponent("é a.jpg").path
    try Data("one".utf8).write(to: URL(fileURLWithPath: path))
    try await store(.file(at: path))
    try Data("another".utf8).write(to: URL(fileURLWithPath: path))
    try await store(.file(at: path))
    #expect(try list(.picture(.file(at: path))).count == 2)
  }

  @Test(arguments: ["width = 'wide'", "format = 'jpog'", "fetched_at = 'soon'", "key = x'00'", "location = x'ff00'"])
  func aRowThatMakesNoSenseDoesNotEndTheList(damage: String) async throws {
    for number in 0..<3 { try await cache.store(number) }
    try await cache.flush()
    try directory.execute("UPDATE source SET \(damage) WHERE id = (SELECT source FROM thumbnail WHERE id = 2)")
    #expect(try list(.all).count >= 2)
  }
}
