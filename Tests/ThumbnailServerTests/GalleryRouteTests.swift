@testable import HTTPServer
@testable import TestOrigin
@testable import ThumbnailCore
@testable import ThumbnailServer
@testable import Thumbnailer

/// The gallery's routes, with a folder and a pipeline.
@Suite(.timeLimit(.minutes(5))) struct GalleryRouteTests {
  @Test func aFolderIsListedAndItsThumbnailsAreServed() async throws {
    let page = try await GalleryPage()
    await poll { await page.items().count == 30 }
    #expect(await page.names().prefix(3) == ["lake 0.jpg", "lake 1.jpg", "lake 2.jpg"])
    let key = try #require(await page.items().first?["key"] as? String)
    let thumbnail = await page.fixture.get("/picture/\(key)/40x40-cover")
    #expect(thumbnail.status == .ok && thumbnail.size == PixelSize(40, 40))
    #expect(thumbnail["cache-control"] == "private, max-age=31536000, immutable")
    #expect(thumbnail["cross-origin-resource-policy"] == "same-origin")
    let original = await page.fixture.get("/picture/\(key)/original")
    #expect(original["content-disposition"]?.hasPrefix("attachment; filename=\"lake 0.jpg\"") == true)
    if case .file(let file, _) = original.body { try file.close() }
    for form in [
      "40x40", "40x40-", "40x40-tall", "0x0-cover", "9999x9999-cover", "x40-cover", "40x40-cover/a", "../secret.jpg",
    ] {
      #expect(await page.fixture.get("/picture/\(key)/\(form)").status == .notFound, "\(form)")
    }
  }

  @Test func aWindowOfTheOriginalHasItsPixels() async throws {
    let page = try await GalleryPage(pictures: 1)
    await poll { await page.items().count == 1 }
    let key = try #require(await page.items().first?["key"] as? String)
    let whole = try #require(await page.fixture.get("/picture/\(key)/4096x4096-contain").size)
    let window = "\(whole.width - 16)x32+16+8"
    for (form, size) in [
      ("\(window)-\(whole.width - 16)x32", PixelSize(whole.width - 16, 32)), ("32x16+0+0-16x8", PixelSize(16, 8)),
      // Never enlarged.
      ("32x16+0+0-64x32", PixelSize(32, 16)),
    ] {
      let response = await page.fixture.get("/picture/\(key)/\(form)")
      #expect(response.status == .ok && response.size == size, "\(form)")
      #expect(response["cache-control"] == "private, max-age=31536000, immutable")
    }
    // Not within the image: nothing can be cut there, which is no error that a browser would report.
    let outside = await page.fixture.get("/picture/\(key)/32x32+\(whole.width - 31)+0-32x32")
    #expect(outside.status == .noContent)
    for form in ["600x600+0+0-513x512", "32x32+0+0-0x1", "32x32+0-32x32", "32x32+-1+0-32x32", "32x32+0+0-cover"] {
      #expect(await page.fixture.get("/picture/\(key)/\(form)").status == .notFound, "\(form)")
    }
  }

  @Test func aFolderThatWasAwayIsShownAgainByItself() async throws {
    let page = try await GalleryPage(pictures: 2)
    await poll { await page.items().count == 2 }
    let aside = page.directory.url.appending(path: "aside")
    try FileManager.default.moveItem(at: page.folder, to: aside)
    await poll { await page.newest()["state"] as? String == "failed" }
    // No path of the server.
    let message = await page.newest()["message"] as? String
    #expect(message?.contains("/") == false && message?.hasPrefix("The pictures cannot be read at the moment.") == true)
    try FileManager.default.moveItem(at: aside, to: page.folder)
    await poll { await page.items().count == 2 }
  }

  @Test func aPhotographIsFoundInEveryOrderAndTellsItsDateAndWhereThatIsFrom() async throws {
    let page = try await GalleryPage(pictures: 3)
    let taken = DateSamples.jpeg(exif: DateSamples.tiff([DateSamples.original: "2024:07:01 12:00:00"]))
    try Data(taken).write(to: page.folder.appending(path: "a+b &c.jpg"))
    #expect(await page.change("order", #"{"order":"date"}"#).status == .noContent)
    // The list of before may be shown for a moment.
    await poll { await page.items().last?["dateSource"] as? String == "camera" }
    let last = try #require(await page.items().last)
    #expect(await page.items().count == 4 && last["date"] as? String == "2024-07-01")
    #expect(await page.items().first?["dateSource"] as? String == "file")
    let version = try #require(await page.newest()["version"] as? Int)
    let found = await page.change("positions", #"{"version":\#(version),"ids":["a+b &c.jpg","none"]}"#)
    #expect(found.object["positions"] as? [Int] == [3, -1])
    #expect(await page.change("positions", #"{"version":\#(version - 1),"ids":["a+b &c.jpg"]}"#).status == .conflict)
    #expect(await page.change("positions", #"{"version":"none","ids":["a"]}"#).status == .badRequest)
  }

  @Test func theDetailsOfAPhotographAreThoseOfItsShot() async throws {
    let page = try await GalleryPage(pictures: 1)
    let file = page.folder.appending(path: "a.jpg")
    let exif = DateSamples.tiff([DateSamples.original: "2024:07:01 12:00:00", 0x0110: "Z 6"])
    try Data(DateSamples.jpeg(exif: exif)).write(to: file)
    await poll { await page.items().count == 2 }
    let keys = await page.items().compactMap { $0["key"] as? String }
    let plain = await page.fixture.get("/picture/\(keys[1])/details").object
    #expect(plain["bytes"] as? Int == (try TestImages.bytes("formats/jpeg-420.jpg").count))
    #expect(plain["camera"] == nil && plain["latitude"] == nil && plain["taken"] == nil)
    let key = keys[0]
    let details = await page.fixture.get("/picture/\(key)/details").object
    #expect(details["camera"] as? String == "Z 6" && details["taken"] as? String == "2024-07-01T12:00:00")
    try FileManager.default.removeItem(at: file)
    #expect(await page.fixture.get("/picture/\(key)/details").status == .notFound)
  }

  @Test func storedPhotosThatBeginAgainAreASectionOfTheirOwn() {
    func items(_ round: Int) -> [GalleryItem] {
      (0..<3).map { number in
        let source = ImageSource.file(at: "/pictures/\(number)")
        return GalleryItem(Photo(id: "\(number)", provider: "test", source: source), round: round)
      }
    }
    #expect(SearchList.sections(of: items(0)).map(\.title) == [nil])
    let sections = SearchList.sections(of: items(0) + items(1) + items(2))
    #expect(sections.map(\.count) == [3, 3, 3])
    #expect(sections.map { $0.title == nil } == [true, false, false])
    #expect(SearchList.sections(of: []).isEmpty)
  }

  @Test func visitorsLearnNoAddressOfAListNorWhatAnEarlierVersionHid() async throws {
    let directory = try TemporaryDirectory()
    let address = "http://ada:PW@127.0.0.1:9/~a%20.jpg?token=SECRET"
    let urls = directory.url.appending(path: "list")
    try Data("\(address)\nhttp://127.0.0.1:9/?token=SECRET\n".utf8).write(to: urls)
    let file = HiddenPhotosFile(in: directory.url, gallery: "list")
    let source = ImageSource(try #require(URL(string: address)))
    let former = GalleryItem(Photo(id: address, provider: "urls", source: source)).id
    file.change(from: []) { $0 = ["\(former)", "folder/~00.jpg"] }
    let hidden = HiddenPhotos(file)
    #expect(hidden.order == [source.key.hex, "folder/~00.jpg"])
    let fixture = try ServiceFixture {
      ($0.gallery, $0.hidden) = (.search(URLListProvider(path: urls.path)), file)
    }
    let token = try #require(await fixture.get("/api/gallery").object["token"] as? String)
    let fields: HTTPHeaders = [RequestGuard.tokenField: token]
    let begun = await fixture.post("/api/sessions", Data("{}".utf8), fields)
    let session = "/api/sessions/\(try #require(begun.object["id"] as? String))"
    func items() async -> [[String: Any]] {
      for version in 0...9 {
        let items = await fixture.get("\(session)/items?version=\(version)&from=0").object["items"]
        if let items = items as? [[String: Any]], !items.isEmpty { return items }
      }
      return []
    }
    await poll { await items().count == 1 }
    #expect(
      await fixture.post("\(session)/undo", Data("{}".utf8), fields).object["ids"] as? [String] == [source.key.hex])
    await poll { await items().count == 2 }
    #expect(await items().first?["id"] as? String == source.key.hex)
    #expect(await items().last?["name"] as? String == "http://127.0.0.1:9/?token=***")
    let shown = "\(await items())"
    #expect(!["SECRET", "PW", "ada"].contains { shown.contains($0) }, "\(shown)")
  }

  @Test func whatIsHiddenStaysOnDisk() async throws {
    let page = try await GalleryPage {
      try TestImages.bytes("formats/jpeg-444.jpg").write(to: $0.appending(path: "lake 0.jpg"))
    }
    await poll { await page.items().count == 30 }
    let id = try #require(await page.items().first?["id"] as? String)
    #expect(await page.change("delete", #"{"ids":["\#(id)"]}"#).status == .noContent)
    await poll { await page.items().count == 29 }
    // Also under another name, until that is shown.
    let moved = page.folder.appending(path: "moved.jpg")
    try FileManager.default.moveItem(at: page.folder.appending(path: id), to: moved)
    #expect(await page.change("search", #"{"query":"moved"}"#).status == .noContent)
    await poll { await (page.newest()["state"] as? String, page.newest()["hidden"] as? Int) == ("empty", 1) }
    #expect(await page.change("undo", "{}").object["ids"] as? [String] == ["moved.jpg"])
    await poll { await page.names() == ["moved.jpg"] }
    try FileManager.default.moveItem(at: moved, to: page.folder.appending(path: id))
    #expect(await page.change("search", #"{"query":""}"#).status == .noContent)
    #expect(await page.change("undo", #"{"ids":["\#(id)"]}"#).status == .ok)
    await poll { await page.items().count == 30 }
    for id in ["../secret.jpg", "/etc/passwd", "", "missing"] {
      #expect(await page.change("delete", #"{"ids":["\#(id)"]}"#).status == .conflict, "nobody relies on it")
    }
    #expect(FileManager.default.fileExists(atPath: page.directory.url.appending(path: "secret.jpg").path))
    #expect(try FileManager.default.contentsOfDirectory(atPath: page.folder.path).count == 30)
  }

  @Test func allThatIsHiddenFromAListIsCountedAndShownAtOnce() async throws {
    let page = try await GalleryPage()
    await poll { await page.items().count == 30 }
    let hidden = await page.items().prefix(12).compactMap { $0["id"] as? String }
    #expect(await page.change("delete", try message(hidden)).status == .noContent)
    await poll { await page.items().count == 18 }
    #expect(await page.newest()["hidden"] as? Int == 12)
    // A search counts and shows only what it lacks itself.
    #expect(await page.change("search", #"{"query":"lake 1"}"#).status == .noContent)
    await poll {
      let newest = await page.newest()
      return newest["query"] as? String == "lake 1" && newest["state"] as? String == "loaded"
    }
    let matching = hidden.filter { $0.hasPrefix("lake 1") }
    #expect(!matching.isEmpty && matching.count < hidden.count)
    #expect(await page.newest()["hidden"] as? Int == matching.count)
    let shown = await page.change("undo", "{}")
    #expect(Set(shown.object["ids"] as? [String] ?? []) == Set(matching))
    await poll { await page.items().count == 12 }
    #expect(await page.newest()["hidden"] as? Int == 0)
  }

  private func message(_ ids: [String]) throws -> String {
    String(decoding: try JSONEncoder().encode(["ids": ids]), as: UTF8.self)
  }

  @Test func aListOfWhatIsHiddenThatIsALinkIsFollowedAndUnreadableWithoutItsDisk() async throws {
    let directory = try TemporaryDirectory()
    let file = HiddenPhotosFile(in: directory.url, gallery: "/pictures")
    try await HiddenPhotos(file).insert(["1.jpg"])
    let folder = directory.url.appending(path: "hidden")
    let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path).first)
    let (list, away) = (folder.appending(path: name), directory.url.appending(path: "synced"))
    try FileManager.default.moveItem(at: list, to: away)
    try FileManager.default.createSymbolicLink(at: list, withDestinationURL: away)
    try await HiddenPhotos(file).insert(["2.jpg"])
    #expect(HiddenPhotos(file).current.ids == ["1.jpg", "2.jpg"])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: list.path) == away.path)
    try FileManager.default.removeItem(at: away)
    #expect(file.unreadablePath != nil)
    await #expect(throws: ServerResponse.Problem.self) { try await HiddenPhotos(file).insert(["3.jpg"]) }
    // So is the folder.
    try FileManager.default.removeItem(at: folder)
    try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: away)
    #expect(file.unreadablePath != nil)
  }

  @Test func aListThatComesWhileAnotherIsWrittenIsKeptToo() async throws {
    let directory = try TemporaryDirectory()
    let (file, other) = (directory.url.appending(path: "hidden/list.json"), directory.url.appending(path: "synced"))
    func change(_ names: String..., meanwhile: (Int) throws -> Void = { _ in }) throws -> Int {
      var visits = 0
      _ = try PrivateFile.change(file) {
        visits += 1
        let there = (try? JSONDecoder().decode([String].self, from: Data(contentsOf: file))) ?? []
        try meanwhile(visits)
        return there + names
      }
      return visits
    }
    #expect(try change("one") == 1)
    let visits = try change("two") { visit in
      if visit > 1 { return }
      try Data(#"["synced"]"#.utf8).write(to: other)
      #expect(rename(other.path, file.path) == 0)
    }
    #expect(try visits == 2 && String(contentsOf: file, encoding: .utf8) == #"["synced","two"]"#)
    // So is one that comes where there was none.
    try FileManager.default.removeItem(at: file)
    #expect(try change("three") { if $0 == 1 { try Data("[]".utf8).write(to: file) } } == 2)
  }

  @Test func whatTwoServersHideAtOnceIsHiddenInBoth() async throws {
    let directory = try TemporaryDirectory()
    let servers = (0..<8).map { _ in HiddenPhotos(HiddenPhotosFile(in: directory.url, gallery: "/pictures")) }
    try await PrivateFile.$patience.withValue(.seconds(86_400)) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, server) in servers.enumerated() {
          group.addTask { for photo in 0..<5 { try await server.insert(["\(number)-\(photo)"]) } }
          // As lists do meanwhile.
          group.addTask { for _ in 0..<50 { _ = server.current } }
        }
        try await group.waitForAll()
      }
    }
    for server in servers { #expect(server.current.ids.count == 40) }
    await servers[3].remove(["0-0"])
    for server in servers { #expect(server.current.ids.count == 39 && !server.current.ids.contains("0-0")) }
  }

  @Test func whatWasHiddenIsHiddenInALaterServerOfTheSameGalleryAlone() async throws {
    let directory = try TemporaryDirectory()
    func hidden(_ gallery: String) -> HiddenPhotosFile { HiddenPhotosFile(in: directory.url, gallery: gallery) }
    let first = HiddenPhotos(hidden("/pictures"))
    for ids in [["lake.jpg", "a/ä\n\"b\".jpg"], ["lake.jpg", "gone.jpg"]] { try await first.insert(ids) }
    await first.remove(["gone.jpg", "never.jpg"])
    #expect(await HiddenPhotos(hidden("/pictures")).ids == ["lake.jpg", "a/ä\n\"b\".jpg"])
    #expect(await HiddenPhotos(hidden("/others")).ids.isEmpty)
    // A second server of the gallery that began earlier adds to it.
    let second = HiddenPhotos(hidden("/pictures"))
    try await first.insert(["one.jpg"])
    try await second.insert(["two.jpg"])
    #expect(await HiddenPhotos(hidden("/pictures")).ids.count == 4)
    hidden("/pictures").forget()
    #expect(await HiddenPhotos(hidden("/pictures")).ids.isEmpty)
    // One that runs has them still, and writes them.
    try await second.insert(["three.jpg"])
    #expect(await HiddenPhotos(hidden("/pictures")).ids.count == 5)
    var shown = hidden("/pictures")
    shown.showsAll = true
    let third = HiddenPhotos(shown)
    try await third.insert(["four.jpg"])
    #expect(third.current.ids == ["four.jpg"])
  }

  @Test func theFileOfWhatIsHiddenIsBoundedAndMayBeDamaged() async throws {
    let directory = try TemporaryDirectory()
    let file = HiddenPhotosFile(in: directory.url, gallery: "/pictures")
    let photos = HiddenPhotos(file)
    // What would not be kept is refused, and nothing is dropped for it.
    let kept = (10..<26).map { "\($0)\(String(repeating: "a", count: HiddenPhotos.mostBytes / 16 - 2))" }
    try await photos.insert(kept)
    #expect(
      await refusal { () throws(ServerResponse.Problem) in try await photos.insert(["b"]) } == .insufficientStorage)
    #expect(try await photos.ids == Set(kept) && file.read() == kept)
    let folder = directory.url.appending(path: "hidden")
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
    try Data("{".utf8).write(to: folder.appending(path: name))
    #expect((try? file.read()) == nil && file.unreadablePath?.hasSuffix(name) == true)
    // Who has the list writes it again.
    await photos.remove([kept[15]])
    try await photos.insert(["lake.jpg"])
    #expect(try file.read().suffix(2) == [kept[14], "lake.jpg"])
    let aside = folder.appending(path: "\(name).damaged")
    #expect(try String(contentsOf: aside, encoding: .utf8) == "{")
    // What cannot be read is not replaced.
    let (other, saved) = (folder.appending(path: name), try Data(contentsOf: folder.appending(path: name)))
    try FileManager.default.removeItem(at: other)
    try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
    let refused = await refusal { () throws(ServerResponse.Problem) in try await photos.insert(["new.jpg"]) }
    #expect(refused == .serviceUnavailable && file.unreadablePath != nil)
    try FileManager.default.removeItem(at: other)
    try saved.write(to: other)
    try Data("{".utf8).write(to: folder.appending(path: name))
    #expect(await HiddenPhotos(file).ids.isEmpty)
    try await HiddenPhotos(file).insert(["lake.jpg"])
    #expect(try file.read() == ["lake.jpg"])
    var shown = file
    shown.showsAll = true
    #expect(try await HiddenPhotos(shown).ids.isEmpty && file.read() == ["lake.jpg"])
    // What cannot be kept is not hidden, so that nobody relies on it.
    try FileManager.default.removeItem(at: folder)
    try Data().write(to: folder)
    let later = HiddenPhotos(HiddenPhotosFile(in: directory.url, gallery: "/others"))
    _ = await refusal { () throws(ServerResponse.Problem) in try await later.insert(["lake.jpg"]) }
    #expect(await later.ids.isEmpty && file.unreadablePath != nil)
  }

  private func refusal(_ hide: () async throws(ServerResponse.Problem) -> Void) async -> HTTPResponseStatus? {
    do throws(ServerResponse.Problem) { try await hide() } catch { return error.status }
    return nil
  }

  @Test func whatIsHiddenStaysSoAsItsFileIsSavedAnewAndRenamed() async throws {
    let directory = try TemporaryDirectory()
    let (folder, fixture) = (directory.url, try ServiceFixture())
    let (index, hidden) = (FolderIndex(path: folder.path), HiddenPhotos(prints: HiddenPhotos()))
    // As by a version that had no prints.
    try await hidden.insert(["0.jpg"])
    try Data("0".utf8).write(to: folder.appending(path: "0.jpg"))
    let list = FolderList(
      index, order: .name, album: "", pipeline: fixture.library, hidden: hidden, link: nil)
    for number in 0..<3 {
      let known = await hidden.prints?.ids.count ?? 0
      _ = await index.currentGeneration()
      await list.search("")
      await poll { await hidden.prints?.ids.count ?? 0 > known }
      #expect(await hidden.ids == Set((0...number).map { "\($0).jpg" }))
      let (old, new) = (folder.appending(path: "\(number).jpg"), folder.appending(path: "\(number + 1).jpg"))
      try Data("\(number) edited".utf8).write(to: old, options: .atomic)
      _ = await index.currentGeneration()
      let former = await hidden.prints?.ids.count ?? 0
      await list.search("")
      await poll { await hidden.prints?.ids.count ?? 0 > former }
      try FileManager.default.moveItem(at: old, to: new)
    }
    await list.stop()
  }

  @Test func nothingIsChangedWithoutTheToken() async throws {
    let page = try await GalleryPage(pictures: 1)
    let target = "/api/sessions/\(page.session)/search"
    let message = Data(#"{"query":"a"}"#.utf8)
    #expect(await page.fixture.post(target, message).status == .forbidden)
    let foreign: HTTPHeaders = [RequestGuard.tokenField: page.token, "origin": "http://localhost:3000"]
    #expect(await page.fixture.post(target, message, foreign).status == .forbidden)
    #expect(await page.fixture.post("/api/sessions", message).status == .forbidden)
    #expect(await page.fixture.get("/api/gallery", ["host": "evil.com"]).status == .misdirectedRequest)
  }

  @Test(arguments: [
    "items", "items?version=0", "items?version=-1&from=0", "items?version=0&from=-1", "items?version=a&from=0",
    "items?version=0&from=9223372036854775807", "aspects?version=0&from=9223372036854775807",
    "items?version=0&from=9223372036854775807&count=9223372036854775807", "items?version=99999&from=0", "nothing",
    "items?version=0&from=99999999999999999999",
  ])
  func positionsThatMakeNoSenseAreRefused(what: String) async throws {
    let page = try await GalleryPage(pictures: 1)
    let response = await page.read(what)
    #expect((400..<500).contains(response.status.code), "\(response.status)")
  }

  @Test func aspectsAreAByteForEachImage() async throws {
    let page = try await GalleryPage(pictures: 5)
    await poll { await page.items().count == 5 }
    var aspects: ServerResponse?
    for version in 0...10 where aspects == nil {
      let response = await page.read("aspects?version=\(version)&from=0&count=9223372036854775807")
      if response.status == .ok { aspects = response }
    }
    #expect(aspects?.data.count == 5)
    #expect(AspectByte.encode(PixelSize(100, 100)) == 128 && AspectByte.encode(PixelSize(200, 100)) == 160)
    #expect(AspectByte.encode(PixelSize(1, 1_000_000)) == 1 && AspectByte.encode(PixelSize(1_000_000, 1)) == 255)
    #expect(AspectByte.encode(nil) == 0)
  }

  /// A viewport, with some of its numbers replaced.
  private static func viewport(_ changes: [String: String] = [:]) -> String {
    var fields = [
      "offset": "0", "height": "800", "columns": "2", "cellWidth": "180", "cellHeight": "180", "spacing": "4",
      "scale": "2",
      "box": "\"40x40\"", "fit": "\"cover\"", "first": "0", "last": "7",
    ]
    fields.merge(changes) { $1 }
    return "{\(fields.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}"
  }

  @Test func whatIsAheadOfTheViewportIsMade() async throws {
    let page = try await GalleryPage()
    await poll { await page.items().count == 30 }
    #expect(await page.change("viewport", Self.viewport()).status == .noContent)
    await poll { page.fixture.library.statistics.rendered > 8 }
    let key = try #require(await page.items().dropFirst(9).first?["key"] as? String)
    let target = "/picture/\(key)/40x40-cover"
    let request = ServerRequest(.GET, target, headers: ["host": "localhost"])
    await poll { page.fixture.server.timedResponse(to: request).atOnce != nil }
  }

  @Test func noViewportBringsTheServerDown() async throws {
    let page = try await GalleryPage()
    await poll { await page.items().count == 30 }
    let numbers = [
      "0", "-1", "1e308", "-1e308", "1e-308", "9223372036854775807", "-9223372036854775808", "1e19", "0.5", "\"a\"",
      "null",
      "[]", "true",
    ]
    let texts = ["\"\"", "\"0x0\"", "\"99999x1\"", "\"x\"", "\"-1x-1\"", "1", "null"]
    for field in ["offset", "height", "columns", "cellWidth", "cellHeight", "spacing", "scale", "first", "last"] {
      for number in numbers {
        let response = await page.change("viewport", Self.viewport([field: number]))
        #expect(response.status == .noContent || response.status == .badRequest, "\(field) \(number): \(response.text)")
      }
    }
    for field in ["box", "fit"] {
      for text in texts {
        #expect(await page.change("viewport", Self.viewport([field: text])).status == .badRequest)
      }
    }
    for message in ["", "{}", "[]", "null", "{", String(repeating: "[", count: 10_000), Self.viewport(["first": "8"])] {
      #expect(await page.change("viewport", message).status == .badRequest)
    }
    #expect(await page.change("viewport", Self.viewport()).status == .noContent)
  }

  @Test func thePageIsToldOfChangesAndTheServersEndEndsThat() async throws {
    let page = try await GalleryPage(pictures: 3)
    let events = await page.read("events")
    #expect(events["content-type"] == "text/event-stream")
    guard case .stream(let parts) = events.body else { throw POSIXError(.EIO) }
    let counts = Recorder<Int>()
    let listening = Task {
      for await part in parts {
        let text = String(buffer: part)
        guard text.hasPrefix("data: ") else { continue }
        let object = try? JSONSerialization.jsonObject(with: Data(text.dropFirst(6).utf8)) as? [String: Any]
        counts.append(object?["count"] as? Int ?? -1)
      }
    }
    await poll { counts.values.last == 3 }
    _ = await page.change("search", #"{"query":"lake 1"}"#)
    await poll { counts.values.last == 1 }
    await page.fixture.server.stop()
    await listening.value
    #expect(await page.read("items?version=0&from=0").status == .serviceUnavailable)
  }

  @Test func theSessionOfATabOutOfSightOutlivesThoseThatLeftLaterAndAClosedTabsEnds() async throws {
    let page = try await GalleryPage(pictures: 1)
    let fields: HTTPHeaders = [RequestGuard.tokenField: page.token]
    func begin() async throws -> String {
      let begun = await page.fixture.post("/api/sessions", Data("{}".utf8), fields)
      return try #require(begun.object["id"] as? String)
    }
    func status(of id: String, _ what: String) async -> HTTPResponseStatus {
      await page.fixture.post("/api/sessions/\(id)/\(what)", Data("{}".utf8), fields).status
    }
    let second = try await begin()
    #expect(await page.change("away", "{}").status == .noContent)
    // As many as there may be: the one that is idle for the longest gives way, which is the second.
    for _ in 0..<255 { _ = try await begin() }
    #expect(await status(of: second, "retry") == .notFound)
    #expect(await page.change("retry", "{}").status == .noContent)
    #expect(await page.change("end", "{}").status == .noContent)
    #expect(await page.change("retry", "{}").status == .notFound)
    await page.fixture.server.stop()
  }
}
