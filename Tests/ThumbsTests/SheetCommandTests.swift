/// `--sheet` of `thumbs prefetch`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SheetCommandTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private func text(_ name: String) throws -> String { try String(contentsOf: bench.url(name), encoding: .utf8) }

  /// A folder of three pictures, one of which is none.
  private func pictures() throws {
    let folder = try bench.folder("pictures", pictures: 2)
    try TestImages.bytes("broken/html-page.jpg").write(to: folder.appendingPathComponent("<b>.jpg"))
  }

  @Test func aPageHoldsTheThumbnailsAndInRedWhatFailed() async throws {
    try pictures()
    try Data("mine".utf8).write(to: bench.url("sheet.html.tmp"))
    let run = try await bench.run(
      "prefetch", "--query", "", "--provider", "folder:pictures", "--sheet", "sheet.html", "--fit", "cover", "--size",
      "40x40", "--size", "20x20")
    #expect(run.status == 1)
    let page = try text("sheet.html")
    #expect(page.contains("src=\"data:image/jpeg;base64,/9j/"))
    #expect(page.components(separatedBy: "<figure").count == 4)
    #expect(page.components(separatedBy: "<figure class=\"failed\"").count == 2)
    #expect(page.contains("&lt;b&gt;.jpg") && !page.contains("<b>"))
    #expect(page.contains("40×40") && page.contains("20×20") && page.contains("of 160×120 JPEG"))
    #expect(page.contains("3 pictures, <span class=\"failed\">1 failed</span>") && page.hasSuffix("</html>\n"))
    // Nothing else is left, and a file that only looks like a temporary one is somebody's.
    #expect(try Data(contentsOf: bench.url("sheet.html.tmp")) == Data("mine".utf8))
    let beside = try FileManager.default.contentsOfDirectory(
      atPath: bench.url("sheet.html").deletingLastPathComponent().path)
    #expect(beside.filter { $0.hasPrefix("sheet.html") }.sorted() == ["sheet.html", "sheet.html.tmp"])
  }

  @Test func aFullDiskEndsTheRunAndNoLimitIsBlamedForIt() async throws {
    _ = try bench.folder("pictures", pictures: 91)
    try FileManager.default.createSymbolicLink(
      at: bench.url("sheet.html"), withDestinationURL: URL(fileURLWithPath: "/dev/full"))
    let run = try await bench.run("prefetch", "--query", "", "--provider", "folder:pictures", "--sheet", "sheet.html")
    #expect(run.status == 73 && run.lines.last?.hasPrefix("downloaded") == true)
    #expect(run.stderr.contains("sheet.html cannot be written: No space left on device; make room there, or choose"))
    #expect(run.stderr.contains("kept in the cache"))
  }

  @Test func addressesStandOnASheetWithoutTheirQueries() async throws {
    let origin = try Origin.picture()
    let signed = ["/a.jpg", "/"].map {
      "\(origin.url($0))?token=hunter2".replacing("http://", with: "http://me:secret@")
    }
    let untitled = "{\"url\": \"\(origin.url("/b.jpg"))?hunter2\", \"title\": \"\"}\n"
    let list = Data((signed.map { "\($0)\n" }.joined() + untitled).utf8)
    let run = try await bench.run("prefetch", "--urls", "-", "--sheet", "sheet.html", input: .bytes(list))
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try text("sheet.html").contains("<bdi>127.0.0.1</bdi>") && text("sheet.html").contains("<bdi>b.jpg</bdi>"))
    let page = try text("sheet.html")
    #expect(page.contains("<a href=\"\(origin.url("/a.jpg"))\"") && page.contains(">a.jpg<"))
    #expect(!page.contains("hunter2") && !page.contains("secret"))
  }

  @Test func whatASheetIsMadeOfIsNeverOverwritten() async throws {
    let list = Data("\(TestImages.url("formats/jpeg-420.jpg").path)\n".utf8)
    try list.write(to: bench.url("list.html"))
    let prefetch = try await bench.run("prefetch", "--urls", "list.html", "--sheet", "./list.html")
    #expect(prefetch.status == 73 && prefetch.stderr.contains("./list.html is the list itself, which would be lost"))
    #expect(try Data(contentsOf: bench.url("list.html")) == list)
    let picture = try bench.folder("pictures", pictures: 1).appendingPathComponent("picture 0.jpg").path
    try FileManager.default.createSymbolicLink(atPath: bench.url("link.html").path, withDestinationPath: picture)
    let folder = ["prefetch", "--query", "", "--provider", "folder:pictures", "--sheet", "link.html"]
    expectComplaint(try await bench.run(folder), 73, "link.html", "it has the name of a picture")
    #expect(FileManager.default.contents(atPath: picture)?.starts(with: [0xFF, 0xD8]) == true)
  }

  @Test func aKillLeavesNoPieceOfASheetAndTheOldOneAsItWas() async throws {
    let gate = Gate()
    let origin = try Origin { $0.path == "/1.jpg" ? .picture : .picture.held(by: gate) }
    let list = Data(["/1.jpg", "/2.jpg"].map { "\(origin.url($0))\n" }.joined().utf8)
    let folder = try bench.folder("sheets")
    try Data("a page of the user's".utf8).write(to: folder.appendingPathComponent("page.html"))
    expectComplaint(
      try await bench.run("prefetch", "--urls", "-", "--sheet", "sheets/page.html", input: .bytes(list)), 73,
      "it is no contact sheet; move it")
    try FileManager.default.removeItem(at: folder.appendingPathComponent("page.html"))
    let one = Data("\(origin.url("/1.jpg"))\n".utf8)
    _ = try await bench.run("prefetch", "--urls", "-", "--sheet", "sheets/sheet.html", input: .bytes(one))
    let old = try text("sheets/sheet.html")
    let process = try bench.start(
      ["prefetch", "--urls", "-", "--json", "--sheet", "sheets/sheet.html"], input: .bytes(list))
    #expect(await process.comes { printed, _ in printed.contains("\n") })
    process.send(SIGKILL)
    #expect(await process.run().status == 128 + SIGKILL)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["sheet.html"])
    #expect(try text("sheets/sheet.html") == old)
    gate.open()
    let again = try await bench.run("prefetch", "--urls", "-", "--sheet", "sheets/sheet.html", input: .bytes(list))
    #expect(again.status == 0, "\(again.stderr)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["sheet.html"])
    let whole = try text("sheets/sheet.html")
    #expect(whole.hasSuffix("</html>\n"))
    // Nor where no picture can be had.
    let none = try await bench.run("prefetch", "--urls", "-", "--sheet", "sheets/sheet.html", input: .bytes(Data()))
    #expect(none.status == 1 && none.stderr.contains("sheet.html stays as it was"), "\(none.stderr)")
    #expect(try text("sheets/sheet.html") == whole)
  }

  @Test func whereNoSheetCanBeNothingIsFetched() async throws {
    let origin = try Origin { _ in .status(404) }
    let list = Data("\(origin.url("/a.jpg"))\n".utf8)
    let run = try await bench.run("prefetch", "--urls", "-", "--sheet", "missing/sheet.html", input: .bytes(list))
    expectComplaint(run, 73, "missing", "No such file or directory")
    #expect(origin.requests.isEmpty)
  }

  @Test func afterASignalTheSheetHoldsWhatIsDone() async throws {
    let gate = Gate()
    let origin = try Origin { request in
      request.path == "/held.jpg" ? .picture.held(by: gate) : .picture
    }
    let list = Data(["/1.jpg", "/2.jpg", "/held.jpg"].map { "\(origin.url($0))\n" }.joined().utf8)
    let process = try bench.start(
      ["prefetch", "--urls", "-", "--json", "--sheet", "sheet.html", "--export", "out"], input: .bytes(list))
    #expect(await process.comes { printed, _ in printed.split(separator: "\n").count == 2 })
    // Real time: a server has no event for its test.
    #expect(await eventually { !origin.requests(for: "/held.jpg").isEmpty })
    process.send(SIGINT)
    let run = await process.run()
    #expect(run.status == 130)
    let page = try text("sheet.html")
    #expect(page.components(separatedBy: "<figure").count == 3 && page.hasSuffix("</html>\n"))
    let host = try #require(origin.url("/").host)
    let exported = try FileManager.default.contentsOfDirectory(atPath: bench.url("out/\(host)").path)
    #expect(exported.sorted() == ["1.jpg", "2.jpg"])
    gate.open()
  }
}
