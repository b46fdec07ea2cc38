@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct URLListProviderTests {
  /// A list that the test writes while it is read.
  private final class Pipe: Sendable {
    let provider: URLListProvider
    private let writeEnd: Mutex<FileDescriptor?>

    init() {
      let ends = makePipe()
      provider = URLListProvider(.open(FileDescriptor(owning: ends.read), name: "-"))
      writeEnd = Mutex(FileDescriptor(owning: ends.write))
    }

    func write(_ text: String) {
      let end = writeEnd.withLock { $0 }
      #expect(Glibc.write(end?.rawValue ?? -1, text, text.utf8.count) == text.utf8.count)
    }

    /// Writes a line over and over, as fast as it is read.
    func writeEndlessly(_ line: String, until stop: CancellationFlag) {
      guard let end = writeEnd.withLock({ $0 }) else { return }
      _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK)
      while !stop.isSet {
        // Real time: until the reader has made room in the pipe.
        if Glibc.write(end.rawValue, line, line.utf8.count) < 0 { usleep(1000) }
      }
    }

    /// Ends the list.
    func finish() { writeEnd.withLock { $0 = nil } }
  }

  private func list(_ text: String) async throws -> PhotoPage {
    let folder = try TemporaryFolder()
    try folder.add("list.txt", text.utf8)
    let provider = URLListProvider(path: "\(folder.path)/list.txt")
    let page = try await provider.search(PhotoQuery(pageSize: 100), at: nil)
    #expect(page.next == nil)
    return page
  }

  private func source(_ photo: Photo?) throws -> ImageSource {
    try #require(photo).source(for: PixelSize(100, 100), fit: .cover)
  }

  @Test func readsPlainLinesAndSkipsBlanksAndComments() async throws {
    let page = try await list(
      "\u{feff}https://a.example/1.jpg\r\n\r\n# a comment\n   \n  http://b.example/2.jpg  \n\t#x\nHTTPS://c.example/3.jpg"
    )
    #expect(page.photos.map(\.id) == ["https://a.example/1.jpg", "http://b.example/2.jpg", "HTTPS://c.example/3.jpg"])
    #expect(page.photos.map(\.title) == ["1.jpg", "2.jpg", "3.jpg"])
    #expect(page.skipped.isEmpty)
    #expect(try source(page.photos.first).url.absoluteString == "https://a.example/1.jpg")
  }

  @Test func readsJSONLines() async throws {
    let page = try await list(
      """
      {"url": "https://a.example/1.jpg"}
      {"url": "https://a.example/2.jpg", "id": 7, "title": "Two", "headers": {"X-B": "2", "Authorization": "Bearer t"}}
      {"url": "https://a.example/3.jpg", "id": "three", "extra": [1]}
      {"url": "https://a.example/1.jpg", "headers": {"Cookie": "a=b"}}
      """)
    #expect(
      page.photos.map(\.id) == [
        "https://a.example/1.jpg", "7", "three", "https://a.example/1.jpg (line 4)",
      ])
    #expect(page.photos.map(\.title) == ["1.jpg", "Two", "3.jpg", "1.jpg"])
    let headers = try source(page.photos.dropFirst().first).headers
    #expect(headers == [HTTPHeader("Authorization", "Bearer t"), HTTPHeader("X-B", "2")])
    // With other credentials it is another picture.
    #expect(try source(page.photos.first).key != source(page.photos.last).key)
  }

  @Test func aBadLineIsToldWithItsNumberAndTheRestGoesOn() async throws {
    let page = try await list(
      """
      ftp://a.example/1.jpg
      pictures/1.jpg
      file:///etc/passwd
      {"url": "https://a.example/x.jpg", "headers": {"Authorization": 5}}
      {"id": "no url"}
      {"url": "https://a.example/x.jpg", "headers": {"X-A": "1\\r\\nX-B: 2"}}
      {"url": "https://a.example/x.jpg", "headers": {"X A": "1"}}
      {"url": "https://a.example/x.jpg"
      [{"url": "https://a.example/x.jpg"}]
      https://
      https:///x.jpg
      https://a.example/tab\there.jpg
      {"url": ""}
      data:image/png;base64,AAAA
      https://a.example/good.jpg
      """)
    #expect(page.photos.map(\.id) == ["https://a.example/good.jpg"])
    #expect(page.skipped.map(\.place) == (1...14).map { "line \($0)" })
    let reasons = page.skipped.map(\.reason)
    #expect(reasons[0].contains("“ftp”"))
    #expect(reasons[1].contains("pictures/1.jpg"))
    #expect(reasons[2].contains("local files"))
    #expect(reasons[3] == "headers.Authorization is not a text")
    #expect(reasons[4] == "url is missing")
    #expect(reasons[7] == "it is not valid JSON")
    #expect(reasons[8].contains("one object a line"))
    for message in page.skipped.map(\.message) { #expect(!message.contains("\n") && message.count < 160) }
  }

  @Test func bytesThatAreNoTextAndEndlessLinesAreTold() async throws {
    let folder = try TemporaryFolder()
    let long = String(repeating: "x", count: LineReader.longestLine + 1)
    let text = Array("https://a.example/\(long)\n".utf8) + [0xff, 0xfe, 0x0a] + Array("https://a.example/1.jpg".utf8)
    try folder.add("list", text)
    let page = try await URLListProvider(path: "\(folder.path)/list").search(PhotoQuery(), at: nil)
    #expect(page.skipped.map(\.message) == ["line 1: it is longer than 64 KiB", "line 2: it is not UTF-8 text"])
    #expect(page.photos.map(\.id) == ["https://a.example/1.jpg"])
  }

  @Test func localFilesAreNotRead() async throws {
    let folder = try TemporaryFolder("a b.jpg")
    let text =
      "\(folder.path)/a b.jpg\nfile://\(folder.path)/a%20b.jpg\nfile://elsewhere/a.jpg\n{\"url\": \"x/./y.jpg\"}"
    let refused = try await list(text)
    #expect(refused.photos.isEmpty && refused.skipped.count == 4)
  }

  @Test func lettersThatURLsDoNotKnowAreEncoded() async throws {
    let page = try await list("https://a.example/Zürich am See.jpg?q=ä\nhttps://a.example/Z%C3%BCrich.jpg")
    #expect(
      try page.photos.map { try source($0).url.absoluteString } == [
        "https://a.example/Z%C3%BCrich%20am%20See.jpg?q=%C3%A4", "https://a.example/Z%C3%BCrich.jpg",
      ])
  }

  /// At 500 brackets a line of 64 KiB took half a minute.
  @Test func whatIsNestedTooDeepIsNotLookedAt() async throws {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      for depth in [1, 15, 16, 17, 18, 100, 500] {
        let value = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        let page = try await list(#"{"x": \#(value), "url": "https://a.example/b.jpg", "id": "c"}"#)
        #expect(page.photos.map(\.id) == ["c"] && page.skipped.isEmpty, "\(open) \(depth)")
      }
    }
  }

  @Test func pagesHoldAsManyLinesAsAsked() async throws {
    let folder = try TemporaryFolder()
    try folder.add("list", (1...7).map { $0 == 2 ? "bad\n" : "https://a.example/\($0).jpg\n" }.joined().utf8)
    let provider = URLListProvider(path: "\(folder.path)/list")
    for _ in 1...2 {
      let pages = try await provider.pages(of: PhotoQuery(pageSize: 3))
      #expect(pages.map(\.count) == [2, 3, 1])
    }
    await #expect(throws: ProviderError.self) { try await provider.search(PhotoQuery(), at: PageCursor("7")) }
  }

  @Test func aListWithoutAnEndGivesPagesAndIsNotReadAhead() async throws {
    let pipe = Pipe()
    let stop = CancellationFlag()
    let writer = Thread { pipe.writeEndlessly("https://a.example/x.jpg\n", until: stop) }
    writer.start()
    defer { stop.set() }
    var cursor: PageCursor?
    for _ in 1...20 {
      let page = try await pipe.provider.search(PhotoQuery(pageSize: 100), at: cursor)
      #expect(!page.photos.isEmpty && page.photos.count <= 100)
      cursor = page.next
      #expect(cursor != nil)
    }
  }

  @Test func aSlowListGivesWhatThereIs() async throws {
    let pipe = Pipe()
    pipe.write("https://a.example/1.jpg\nhttps://a.exa")
    let first = try await pipe.provider.search(PhotoQuery(), at: nil)
    #expect(first.photos.map(\.id) == ["https://a.example/1.jpg"])
    pipe.write("mple/2.jpg")
    pipe.finish()
    let second = try await pipe.provider.search(PhotoQuery(), at: first.next)
    #expect(second.photos.map(\.id) == ["https://a.example/2.jpg"])
    #expect(second.next == nil)
  }

  @Test func waitingForALineCanBeCancelledAndNothingIsLost() async throws {
    let pipe = Pipe()
    pipe.write("# nothing yet\nhttps://a.exa")
    let task = Task { try await pipe.provider.search(PhotoQuery(), at: nil) }
    #expect(await eventually { pipe.provider.isReading })
    task.cancel()
    await #expect(throws: ProviderError.cancelled) { try await task.value }
    pipe.write("mple/1.jpg\n")
    pipe.finish()
    let page = try await pipe.provider.search(PhotoQuery(), at: nil)
    #expect(page.photos.map(\.id) == ["https://a.example/1.jpg"])
  }

  @Test func aNamedPipeIsWaitedFor() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/fifo"
    try #require(mkfifo(path, 0o644) == 0)
    async let page = URLListProvider(path: path).search(PhotoQuery(), at: nil)
    let writer = Thread {
      let number = open(path, O_WRONLY | O_CLOEXEC)
      let text = "https://a.example/1.jpg\n"
      _ = write(number, text, text.utf8.count)
      close(number)
    }
    writer.start()
    #expect(try await page.photos.map(\.id) == ["https://a.example/1.jpg"])
  }

  @Test func aListThatCannotBeReadIsTold() async throws {
    let folder = try TemporaryFolder()
    await #expect(
      throws: ProviderError.listUnreadable(path: "\(folder.path)/none", reason: "No such file or directory")
    ) { try await URLListProvider(path: "\(folder.path)/none").search(PhotoQuery(), at: nil) }
    await #expect(throws: ProviderError.listUnreadable(path: folder.path, reason: "Is a directory")) {
      try await URLListProvider(path: folder.path).search(PhotoQuery(), at: nil)
    }
    let closed = URLListProvider(.open(FileDescriptor(owning: -1), name: "-"))
    await #expect(throws: ProviderError.listUnreadable(path: "-", reason: "Bad file descriptor")) {
      try await closed.search(PhotoQuery(), at: nil)
    }
  }

  @Test func aListCannotBeSearchedOrPickedFrom() async throws {
    let provider = URLListProvider(path: "/dev/null")
    await #expect(throws: ProviderError.self) { try await provider.search(PhotoQuery("lake"), at: nil) }
    await #expect(throws: ProviderError.self) { try await provider.random(count: 1) }
    #expect(try await provider.search(PhotoQuery(), at: nil) == PhotoPage(photos: [], next: nil))
  }
}
