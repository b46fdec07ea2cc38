import TestSupport

/// `thumbs cache export`: thumbnails as files, under names that come from anywhere.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct CacheExportTests {
  private struct Exported: Decodable {
    let location, path, status: String
  }

  private let bench: Bench
  private let origin: Origin

  init() throws {
    bench = try Bench()
    origin = try .picture()
  }

  private func fetch(_ paths: [String], _ sizes: String...) async throws {
    let list = Data(paths.map { "\(origin.url("/"))\($0.dropFirst())\n" }.joined().utf8)
    let run = try await bench.start(
      ["prefetch", "--urls", "-", "--quiet", "--fit", "cover"] + sizes.flatMap { ["--size", $0] }, input: .bytes(list)
    ).run()
    #expect(run.status == 0, "\(run.stderr)")
  }

  private func files(_ folder: String) throws -> [String] { try bench.files(folder).keys.sorted() }

  private let host = "127.0.0.1"

  @Test func thumbnailsAreWrittenUnderHostAndFolders() async throws {
    try await fetch(["/a/b.jpg", "/c"], "20x20", "30x30")
    let run = try await bench.run("cache", "export", "out")
    #expect(run.status == 0 && run.stderr.isEmpty)
    #expect(run.lines.first?.hasPrefix("4 thumbnails, ") == true)
    let names = ["a/b-20x20.jpg", "a/b-30x30.jpg", "c-20x20.jpg", "c-30x30.jpg"]
    #expect(try files("out") == names.map { "\(host)/\($0)" })
    let get = try await bench.run(
      "get", "\(origin.url("/a/b.jpg"))", "--size", "20x20", "--fit", "cover", "--output", "-")
    #expect(try Data(contentsOf: bench.url("out/\(host)/a/b-20x20.jpg")) == get.stdout)
    #expect(try await bench.run("cache", "export", "one", "\(origin.url("/c"))").status == 0)
    #expect(try files("one").count == 2)
    #expect(try await bench.run("cache", "export", "words", "A", "b.jpg", "--name", "{name}-{width}.{ext}").status == 0)
    let dated = try await bench.run("cache", "export", "dates", "--name", "{date}-{name}.{ext}")
    #expect(dated.status == 64 && dated.stderr.contains("the cache knows no dates"))
    #expect(try files("words") == ["b-20.jpg", "b-30.jpg"])
  }

  @Test func localFilesLieInTheFolderTheyHadAndInNoneAboveThat() async throws {
    _ = try bench.folder("pictures/2024", pictures: 1)
    let source = ["--query", "", "--provider", "folder:pictures", "--quiet", "--size", "20x15"]
    #expect(try await bench.start(["prefetch"] + source).run().status == 0)
    #expect(try await bench.run("cache", "export", "out").status == 0)
    #expect(try files("out") == ["2024/picture 0-20x15.jpg"])
  }

  @Test func whatIsThereStaysUnlessItMayBeReplaced() async throws {
    try await fetch(["/a.jpg"], "20x20", "30x30")
    let mine = try bench.folder("out").appendingPathComponent("a-20x20.jpg")
    try Data("mine".utf8).write(to: mine)
    let command = ["cache", "export", "out", "--name", "{name}-{size}.{ext}", "--json"]
    let first = try await bench.start(command).run()
    expectComplaint(
      first, 1, "1 file in out has other content and was not replaced; give --overwrite", printing: true)
    #expect(first.lines.last?.contains("\"written\":1,\"unchanged\":0,\"kept\":1,\"failed\":0") == true)
    let exported = try first.lines.dropLast().map { try JSONDecoder().decode(Exported.self, from: Data($0.utf8)) }
    #expect(Set(exported.map { "\($0.path) \($0.status)" }) == ["out/a-20x20.jpg kept", "out/a-30x30.jpg written"])
    #expect(try Data(contentsOf: mine) == Data("mine".utf8))
    let second = try await bench.start(command + ["--overwrite"]).run()
    #expect(second.lines.last?.contains("\"written\":1,\"unchanged\":1") == true)
    #expect(try Data(contentsOf: mine) != Data("mine".utf8))
    #expect(try files("out") == ["a-20x20.jpg", "a-30x30.jpg"])
  }

  @Test func noPictureIsReplaced() async throws {
    let pictures = try bench.folder("pictures", pictures: 1)
    try TestImages.bytes("formats/png-rgba.png").write(to: pictures.appendingPathComponent("picture 0.png"))
    let source = ["prefetch", "--query", "", "--provider", "folder:pictures", "--quiet", "--format", "jpeg"]
    #expect(try await bench.start(source).run().status == 0)
    let before = try bench.files("pictures")
    let run = try await bench.run("cache", "export", ".", "--name", "{path}/{name}.{ext}", "--overwrite")
    #expect(run.status == 1 && run.stderr.contains("was not replaced"), "\(run.stderr)")
    #expect(try before.allSatisfy { try bench.files("pictures")[$0.key] == $0.value })
  }

  @Test func nastyNamesStayInTheFolderAndEachThumbnailHasItsOwn() async throws {
    let long = String(repeating: "n%C3%A9", count: 150)
    try await fetch(
      [
        "/%2e%2e/%2e%2e/etc/passwd.jpg", "/..%2f..%2fup.jpg", "/nul%00byte.jpg", "/bell%07%0a.jpg", "/\(long).jpg",
        "/%E2%80%AEgpj.exe.jpg", "/.hidden.jpg", "/same.jpg?one", "/same.jpg?two", "/%F0%9F%90%8E.jpg", "/%ff.jpg", "/",
        "/.thumbs-export.tmp",
      ], "20x20")
    let run = try await bench.run("cache", "export", "out/deep/er")
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    #expect(run.lines.first?.hasPrefix("13 thumbnails, ") == true)
    let names = try files("out")
    #expect(names.count == 13 && names.allSatisfy { $0.hasPrefix("deep/er/\(host)/") })
    #expect(
      names.allSatisfy { name in
        name.split(separator: "/").allSatisfy { $0.utf8.count <= 255 && !$0.hasPrefix(".") }
          && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" }
      })
    #expect(names.contains { $0.hasSuffix("/🐎-20x20.jpg") })
    #expect(names.filter { $0.contains("/same-20x20") }.count == 2)
    // The same names again, so nothing is written twice.
    let again = try await bench.run("cache", "export", "out/deep/er")
    #expect(again.lines.first?.hasPrefix("0 thumbnails, 0 B, written to out/deep/er; 13 were there, 0 failed") == true)
  }

  @Test func aFileInPlaceOfTheFolderIsNamed() async throws {
    try await fetch(["/a.jpg"], "20x20")
    try Data("here".utf8).write(to: bench.url("file"))
    for folder in ["file", "file/below", "/proc/thumbs"] {
      let run = try await bench.run("cache", "export", folder)
      expectComplaint(run, 73, " cannot be written: ")
      #expect(run.stderr.contains("\(folder) cannot") || run.stderr.contains("file cannot"), "\(run.stderr)")
    }
    #expect(try Data(contentsOf: bench.url("file")) == Data("here".utf8))
  }

  @Test func whereOneCannotGoTheOthersStillDo() async throws {
    try await fetch(["/a.jpg", "/b.jpg"], "20x20")
    _ = try bench.folder("out")
    try Data("in the way".utf8).write(to: bench.url("out/a"))
    let run = try await bench.run("cache", "export", "out", "--name", "{name}/{size}.{ext}")
    expectComplaint(run, 1, "out/a/20x20.jpg cannot be written: Not a directory", printing: true)
    #expect(try files("out") == ["a", "b/20x20.jpg"])
  }

  @Test func aDamagedThumbnailIsNotExported() async throws {
    try await fetch(["/a.jpg", "/b.jpg"], "20x20")
    try CacheFile(bench.cache).execute("UPDATE thumbnail SET checksum = 1 WHERE id = 1")
    let run = try await bench.run("cache", "export", "out")
    expectComplaint(
      run, 1, "is damaged or gone; 'thumbs cache verify' removes damaged thumbnails", printing: true)
    #expect(try files("out").count == 1)
  }

  @Test(.enabled(if: TinyDisk.isAvailable, "mounting needs root"))
  func aFullDiskIsNamedAndNothingIsHalfWritten() async throws {
    try await fetch((0..<60).map { "/\($0).jpg" }, "160x120")
    let disk = try #require(TinyDisk(at: bench.url("disk"), kibibytes: 64))
    let run = try await bench.run("cache", "export", "disk/out", "--json")
    expectComplaint(run, 73, "No space left on device; make room there, or choose another place", printing: true)
    let whole = try await bench.run("cache", "export", "whole")
    #expect(whole.status == 0)
    for name in try files("disk/out") {
      #expect(try Data(contentsOf: bench.url("disk/out/\(name)")) == Data(contentsOf: bench.url("whole/\(name)")))
    }
    #expect(try !files("disk/out").isEmpty)
    withExtendedLifetime(disk) {}
  }
}
