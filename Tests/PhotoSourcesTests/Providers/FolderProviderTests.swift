@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct FolderProviderTests {
  @Test func findsPicturesByAllWordsOfTheirPath() async throws {
    let folder = try TemporaryFolder("lakes/Dawn over the lake.JPG", "lakes/storm.png", "sea/dawn.webp", "notes.txt")
    let provider = FolderProvider(path: folder.path)
    #expect(try await provider.ids(of: "LAKE dawn") == ["lakes/Dawn over the lake.JPG"])
    #expect(try await provider.ids(of: "lake") == ["lakes/Dawn over the lake.JPG", "lakes/storm.png"])
    #expect(try await provider.ids(of: "lakes/st") == ["lakes/storm.png"])
    #expect(try await provider.ids(of: "lake desert") == [])
  }

  @Test func accentsMakeNoDifferenceHoweverTheNameIsEncoded() async throws {
    let folder = try TemporaryFolder("lac-l\u{e9}man-\u{e9}t\u{e9}.jpg", "d/lac-le\u{301}man-hiver.jpg", "lac-noir.jpg")
    let provider = FolderProvider(path: folder.path)
    for query in ["lac leman", "LAC LÉMAN", "le\u{301}man"] {
      #expect(try await provider.ids(of: query).count == 2, "\(query)")
    }
    // The path is the one on disk, byte for byte.
    let page = try await provider.search(PhotoQuery("hiver"), at: nil)
    let source = try #require(page.photos.first).source(for: PixelSize(100, 100), fit: .cover)
    #expect(source.isUserFile)
    #expect(FileManager.default.fileExists(atPath: source.url.path))
    #expect(!source.identity.hasSuffix("#?"))
  }

  @Test func namesThatURLsWouldEncodeLeadToTheirFiles() async throws {
    let folder = try TemporaryFolder("100% #1?.jpg", "a+b&c;%20.jpg", "new\nline.jpg", "back\\slash :.jpg")
    let page = try await FolderProvider(path: folder.path).search(PhotoQuery(), at: nil)
    #expect(page.photos.count == 4)
    for photo in page.photos {
      let source = photo.source(for: PixelSize(100, 100), fit: .cover)
      #expect(source.url.path == "\(folder.path)/\(photo.id)")
      #expect(!source.identity.hasSuffix("#?"))
    }
  }

  @Test func anEmptyQueryFindsAllInAStableNaturalOrder() async throws {
    let folder = try TemporaryFolder("b.jpg", "a10.jpg", "a9.jpg", "z/1.jpg", "B/1.jpg", "B/sub/0.jpg", "B/2.jpg")
    let expected = ["a9.jpg", "a10.jpg", "b.jpg", "B/1.jpg", "B/2.jpg", "B/sub/0.jpg", "z/1.jpg"]
    for _ in 1...2 { #expect(try await FolderProvider(path: folder.path).ids() == expected) }
    #expect(try await FolderProvider(path: folder.path).ids(of: "  \t") == expected)
  }

  @Test func onlyVisibleFilesWithAPicturesExtensionCount() async throws {
    let folder = try TemporaryFolder(
      ".hidden.jpg", ".git/a.jpg", "a.jpg.txt", "jpg", "c.jpeg", "d.HEIC", "e.avif", "f.tiff", "g.pdf", "h.", "i.jp")
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "folder.jpg"), withIntermediateDirectories: false)
    #expect(mkfifo("\(folder.path)/pipe.jpg", 0o644) == 0)
    #expect(try await FolderProvider(path: folder.path).ids() == ["c.jpeg", "d.HEIC", "e.avif", "f.tiff"])
    #expect(try await FolderProvider(path: folder.path, extensions: ["PDF"]).ids() == ["g.pdf"])
  }

  @Test func whatIsMarkedAsHiddenIsNotListedAndMarksAreNoticed() async throws {
    let folder = try TemporaryFolder(
      "a.jpg", "b.jpg", "Private/c.jpg", "Private/.nomedia", "$Recycle.Bin/d.jpg", ".hidden")
    let index = FolderIndex(path: folder.path, readsDates: false)
    func count() async throws -> Int {
      for name in ["", "/.hidden", "/Private"] {
        let past = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1e9)]
        try FileManager.default.setAttributes(past, ofItemAtPath: folder.path + name)
      }
      return try await index.arrangement(of: "", order: .name, hidden: []).count
    }
    #expect(try await count() == 2)
    var generation = await index.currentGeneration()
    let list = try #require(FileHandle(forWritingAtPath: "\(folder.path)/.hidden"))
    try list.write(contentsOf: Data("b.jpg\n".utf8))
    #expect(await index.currentGeneration() > generation)
    #expect(try await count() == 1)
    generation = await index.currentGeneration()
    try FileManager.default.removeItem(atPath: "\(folder.path)/Private/.nomedia")
    #expect(await index.currentGeneration() > generation)
    #expect(try await count() == 2)
  }

  @Test func linksAreFollowedAndCirclesEnd() async throws {
    let folder = try TemporaryFolder("a/one.jpg", "a/deep/two.jpg")
    let outside = try TemporaryFolder("three.jpg")
    try folder.link("a/deep/up", to: "../..")
    try folder.link("self", to: ".")
    try folder.link("0-again", to: "a")
    try folder.link("outside", to: outside.path)
    try folder.link("outside2", to: outside.path)
    try folder.link("four.jpg", to: "a/one.jpg")
    try folder.link("lost.jpg", to: "nowhere")
    try folder.link("circle.jpg", to: "circle.jpg")
    let provider = FolderProvider(path: folder.path)
    let page = try await provider.search(PhotoQuery(), at: nil)
    #expect(page.photos.map(\.id) == ["four.jpg", "a/one.jpg", "a/deep/two.jpg", "outside/three.jpg"])
    #expect(page.skipped.map(\.place) == ["circle.jpg", "lost.jpg"])
  }

  @Test func anEmptyFolderAndAQueryWithoutMatchGiveAnEmptyPage() async throws {
    let folder = try TemporaryFolder()
    let page = try await FolderProvider(path: folder.path).search(PhotoQuery("lake"), at: nil)
    #expect(page == PhotoPage(photos: [], next: nil, total: 0))
    #expect(try await FolderProvider(path: folder.path).random(count: 3).isEmpty)
  }

  @Test func whatIsNoFolderIsTold() async throws {
    let folder = try TemporaryFolder("file.jpg")
    await #expect(throws: ProviderError.folderMissing(path: "\(folder.path)/none")) {
      try await FolderProvider(path: "\(folder.path)/none").search(PhotoQuery(), at: nil)
    }
    await #expect(throws: ProviderError.notAFolder(path: "\(folder.path)/file.jpg")) {
      try await FolderProvider(path: "\(folder.path)/file.jpg").random(count: 1)
    }
    let long = folder.path + "/" + String(repeating: "x", count: 300)
    await #expect(throws: ProviderError.folderUnreadable(path: long, reason: "File name too long")) {
      try await FolderProvider(path: long).search(PhotoQuery(), at: nil)
    }
  }

  @Test(.enabled(if: getuid() != 0, "root may read everything"))
  func aSubfolderThatCannotBeReadIsToldAndTheRestIsFound() async throws {
    let folder = try TemporaryFolder("closed/a.jpg", "open/b.jpg")
    chmod("\(folder.path)/closed", 0)
    defer { chmod("\(folder.path)/closed", 0o755) }
    let page = try await FolderProvider(path: folder.path).search(PhotoQuery(), at: nil)
    #expect(page.photos.map(\.id) == ["open/b.jpg"])
    #expect(page.skipped.map(\.place) == ["closed/"])
    await #expect(throws: ProviderError.folderUnreadable(path: "\(folder.path)/closed", reason: "Permission denied")) {
      try await FolderProvider(path: "\(folder.path)/closed").search(PhotoQuery(), at: nil)
    }
  }

  /// Ids are text: such a path is percent-encoded behind two slashes, which tell it from one that is named like that.
  @Test func whatIsNotNamedInUTF8IsFoundByItsBytes() async throws {
    let folder = try TemporaryFolder("%e9.jpg", "lake.jpg")
    let root = RawPath(folder.path)
    let below = root.appending([0xE9])
    #expect(below.withCString { mkdir($0, 0o755) } == 0)
    let names: [[UInt8]] = [[0xE9] + ".jpg".utf8, [0xE8] + ".jpg".utf8, [0xE9] + "/lake.jpg".utf8]
    for name in names {
      let number = root.appending(name).withCString { open($0, O_CREAT | O_CLOEXEC, 0o644) }
      try #require(number >= 0)
      close(number)
    }
    let page = try await FolderProvider(path: folder.path).search(PhotoQuery(), at: nil)
    #expect(page.photos.map(\.id) == ["%e9.jpg", "lake.jpg", "//%e8.jpg", "//%e9.jpg", "//%e9/lake.jpg"])
    #expect(page.skipped.isEmpty)
    let paths = page.photos.suffix(3).map { RawPath(fileURL: $0.source(for: PixelSize(1, 1), fit: .cover).url) }
    #expect(paths == [names[1], names[0], names[2]].map { root.appending($0) })
    let found = try await FolderProvider(path: folder.path).search(PhotoQuery("lake"), at: nil)
    #expect(found.photos.map(\.id) == ["lake.jpg", "//%e9/lake.jpg"])

    // What has just been changed counts as changed again.
    let long = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
    for path in [root, below] { #expect(path.withCString { utimensat(AT_FDCWD, $0, long, 0) } == 0) }
    let index = FolderIndex(path: folder.path)
    #expect(page.photos.suffix(3).map { index.file(of: $0.id) } == paths)
    #expect(index.file(of: "%e9.jpg") == RawPath("\(folder.path)/%e9.jpg"))
    let all = try await index.arrangement(of: "", order: .name, hidden: ["//%e9.jpg"])
    #expect(all.count == 4 && all.hidden == ["//%e9.jpg"])
    let areDated = try all.photos(in: 0..<4).allSatisfy { $0.date.clock > 0 }
    #expect(areDated)
    let generation = await index.currentGeneration()
    try #require(below.appending("b.jpg".utf8).withCString { open($0, O_CREAT | O_CLOEXEC, 0o644) } >= 0)
    #expect(await index.currentGeneration() > generation)
  }

  @Test func anyPageIsToBeHadAndACursorHoldsInALaterRun() async throws {
    let folder = try TemporaryFolder()
    for number in 0..<200 { try folder.add("x/img\(number).jpg") }
    let all = try await FolderProvider(path: folder.path).ids()
    #expect(all == (0..<200).map { "x/img\($0).jpg" })
    let later = FolderProvider(path: folder.path)
    for start in [150, 7, 64, 63, 199, 0] {
      let page = try await later.search(PhotoQuery(pageSize: 9), at: PageCursor("\(start)"))
      #expect(page.photos.map(\.id) == Array(all[start...].prefix(9)) && page.total == 200)
    }
    #expect(Set(try await later.random(count: 20).map(\.id)).count == 20)
    #expect(Set(try await later.random(count: 500).map(\.id)).count == 200)
  }

  @Test func aFolderIsListedOnceForAllSearches() async throws {
    let folder = try TemporaryFolder("1.jpg")
    let provider = FolderProvider(path: folder.path)
    async let first = provider.ids()
    async let second = provider.ids(of: "1")
    _ = try await (first, second)
    try folder.add("2.jpg")
    #expect(try await provider.ids() == ["1.jpg"])
  }

  @Test func aCancelledSearchSaysSo() async throws {
    let folder = try TemporaryFolder("1.jpg")
    let provider = FolderProvider(path: folder.path)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await provider.search(PhotoQuery(), at: nil)
    }
    await #expect(throws: ProviderError.cancelled) { try await task.value }
    #expect(try await provider.ids() == ["1.jpg"])
  }

  @Test func aHundredThousandNamesAreSearched() throws {
    let names = (0..<100_000).map { $0 % 50 == 0 ? "été-\($0).jpg" : "IMG_\($0)-holiday.jpg" }
    var sorter = PathSorter()
    // In order, as sorting takes long in a build for debugging.
    for name in names.filter({ $0.first == "I" }) + names.filter({ $0.first != "I" }) {
      try sorter.add(name.utf8, in: "".utf8)
    }
    let listing = try sorter.finish(skipped: [])
    let words = SearchText.words(of: "ete 99")
    let found = try FoldedPaths(listing).indices(matching: words, cancelled: CancellationFlag())
    #expect(found.count == names.count { $0.hasPrefix("été") && $0.contains("99") })
  }
}
