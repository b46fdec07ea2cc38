/// Folders, lists and services that are not there, empty, or not what they should be.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BadSourceTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  @Test(
    arguments: [
      ("folder:nowhere", 69, "there is no folder nowhere; check the path"),
      ("folder:file", 69, "file is not a folder; name the folder that the pictures are in"),
      ("folder:empty", 0, "the folder empty holds no picture; name one with JPEG"),
      ("folder:pictures", 0, "the folder pictures has no picture for “lake”; try other words, or --query \"\" for all"),
    ] as [(String, Int32, String)])
  func aFolderWithoutSuchPicturesIsNamed(provider: String, status: Int32, complaint: String) async throws {
    try Data().write(to: bench.url("file"))
    _ = (try bench.folder("empty"), try bench.folder("pictures", pictures: 1))
    let command = ["prefetch", "--query", "lake", "--provider", provider]
    expectComplaint(try await bench.run(command), status, "thumbs: \(complaint)")
    let json = try await bench.run(command + ["--json"])
    expectComplaint(json, status, complaint, printing: true)
    #expect(try json.lines.count == 1 && json.summary().pictures == 0)
  }

  @Test(arguments: ["nowhere.txt", "home"]) func aMissingListEndsWith69(name: String) async throws {
    let run = try await bench.run("prefetch", "--urls", name)
    expectComplaint(run, 69, "the list \(name) cannot be read", "check the path")
  }

  @Test func anEmptyListIsNamed() async throws {
    let run = try await bench.run("prefetch", "--urls", "-", input: .bytes(Data("# nothing\n\n".utf8)))
    expectComplaint(run, 0, "thumbs: stdin holds no URL; write one a line\n")
  }

  @Test func badLinesOfAListAreNamedAndTheRestGoesOn() async throws {
    let origin = try Origin.picture()
    let lines = [
      "gopher://example.org/a.jpg", "file:///etc/hostname", "/etc/hostname", "{\"name\": 1}", "http://", "[1]",
      "\(origin.url("/good.jpg"))",
    ]
    try Data(lines.joined(separator: "\n").utf8).write(to: bench.url("list.txt"))
    let run = try await bench.run("prefetch", "--urls", "list.txt")
    #expect(run.status == 1)
    #expect(run.complaints.count == lines.count - 1)
    for (number, complaint) in run.complaints.enumerated() {
      #expect(complaint.hasPrefix("thumbs: list.txt, line \(number + 1): "))
    }
    expectPlain(run)
    #expect(run.complaints[0].contains("gopher") && run.complaints[0].contains("use http or https"))
    #expect(run.complaints[1].contains("folder:PATH"))
    #expect(run.lines.first?.hasPrefix("7 pictures from urls: 1 made, 0 from the cache, 6 failed") == true)

    let json = try await bench.run("prefetch", "--urls", "list.txt", "--json")
    let pictures = try json.pictures()
    #expect(json.stderr.isEmpty && json.status == 1)
    #expect(pictures.filter { $0.error?.code == "invalid-item" }.map(\.id) == (1...6).map { "line \($0)" })
    #expect(pictures.filter { $0.status == "disk" }.count == 1)
  }

  @Test func aServiceThatCannotBeReachedEndsWith69() async throws {
    let origin = try Origin { _ in .status(500) }
    let base = "\(origin.url(""))"
    origin.stop()
    let run = try await bench.run(
      "prefetch", "--query", "lake", "--provider", "unsplash:\(base)",
      keys: ["UNSPLASH_ACCESS_KEY": "key-of-a-test"])
    expectComplaint(run, 69, "unsplash cannot be reached", "check the network")
  }

  @Test func aKeyThatIsNotAcceptedIsNotShown() async throws {
    let unsplash = try UnsplashOrigin(pictures: [])
    let run = try await bench.process(
      "prefetch", "--query", "lake", "--provider", "unsplash:\(unsplash.baseURL)", "--verbose",
      environment: ["UNSPLASH_ACCESS_KEY": "wrong-key"])
    #expect(run.status == 69)
    #expect(run.stderr.contains("does not accept the access key in UNSPLASH_ACCESS_KEY; check it"))
    #expect(!run.stderr.contains("wrong-key"))
  }

  @Test func aServiceThatFailsHalfWayKeepsWhatWasFetched() async throws {
    let body = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
    let pictures = (0..<4).map { UnsplashOrigin.Picture(id: "p\($0)", description: "a lake", body: body) }
    let unsplash = try UnsplashOrigin(pictures: pictures, hourlyLimit: 1, perPage: 2)
    let run = try await bench.run(
      "prefetch", "--query", "lake", "--provider", "unsplash:\(unsplash.baseURL)",
      // In the last minute of an hour it would wait for the next one.
      "--max-wait", "0", "--json", keys: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])
    expectComplaint(run, 1, "takes no more requests", "try again", printing: true)
    #expect(try run.summary().stored == 2)
  }
}
