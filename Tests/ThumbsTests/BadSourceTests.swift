import Foundation
import TestOrigin
import Testing

/// Folders, lists and services that are not there, empty, or not what they should be.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BadSourceTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  @Test func aMissingFolderEndsWith69() async throws {
    let run = try await bench.run("prefetch", "--query", "lake", "--provider", "folder:nowhere")
    #expect(run.status == 69)
    #expect(run.complaints == ["thumbs: there is no folder nowhere; check the path"])
    #expect(run.stdout.isEmpty)
  }

  @Test func aMissingFolderLeavesTheSummaryOfJSON() async throws {
    let run = try await bench.run("prefetch", "--query", "lake", "--provider", "folder:nowhere", "--json")
    #expect(run.status == 69 && run.complaints.count == 1 && run.lines.count == 1)
    #expect(try run.summary().pictures == 0)
  }

  @Test func aFileIsNoFolder() async throws {
    try Data().write(to: bench.url("file"))
    let run = try await bench.run("prefetch", "--query", "lake", "--provider", "folder:file")
    #expect(run.status == 69)
    #expect(run.complaints == ["thumbs: file is not a folder; name the folder that the pictures are in"])
  }

  @Test func anEmptyFolderIsNamed() async throws {
    _ = try bench.folder("empty")
    let run = try await bench.run("prefetch", "--query", "lake", "--provider", "folder:empty")
    #expect(run.status == 0 && run.stdout.isEmpty)
    #expect(run.complaints.count == 1)
    #expect(run.stderr.contains("the folder empty holds no picture; name one with JPEG"))
  }

  @Test func aQueryWithoutResultIsNamed() async throws {
    _ = try bench.folder("pictures", pictures: 1)
    let run = try await bench.run("prefetch", "--query", "lake", "--provider", "folder:pictures", "--json")
    #expect(run.status == 0)
    #expect(
      run.complaints == [
        "thumbs: the folder pictures has no picture for “lake”; try other words, or --query \"\" for all"
      ])
    #expect(try run.summary().pictures == 0)
  }

  @Test func aMissingListEndsWith69() async throws {
    for name in ["nowhere.txt", "home"] {
      let run = try await bench.run("prefetch", "--urls", name)
      #expect(run.status == 69 && run.stdout.isEmpty)
      #expect(run.complaints.count == 1)
      #expect(run.stderr.contains("the list \(name) cannot be read") && run.stderr.contains("check the path"))
    }
  }

  @Test func anEmptyListIsNamed() async throws {
    let run = try await bench.run("prefetch", "--urls", "-", input: .bytes(Data("# nothing\n\n".utf8)))
    #expect(run.status == 0)
    #expect(run.complaints == ["thumbs: stdin holds no URL; write one a line"])
  }

  @Test func badLinesOfAListAreNamedAndTheRestGoesOn() async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let origin = try Origin { _ in .ok(picture, type: "image/jpeg") }
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
    #expect(run.lines.first?.hasPrefix("7 pictures from urls, 1 thumbnail: 1 made, 0 from the cache, 6 failed") == true)

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
      "prefetch", "--query", "lake", "--provider", "unsplash", "--provider-url", base,
      environment: ["UNSPLASH_ACCESS_KEY": "key-of-a-test"])
    #expect(run.status == 69 && run.stdout.isEmpty)
    #expect(run.complaints.count == 1)
    #expect(run.stderr.contains("unsplash cannot be reached") && run.stderr.contains("check the network"))
  }

  @Test func aKeyThatIsNotAcceptedIsNotShown() async throws {
    let unsplash = try UnsplashOrigin(pictures: [])
    let run = try await bench.run(
      "prefetch", "--query", "lake", "--provider", "unsplash", "--provider-url", "\(unsplash.baseURL)", "--verbose",
      environment: ["UNSPLASH_ACCESS_KEY": "wrong-key"])
    #expect(run.status == 69)
    #expect(run.stderr.contains("does not accept the access key in UNSPLASH_ACCESS_KEY; check it"))
    #expect(!run.stderr.contains("wrong-key"))
  }

  @Test func aServiceThatFailsHalfWayKeepsWhatWasFetched() async throws {
    let body = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
    let pictures = (0..<4).map { UnsplashOrigin.Picture(id: "p\($0)", description: "a lake", body: body) }
    let unsplash = try UnsplashOrigin(pictures: pictures, hourlyLimit: 1)
    let run = try await bench.run(
      "prefetch", "--query", "lake", "--provider", "unsplash", "--provider-url", "\(unsplash.baseURL)", "--per-page",
      // In the last minute of an hour it would wait for the next one.
      "2", "--max-wait", "0", "--json", environment: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])
    #expect(run.status == 1)
    #expect(run.complaints.count == 1)
    #expect(run.stderr.contains("takes no more requests") && run.stderr.contains("try again"))
    #expect(try run.summary().stored == 2)
  }
}
