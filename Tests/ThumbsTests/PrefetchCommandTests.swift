/// `thumbs prefetch`: what it makes, what it finds again, and what it prints.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PrefetchCommandTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  @Test(.beforeARelease) func theSizeOfAFolderDoesNotShowInThePeakOfMemory() async throws {
    func peak(ofFolder name: String, pictures: Int) async throws -> Int {
      let folder = try bench.folder(name, pictures: 1)
      let picture = folder.appendingPathComponent("picture 0.jpg").path
      let rest = String(repeating: "n", count: 240)
      for number in 1..<pictures { #expect(link(picture, "\(folder.path)/\(number)-\(rest).jpg") == 0) }
      let run = try await bench.start([
        "prefetch", "--query", "", "--provider", "folder:\(name)", "--count", "1", "--size", "40x40", "--json",
      ]).run()
      #expect(run.status == 0, "\(run.stderr)")
      return try run.summary().peakMemoryBytes
    }
    let small = try await peak(ofFolder: "small", pictures: 10)
    let count = 40_000
    let large = try await peak(ofFolder: "large", pictures: count)
    // The names alone are 5 or 10 MB. Sixteen bytes a picture, and what two runs differ by in any case.
    #expect(large - small < count * 16 + (3 << 20))
  }

  @Test func theFirstRunStoresAllLakesAndTheSecondOnlyFindsThem() async throws {
    // Two photographs, and small pictures under other names: photographs take long in a build for debugging.
    let gallery = try bench.folder("gallery", pictures: 2)
    let lakes: Set = [
      "moonlit-lake.jpg", "lake-at-dawn.jpg", "Lake Storm Front.jpg", "alps/lake panorama.jpg",
      "lakes/island church in the morning.jpg", "lakes/kayak.jpg",
    ]
    for name in lakes.union(["alps/meadow.jpg"]) {
      let file = gallery.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let isPhotograph = name == "moonlit-lake.jpg" || name == "lake-at-dawn.jpg"
      try FileManager.default.copyItem(
        at: isPhotograph ? TestImages.gallery.appendingPathComponent(name) : TestImages.url("formats/jpeg-420.jpg"),
        to: file)
    }
    let command = [
      "prefetch", "--query", "lake", "--provider", "folder:gallery", "--size", "100x80", "--fit", "cover", "--json",
    ]

    let first = try await bench.run(command)
    let made = try first.pictures()
    #expect(first.status == 0, "\(first.stderr)")
    #expect(Set(made.map(\.id)) == lakes)
    #expect(made.allSatisfy { $0.status == "stored" && $0.error == nil && $0.ms > 0 })
    #expect(made.allSatisfy { $0.thumbnails.map { [$0.width, $0.height] } == [[100, 80]] })
    #expect(made.allSatisfy { $0.source?.bytes ?? 0 > 0 && $0.source?.downloaded ?? 0 > 0 })
    let summary = try first.summary()
    #expect(summary.pictures == lakes.count && summary.stored == lakes.count && summary.failed == 0)
    #expect(summary.downloadedBytes > 0 && summary.provider == "folder" && summary.peakMemoryBytes > 1 << 20)
    let storedBytes = made.flatMap(\.thumbnails).map(\.bytes).reduce(0, +)
    #expect(summary.storedBytes == storedBytes)

    let second = try await bench.start(command + ["--verbose"]).run()
    let found = try second.pictures()
    #expect(second.status == 0, "\(second.stderr)")
    #expect(found.allSatisfy { $0.status == "disk" && $0.source?.downloaded == 0 })
    #expect(
      Dictionary(grouping: found, by: \.id).mapValues { $0.map(\.thumbnails) }
        == Dictionary(grouping: made, by: \.id).mapValues { $0.map(\.thumbnails) })
    let again = try second.summary()
    #expect(again.hits == lakes.count && again.stored == 0 && again.downloadedBytes == 0 && again.storedBytes == 0)
    // No picture is opened, let alone decoded.
    #expect(second.complaints.count == lakes.count && second.complaints.allSatisfy { $0.contains(" from disk in ") })
  }

  @Test func printsOneObjectForEachPictureAndThenTheSummary() async throws {
    let folder = try bench.folder("pictures", pictures: 2)
    try TestImages.bytes("broken/html-page.jpg").write(to: folder.appendingPathComponent("broken.jpg"))
    let run = try await bench.run("prefetch", "--query", "", "--provider", "folder:pictures", "--json")
    #expect(run.status == 1)
    #expect(run.stderr.isEmpty)
    #expect(run.lines.count == 4)

    for line in run.lines.dropLast() {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let isBroken = object["id"] as? String == "broken.jpg"
      let keys: Set<String> = ["id", "url", "status", "thumbnails", "ms"]
      #expect(Set(object.keys) == keys.union(isBroken ? ["error"] : ["source", "plan"]))
      #expect(line.hasPrefix("{\"id\":\"") && line.contains("\",\"url\":\"file:///"))
      #expect(object["ms"] is NSNumber)
      if isBroken {
        let error = try #require(object["error"] as? [String: String])
        #expect(Set(error.keys) == ["code", "message"])
        #expect(error["code"] == "not-a-picture" && object["status"] as? String == "failed")
      } else {
        let source = try #require(object["source"] as? [String: Int])
        #expect(Set(source.keys) == ["width", "height", "bytes", "downloaded", "left"])
        let thumbnail = try #require((object["thumbnails"] as? [[String: Any]])?.first)
        #expect(Set(thumbnail.keys) == ["width", "height", "format", "bytes", "thumbHash", "colour"])
        #expect(thumbnail["format"] as? String == "jpeg")
      }
    }
    let last = try JSONSerialization.jsonObject(with: Data((run.lines.last ?? "").utf8)) as? [String: [String: Any]]
    #expect(last?.count == 1)
    #expect(
      Set(last?["summary"]?.keys ?? [:].keys) == [
        "pictures", "stored", "made", "hits", "revalidated", "stale", "failed", "downloadedBytes", "bytesLeft",
        "storedBytes", "seconds", "picturesPerSecond", "peakMemoryBytes", "provider",
      ])
  }

  @Test func makesEverySizeFromOneDownload() async throws {
    let origin = try Origin.picture()
    let run = try await bench.run(
      "prefetch", "--urls", "-", "--json", "--fit", "cover", "--size", "20x20", "--size", "40x30", "--size", "20",
      input: .bytes(Data("\(origin.url("/a.jpg"))\n".utf8)))
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try run.pictures().first?.thumbnails.map { [$0.width, $0.height] } == [[20, 20], [40, 30]])
    #expect(origin.requests.count == 1)

    let other = try await bench.run(
      "prefetch", "--urls", "-", "--json", "--size", "40x30", "--fit", "contain", "--format", "png",
      input: .bytes(Data("\(origin.url("/a.jpg"))\n".utf8)))
    #expect(try other.pictures().first?.thumbnails.map(\.format) == ["png"])
    #expect(try other.pictures().first?.status == "stored")
  }

  @Test func aFolderAListAndAnApiGiveTheSameThumbnails() async throws {
    let names = ["lake-shore-pebbles.jpg", "moonlit-lake.jpg", "mountain lake with pines.jpg"]
    let folder = try bench.folder("gallery")
    for name in names + ["paper-mountains.png"] {
      let file = TestImages.gallery.appendingPathComponent(name)
      try FileManager.default.createSymbolicLink(at: folder.appendingPathComponent(name), withDestinationURL: file)
    }
    let origin = try Origin.serving(directory: folder)
    let unsplash = try UnsplashOrigin(directory: folder)
    let urls = names.map { origin.url("/" + $0.replacing(" ", with: "%20")).absoluteString }
    let sizes = ["--size", "300x200", "--size", "80x80", "--fit", "cover", "--json"]

    let byFolder = try await bench.run(
      ["prefetch", "--query", "lake", "--provider", "folder:gallery", "--cache-dir", "a"] + sizes)
    let byList = try await bench.run(
      ["prefetch", "--urls", "-", "--cache-dir", "b"] + sizes,
      input: .bytes(Data(urls.joined(separator: "\n").utf8)))
    let byAPI = try await bench.run(
      ["prefetch", "--query", "lake", "--provider", "unsplash:\(unsplash.baseURL)", "--cache-dir", "c"] + sizes,
      keys: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])

    var thumbnails: [[String: [Picture.Made]]] = []
    for run in [byFolder, byList, byAPI] {
      #expect(run.status == 0, "\(run.stderr)")
      let pictures = try run.pictures()
      #expect(pictures.allSatisfy { $0.status == "stored" })
      thumbnails.append(Dictionary(uniqueKeysWithValues: pictures.map { (name(of: $0), $0.thumbnails) }))
    }
    #expect(thumbnails[0].count == names.count)
    #expect(thumbnails[0].values.allSatisfy { $0.map { [$0.width, $0.height] } == [[300, 200], [80, 80]] })
    #expect(thumbnails[0] == thumbnails[1])
    // The API has names of its own.
    #expect(Set(thumbnails[0].values) == Set(thumbnails[2].values))

    // What is stored comes out byte for byte, without another download.
    let downloads = origin.requests.count
    for (name, url) in zip(names, urls) {
      let file = try await bench.run(
        "get", "gallery/\(name)", "--size", "300x200", "--fit", "cover", "--output", "-", "--cache-dir", "a")
      let page = try await bench.run(
        "get", url, "--size", "300x200", "--fit", "cover", "--output", "-", "--cache-dir", "b")
      #expect(file.status == 0 && page.status == 0)
      #expect(!file.stdout.isEmpty && file.stdout == page.stdout)
    }
    #expect(origin.requests.count == downloads)
  }

  @Test func countAndPagesEndTheRun() async throws {
    _ = try bench.folder("pictures", pictures: 92)
    let counted = try await bench.run(
      "prefetch", "--query", "picture", "--provider", "folder:pictures", "--count", "31", "--json")
    #expect(try counted.pictures().count == 31)
    let byDefault = try await bench.run(
      "prefetch", "--query", "picture", "--provider", "folder:pictures", "--json")
    #expect(try byDefault.pictures().count == 90)
    #expect(try byDefault.summary().hits == 31)
    let spoken = try await bench.run("prefetch", "--query", "picture", "--provider", "folder:pictures")
    #expect(spoken.lines.last == "2 more match: three pages end a run; give --count N for more")
  }

  @Test func printsASummaryInWords() async throws {
    _ = try bench.folder("pictures", pictures: 2)
    let run = try await bench.run("prefetch", "--query", "", "--provider", "folder:pictures")
    #expect(run.status == 0 && run.stderr.isEmpty)
    #expect(run.lines.first == "2 pictures from folder: 2 made, 0 from the cache, 0 failed")
    #expect(run.lines.count == 2 && run.lines[1].contains("pictures/s") && run.lines[1].contains("peak memory"))
    let sizes = try await bench.run(
      "prefetch", "--query", "", "--provider", "folder:pictures", "--size", "20", "--size", "10")
    #expect(sizes.lines.first == "2 pictures from folder: 2 made, 0 from the cache, 0 failed; 4 thumbnails")
  }

  @Test func theCacheIsInTheUsersCacheFolderByDefault() async throws {
    _ = try bench.folder("pictures", pictures: 1)
    let environment = ["PATH": "/usr/bin", "HOME": bench.url("home").path]
    for (extra, place) in [([:], "home/.cache/thumbs"), (["XDG_CACHE_HOME": bench.url("xdg").path], "xdg/thumbs")] {
      let process = try ThumbsProcess(
        ["prefetch", "--query", "", "--provider", "folder:pictures"],
        environment: environment.merging(extra) { $1 }, directory: bench.directory)
      #expect(await process.run().status == 0)
      let files = try FileManager.default.contentsOfDirectory(atPath: bench.url(place).path)
      #expect(files.contains { $0.hasSuffix(".sqlite") })
    }
  }

  private func name(of picture: Picture) -> String {
    let last = picture.url.split(separator: "?")[0].split(separator: "/").last.map(String.init) ?? ""
    let name = last.removingPercentEncoding ?? last
    return name.replacing("photo-", with: "").replacing(".jpg", with: "")
  }

  @Test(arguments: [5, 20_000]) func everyLineOfAListHasItsRowAndTheWorkIsDoneOnce(lines: Int) async throws {
    let origin = try Origin.picture()
    let list = Data(String(repeating: "\(origin.url("/a.jpg"))\n", count: lines).utf8)
    let run = try await bench.run("prefetch", "--urls", "-", "--json", input: .bytes(list))
    #expect(run.status == 0 && run.lines.count == lines + 1, "\(run.lines.count) lines, \(run.stderr)")
    #expect(try run.summary().pictures == lines)
    #expect(origin.requests.count == 1)
    let text = try await bench.run("prefetch", "--urls", "-", input: .bytes(list))
    #expect(text.lines.first?.contains("\(lines) pictures") == true, "\(text.lines)")
    #expect(origin.requests.count == 1)
  }
}
