/// Each test starts several processes, which take their time on a busy machine: the limit is there to end a hang.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SearchCommandTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  /// A line of `--json`.
  private struct Line: Decodable {
    struct Credit: Decodable { let text, author, licence, page: String? }
    let id, provider, url: String
    let title: String?
    let width, height: Int?
    let credit: Credit?
  }

  private struct Sum: Decodable {
    let pictures, pages: Int
    let total: Int?
    let provider: String
    let offline: Bool
  }

  private func lines(_ run: Run) throws -> [Line] {
    try run.lines.dropLast().map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
  }

  private func sum(_ run: Run) throws -> Sum? {
    try JSONDecoder().decode([String: Sum].self, from: Data((run.lines.last ?? "").utf8))["summary"]
  }

  private func search(_ unsplash: UnsplashOrigin, _ arguments: String...) async throws -> Run {
    try await bench.run(
      ["search", "--provider", "unsplash:\(unsplash.baseURL)"] + arguments,
      keys: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])
  }

  @Test func listsAFolder() async throws {
    _ = try bench.folder("pictures", pictures: 5)
    let run = try await bench.run("search", "--query", "picture", "--provider", "folder:pictures")
    #expect(run.status == 0 && run.stderr.isEmpty)
    #expect(
      run.lines == [
        "picture: 5 pictures from folder", "", "- picture 0.jpg", "- picture 1.jpg", "- picture 2.jpg",
        "- picture 3.jpg", "- picture 4.jpg", "", "That is all", "Pictures from folder",
      ])
  }

  @Test func pagesAndCountEndTheList() async throws {
    _ = try bench.folder("pictures", pictures: 91)
    let paged = try await bench.run("search", "--query", "", "--provider", "folder:pictures", "--json")
    #expect(try lines(paged).first?.id == "picture 0.jpg")
    let sum = try #require(try sum(paged))
    #expect(sum.pictures == 90 && sum.pages == 3 && sum.total == 91 && sum.provider == "folder" && !sum.offline)
    let counted = try await bench.run(
      "search", "--query", "", "--provider", "folder:pictures", "--count", "31", "--json")
    #expect(try lines(counted).count == 31)
    #expect(
      String(decoding: counted.stdout, as: UTF8.self).contains(
        /"date":"20\d\d-\d\d-\d\dT[\d:]+[+-][\d:]+","dateSource":"file"/))
  }

  @Test func nothingFoundIsSaid() async throws {
    _ = try bench.folder("pictures", pictures: 1)
    let run = try await bench.run("search", "--query", "xyzzy", "--provider", "folder:pictures")
    #expect(run.status == 0 && run.stdout.isEmpty)
    #expect(run.complaints == ["thumbs: folder has no picture for “xyzzy”; try other words"])
  }

  @Test func aSourceThatIsNotThereEndsWith69() async throws {
    let run = try await bench.run("search", "--query", "lake", "--provider", "folder:nowhere")
    expectComplaint(run, 69, "thumbs: there is no folder nowhere; check the path\n")
  }

  @Test func listsAnAPIWithWhomToThank() async throws {
    let unsplash = try UnsplashOrigin(directory: TestImages.gallery)
    let text = try await search(unsplash, "--query", "lake")
    #expect(text.status == 0 && text.stderr.isEmpty)
    #expect(text.lines.first?.hasPrefix("lake: ") == true)
    #expect(text.lines.contains { $0.contains("Photo by Test Er on Unsplash, <https://unsplash.com/photos/tst_") })
    #expect(text.lines.last == "Pictures from unsplash, Unsplash License <https://unsplash.com/license>")

    let json = try await search(unsplash, "--query", "lake", "--json")
    let first = try #require(try lines(json).first)
    #expect(
      first.provider == "unsplash" && first.credit?.author == "Test Er" && first.credit?.licence == "Unsplash License")
    #expect(first.width ?? 0 > 0 && first.credit?.page != nil && first.title != nil)
    #expect(unsplash.imageRequests.isEmpty)
  }

  @Test func withoutWordsAServiceGivesPicturesByChance() async throws {
    let unsplash = try UnsplashOrigin(directory: TestImages.gallery)
    let run = try await search(unsplash, "--query", "", "--count", "3", "--json")
    #expect(run.status == 0 && run.stderr.isEmpty)
    #expect(try Set(lines(run).map(\.id)).count == 3)
    #expect(Set(unsplash.apiRequests.map(\.path)) == ["/photos/random"])
  }

  @Test func theURLIsThatOfASmallForm() async throws {
    let unsplash = try UnsplashOrigin(pictures: [.init(id: "a", description: "lake")])
    let small = try #require(try lines(try await search(unsplash, "--query", "lake", "--json")).first)
    #expect(small.url.contains("&w=600&h=400&"))
  }

  @Test func whatIsNoPictureIsSaid() async throws {
    let origin = try Origin { _ in
      .json(
        #"{"photos":[{"id":1,"width":9,"height":9,"src":{"original":"https://o.example/a.jpg"}},{"id":2},7]}"#)
    }
    let arguments = ["search", "--query", "lake", "--provider", "pexels:\(origin.url(""))"]
    let key = ["PEXELS_API_KEY": "a"]
    let text = try await bench.run(arguments, keys: key)
    #expect(text.status == 0 && text.lines.contains("left out: item 2: width is missing, and 1 more"))
    let json = try await bench.run(arguments + ["--json"], keys: key)
    #expect(json.status == 0 && json.complaints == ["thumbs: pexels, item 2: width is missing, and 1 more"])
    #expect(try lines(json).map(\.id) == ["1"])
  }

  @Test func withoutACacheNothingIsToBeHadOffline() async throws {
    try Data().write(to: bench.url("file"))
    for command in ["search", "prefetch"] {
      let run = try await bench.run(
        command, "--query", "lake", "--provider", "commons", "--offline", "--cache-dir", "file/cache")
      #expect(run.status == 69 && run.stdout.isEmpty)
      #expect(run.complaints.count == 2, "\(run.stderr)")
      #expect(run.complaints.first?.contains("file/cache cannot be used") == true)
      #expect(run.complaints.last?.contains("commons is not asked with --offline, and nothing is stored of it") == true)
    }
  }

  @Test func withoutANetworkWhatIsStoredIsListed() async throws {
    let unsplash = try UnsplashOrigin(directory: TestImages.gallery)
    let online = try await search(unsplash, "--query", "lake", "--json")
    let prefetched = try await bench.run(
      ["prefetch", "--query", "mountain", "--provider", "unsplash:\(unsplash.baseURL)", "--json"],
      keys: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])
    #expect(online.status == 0 && prefetched.status == 0)
    unsplash.origin.stop()

    let known = try await search(unsplash, "--query", "Lake", "--json")
    #expect(known.status == 0 && known.complaints.count == 1)
    #expect(known.stderr.contains("unsplash cannot be reached") && known.stderr.contains("pictures that are stored"))
    #expect(try lines(known).map(\.id) == lines(online).map(\.id))
    #expect(try lines(known).first?.credit?.text == "Photo by Test Er on Unsplash")
    #expect(try sum(known)?.offline == true)

    // A prefetch stores its pages as well, and all its pictures have thumbnails.
    let unknown = try await search(unsplash, "--query", "something else", "--json")
    #expect(unknown.status == 0)
    #expect(try Set(lines(unknown).map(\.id)) == Set(try prefetched.pictures().map(\.id)))

    // With --offline nobody is asked, so that nobody has to be missed either.
    let asked = try await search(unsplash, "--query", "lake", "--json", "--offline")
    #expect(asked.status == 0 && asked.stdout == known.stdout)
    #expect(
      asked.complaints == ["thumbs: unsplash is not asked with --offline; these are the pictures that are stored"])

    let list = try await search(unsplash, "--query", "lake", "--offline")
    #expect(list.status == 0 && list.lines.first?.hasSuffix(" from unsplash, offline") == true)

    // What is shown in the place of a search that is not stored is said to be so.
    let standIn = "thumbs: nothing is stored of this search; all pictures that are stored stand in"
    let other = try await search(unsplash, "--query", "something else", "--json", "--offline")
    #expect(other.status == 0 && other.complaints.first == standIn && other.complaints.count == 2)
    #expect(try Set(lines(other).map(\.id)) == Set(lines(unknown).map(\.id)))
    let instead = try await bench.run(
      "prefetch", "--query", "something else", "--offline", "--provider", "unsplash", "--json")
    #expect(instead.status == 0 && instead.complaints == [standIn], "\(instead.stderr)")

    // With --offline a prefetch asks nobody and finds everything.
    let offline = try await bench.run(
      ["prefetch", "--query", "mountain", "--offline", "--provider", "unsplash:\(unsplash.baseURL)", "--json"],
      keys: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])
    #expect(offline.status == 0 && offline.stderr.isEmpty, "\(offline.stderr)")
    #expect(try Set(offline.pictures().map(\.id)) == Set(try prefetched.pictures().map(\.id)))
    #expect(try offline.pictures().allSatisfy { $0.status == "disk" })

    let cleared = try await bench.run("cache", "clear")
    #expect(cleared.status == 0)
    let nothing = try await search(unsplash, "--query", "lake")
    #expect(nothing.status == 69 && nothing.stdout.isEmpty && nothing.complaints.count == 1)
    let nothingAsked = try await search(unsplash, "--query", "lake", "--offline")
    #expect(nothingAsked.status == 69 && nothingAsked.complaints.count == 1)
    #expect(nothingAsked.stderr.contains("nothing is stored of it"))
  }
}
