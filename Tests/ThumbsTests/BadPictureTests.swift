/// Pictures that are not to be had: each costs one line, and nothing else.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BadPictureTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  /// An origin with a good picture under `/good.jpg` and a bad one of every kind.
  ///
  /// The large one never comes to its end: who waits for that is late.
  private func origin() throws -> Origin {
    let bomb = try TestImages.bytes("broken/claims-60000x60000.jpg")
    let truncated = try TestImages.bytes("broken/truncated-in-the-middle.jpg")
    let large = try TestImages.bytes("gallery/moonlit-lake.jpg")
    return try Origin { request in
      switch request.path {
      case "/good.jpg": .picture
      case "/page.jpg": .ok("<!DOCTYPE html><title>no</title>".utf8, type: "text/html")
      case "/bomb.jpg": .ok(bomb, type: "image/jpeg")
      case "/truncated.jpg": .ok(truncated, type: "image/jpeg")
      case "/large.jpg": .ok(large, type: "image/jpeg").stalling(after: 100_000)
      case "/drawing.svg": .ok("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8, type: "image/svg+xml")
      case "/forbidden.jpg": .status(403)
      default: .status(404)
      }
    }
  }

  @Test func eachIsNamedWithWhatToDoAndTheRestGoesOn() async throws {
    let origin = try origin()
    let expected = [
      "/missing.jpg": ("not-found", "status 404"),
      "/forbidden.jpg": ("refused", "status 403"),
      "/page.jpg": ("not-a-picture", "HTML"),
      "/bomb.jpg": ("too-large", "60000x60000"),
      "/truncated.jpg": ("damaged", "truncated"),
      "/drawing.svg": ("unsupported-format", "convert"),
    ]
    let paths = expected.keys.sorted() + ["/good.jpg"]
    let list = Data(paths.map { "\(origin.url($0))\n" }.joined().utf8)

    let run = try await bench.run("prefetch", "--urls", "-", input: .bytes(list))
    #expect(run.status == 1)
    #expect(run.complaints.count == expected.count)
    expectPlain(run)
    for (path, (_, hint)) in expected {
      let lines = run.complaints.filter { $0.hasPrefix("thumbs: \(origin.url(path)): ") }
      #expect(lines.count == 1, "\(path): \(run.stderr)")
      #expect(lines.first?.contains(hint) == true, "\(lines)")
    }
    #expect(run.lines.first == "7 pictures from urls: 1 made, 0 from the cache, 6 failed")
    #expect(run.lines.last?.hasPrefix("failed: ") == true)

    let json = try await bench.run("prefetch", "--urls", "-", "--json", input: .bytes(list))
    #expect(json.status == 1 && json.stderr.isEmpty)
    for picture in try json.pictures() {
      let path = try #require(URL(string: picture.url)?.path)
      #expect(picture.error?.code == expected[path]?.0, "\(picture)")
      #expect(picture.status == (path == "/good.jpg" ? "disk" : "failed"))
    }
  }

  @Test(arguments: [("--max-pixels", "10000"), ("--max-bytes", "1000")])
  func aPictureBeyondALimitIsNamedWithTheLimit(option: String, value: String) async throws {
    let origin = try origin()
    let folder = try bench.folder("pictures")
    try FileManager.default.createSymbolicLink(
      at: folder.appendingPathComponent("large.jpg"), withDestinationURL: TestImages.url("gallery/moonlit-lake.jpg"))
    try TestImages.bytes("formats/size-17x13.jpg").write(to: folder.appendingPathComponent("small.jpg"))

    let ofFolder = try await bench.run("prefetch", "--query", "", "--provider", "folder:pictures", option, value)
    expectComplaint(ofFolder, 1, "thumbs: pictures/large.jpg: ", "raise the limit (", option, printing: true)
    #expect(ofFolder.lines.first?.contains("1 made") == true)
    let ofURL = try await bench.run("get", "\(origin.url("/large.jpg"))", "--output", "a.jpg", option, value)
    expectComplaint(ofURL, 1, "raise the limit (", option)
  }

  @Test func aFailedPicturesRecordHasTheThumbnailsThatSucceeded() async throws {
    // Given a picture with one thumbnail in the cache, which the origin does not have any more
    let isGone = Gate()
    let origin = try Origin { _ in isGone.isOpen ? .status(404) : .picture }
    let list = Data("\(origin.url("/a.jpg"))\n".utf8)
    #expect(try await bench.run("prefetch", "--urls", "-", "--size", "20x15", input: .bytes(list)).status == 0)
    isGone.open()

    // When that one and a larger one are asked for
    let run = try await bench.run(
      "prefetch", "--urls", "-", "--json", "--size", "20x15", "--size", "40x40", input: .bytes(list))

    // Then the record has the one and why the other is missing
    let record = try #require(try run.pictures().first)
    #expect(run.status == 1)
    #expect(record.status == "failed" && record.error?.code == "not-found")
    #expect(record.thumbnails.map { [$0.width, $0.height] } == [[20, 15]])
    #expect(record.source != nil)
  }
}
