/// What the reports say of downloads that end early.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EarlyStopCommandTests {
  private let bench: Bench
  private let origin: Origin
  private let length: Int

  init() throws {
    bench = try Bench()
    // A small progressive file with much behind its end, which a whole download brings along.
    let picture = try TestImages.bytes("formats/jpeg-progressive.jpg") + Data(count: 500_000)
    length = picture.count
    origin = try Origin { _ in .ok(picture, type: "image/jpeg") }
    try Data("\(origin.url("/a.jpg"))\n".utf8).write(to: bench.url("list.txt"))
  }

  @Test func saysWhatWasLeftWithTheServer() async throws {
    let json = try await bench.run("prefetch", "--urls", "list.txt", "--size", "20x15", "--json")
    let source = try #require(try json.pictures().first?.source)
    #expect(source.bytes == length && source.downloaded < length / 4 && source.downloaded + source.left == length)
    #expect(try json.summary().bytesLeft == source.left && json.summary().downloadedBytes == source.downloaded)
    let words = try await bench.run("prefetch", "--urls", "list.txt", "--size", "16x12")
    #expect(words.lines.contains { $0.hasPrefix("downloaded ") && $0.contains(" that no thumbnail needs, stored ") })
  }
}
