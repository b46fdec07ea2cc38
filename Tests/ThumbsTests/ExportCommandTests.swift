/// `thumbs prefetch --export`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ExportCommandTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private func files(_ folder: String) throws -> Set<String> { Set(try bench.files(folder).keys) }

  private func prefetch(_ arguments: String...) async throws -> Run {
    try await bench.run(["prefetch", "--query", "", "--provider", "folder:pictures"] + arguments)
  }

  @Test func theTreeOfAFolderIsKept() async throws {
    let folder = try bench.folder("pictures/2024", pictures: 1)
    try TestImages.bytes("formats/png-rgba.png").write(to: folder.appendingPathComponent("logo.png"))
    let run = try await prefetch("--export", "out/small")
    #expect(run.status == 0, "\(run.stderr)")
    #expect(run.lines.contains("exported 2 files to out/small"))
    #expect(try files("out/small") == ["2024/picture 0.jpg", "2024/logo.webp"])
    let again = try await prefetch("--export", "out/small", "--json")
    #expect(again.status == 0 && again.lines.last?.contains("\"exportedFiles\":0") == true)
  }

  @Test func eachWrittenPathIsTold() async throws {
    _ = try bench.folder("pictures/a", pictures: 1)
    let run = try await prefetch("--export", "out", "--size", "40x30", "--size", "20x15", "--json")
    let paths = ["out/a/picture 0-40x30.jpg", "out/a/picture 0-20x15.jpg"]
    #expect(try run.pictures().map { $0.thumbnails.map(\.path) } == [paths])
    #expect(paths.allSatisfy { bench.isFile($0) })
    // One that is there is told again; one that is somebody else's is not.
    try Data("mine".utf8).write(to: bench.url(paths[1]))
    let again = try await prefetch("--export", "out", "--size", "40x30", "--size", "20x15", "--json")
    #expect(try again.pictures().map { $0.thumbnails.map(\.path) } == [[paths[0], nil]])
    expectComplaint(again, 1, "move or remove it, or give another --export", printing: true)
    #expect(try Data(contentsOf: bench.url(paths[1])) == Data("mine".utf8))
    #expect(try await prefetch("--json").pictures().allSatisfy { $0.thumbnails.allSatisfy { $0.path == nil } })
  }

  @Test func unsplashIsToldWhichPhotosAreExported() async throws {
    let unsplash = try UnsplashOrigin(directory: TestImages.gallery)
    func prefetch(_ arguments: String...) async throws -> Run {
      let search = ["prefetch", "--query", "lake", "--provider", "unsplash:\(unsplash.baseURL)", "--count", "3"]
      return try await bench.run(search + arguments, keys: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])
    }
    func reports() -> Set<String> {
      Set(unsplash.apiRequests.map(\.path).filter { $0.hasSuffix("/download") })
    }
    #expect(try await prefetch().status == 0)
    #expect(reports().isEmpty)
    #expect(try await prefetch("--export", "out").status == 0)
    #expect(reports().count == 3)
    let told = unsplash.apiRequests.count { $0.path.hasSuffix("/download") }
    // What is there already is not exported again.
    #expect(try await prefetch("--export", "out").status == 0)
    #expect(unsplash.apiRequests.count { $0.path.hasSuffix("/download") } == told)
  }

  @Test func whereOneCannotGoTheOthersStillDo() async throws {
    let origin = try Origin.picture()
    // One address has a folder where the user has a file.
    let host = try bench.folder("out/127.0.0.1")
    try Data("mine".utf8).write(to: host.appendingPathComponent("a.jpg"))
    let list = Data(["/a.jpg/b.jpg", "/c.jpg", "/d.jpg"].map { "\(origin.url($0))\n" }.joined().utf8)
    let run = try await bench.run("prefetch", "--urls", "-", "--export", "out", "--json", input: .bytes(list))
    #expect(run.status == 1 && run.complaints.count == 1, "\(run.stderr)")
    #expect(run.stderr.contains("out/127.0.0.1/a.jpg/b.jpg cannot be written: Not a directory"))
    #expect(try run.summary().stored == 3 && run.lines.last?.contains("\"exportedFiles\":2") == true)
    #expect(try files("out") == ["127.0.0.1/a.jpg", "127.0.0.1/c.jpg", "127.0.0.1/d.jpg"])
  }

  @Test func theFolderOfThePicturesIsNoPlaceForTheirThumbnails() async throws {
    let folder = try bench.folder("pictures", pictures: 1)
    try FileManager.default.createSymbolicLink(at: bench.url("link"), withDestinationURL: folder)
    let original = try Data(contentsOf: bench.url("pictures/picture 0.jpg"))
    for export in ["pictures", "./pictures/", "link"] {
      expectComplaint(try await prefetch("--export", export), 73, "\(export) is the folder of the pictures themselves")
    }
    #expect(try Data(contentsOf: bench.url("pictures/picture 0.jpg")) == original)
  }

  @Test func exportingIntoAFileIsAnErrorBeforeAnythingIsFetched() async throws {
    try Data("mine".utf8).write(to: bench.url("out"))
    let origin = try Origin { _ in .status(404) }
    let list = Data("\(origin.url("/a.jpg"))\n".utf8)
    let run = try await bench.run("prefetch", "--urls", "-", "--export", "out", input: .bytes(list))
    expectComplaint(run, 73, "thumbs: out cannot be written: Not a directory; choose another --export")
    #expect(origin.requests.isEmpty)
    #expect(try Data(contentsOf: bench.url("out")) == Data("mine".utf8))
  }

  @Test(.enabled(if: TinyDisk.isAvailable, "mounting takes root"))
  func aFullDiskEndsTheRunWithNothingHalfWritten() async throws {
    _ = try bench.folder("pictures", pictures: 40)
    let disk = try #require(TinyDisk(at: bench.url("disk"), kibibytes: 100))
    let run = try await prefetch("--export", "disk", "--size", "200x200", "--format", "png")
    #expect(run.status == 73)
    #expect(run.stderr.contains("No space left on device"))
    #expect(!run.stderr.contains("more match") && !run.lines.contains { $0.contains("more match") })
    let found = try files("disk")
    let lengths = try Set(found.map { try Data(contentsOf: bench.url("disk/\($0)")).count })
    #expect(!found.isEmpty && lengths.count == 1 && lengths.first ?? 0 > 1000)
    #expect(found.allSatisfy { $0.hasPrefix("picture ") })
    withExtendedLifetime(disk) {}
  }
}
