@testable import HTTPServer
@testable import PhotoSources
@testable import ThumbnailCore
@testable import ThumbnailServer

/// The albums of a gallery, its originals, and the ranges in which they are sent.
@Suite(.timeLimit(.minutes(5))) struct AlbumRouteTests {
  private func sent(_ response: ServerResponse) throws -> Range<Int> {
    guard case .file(let file, let range) = response.body else { throw POSIXError(.EIO) }
    try file.close()
    return range
  }

  @Test func filmsAreCountedAndNotShown() async throws {
    let page = try await GalleryPage(pictures: 2) { folder in
      for name in ["lake 0.MOV", "film.mp4"] { try Data("film".utf8).write(to: folder.appending(path: name)) }
    }
    await poll { await page.items().count == 2 }
    #expect(await page.newest()["films"] as? Int == 2)
    // What 0.10.0 had there.
    let key = try #require(await page.items()[0]["key"] as? String)
    for target in ["/picture/\(key)/film", "/api/hidden"] { #expect(await page.fixture.get(target).status == .gone) }
    #expect(await page.fixture.get("/api/hidden").text.contains("in the cache's folder hidden"))
  }

  @Test func aPartOfAnOriginalIsSentWhereTheFileIsStillTheSame() async throws {
    let page = try await GalleryPage(pictures: 1)
    await poll { await page.items().count == 1 }
    let target = try #require(await page.items()[0]["download"] as? String)
    let count = try TestImages.bytes("formats/jpeg-420.jpg").count
    let whole = await page.fixture.get(target)
    #expect(whole["content-type"] == "application/octet-stream" && whole["accept-ranges"] == "bytes")
    #expect(whole["content-security-policy"] == "default-src 'none'; sandbox")
    #expect(try sent(whole) == 0..<count)
    let tag = try #require(whole["etag"])
    let part = await page.fixture.get(target, ["range": "bytes=10-19", "if-range": tag])
    #expect(part.status == .partialContent && part["content-range"] == "bytes 10-19/\(count)")
    #expect(try sent(part) == 10..<20)
    let other = await page.fixture.get(target, ["range": "bytes=10-19", "if-range": "\"other\""])
    #expect(try other.status == .ok && sent(other) == 0..<count)
    let head = await page.fixture.get(target, ["range": "bytes=10-19"], method: .HEAD)
    #expect(try head.status == .ok && sent(head) == 0..<count)
    let outside = await page.fixture.get(target, ["range": "bytes=\(count)-"])
    #expect(outside.status == .rangeNotSatisfiable && outside["content-range"] == "bytes */\(count)")
    try FileManager.default.removeItem(at: page.folder.appending(path: "lake 0.jpg"))
    #expect(await page.fixture.get(target).status == .notFound)
  }

  @Test(arguments: [
    ("bytes=0-", ByteRange.part(0..<100)), ("bytes=99-", .part(99..<100)), ("bytes=5-5", .part(5..<6)),
    ("bytes=50-1000", .part(50..<100)), ("bytes=-10", .part(90..<100)), ("bytes=-1000", .part(0..<100)),
    ("BYTES=1-2", .part(1..<3)), ("bytes=0-99999999999999999999999", .part(0..<100)), ("bytes=100-", .outside),
    ("bytes=99999999999999999999999-", .outside), ("bytes=-0", .outside), ("bytes=5-4", .whole), ("bytes=-", .whole),
    ("bytes=0-1,5-6", .whole), ("bytes=a-b", .whole), ("bytes=+1-2", .whole), ("bytes=1-2-3", .whole),
    ("bytes=", .whole), ("lines=0-1", .whole), ("", .whole), ("bytes=\u{660}-", .whole),
  ])
  func aRangeIsPartOfTheFileOrNone(field: String, range: ByteRange) {
    let request = ServerRequest(.GET, "/", headers: ["range": field])
    #expect(ByteRange(of: request, tag: "\"a\"", length: 100) == range)
    // An empty file has no parts.
    #expect(ByteRange(of: request, tag: "\"a\"", length: 0) == (range == .whole ? .whole : .outside))
  }

  @Test func anAlbumHasItsFoldersWithTheirPicturesAndIsSearchedAlone() async throws {
    let page = try await GalleryPage(pictures: 2, album: "2021") { folder in
      for path in ["2021/alps/a.jpg", "2021/alps/deep/b.jpg", "2021/sea/a.jpg", "2021/top.jpg", "2021-old/a.jpg"] {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: TestImages.url("formats/jpeg-420.jpg"), to: file)
      }
    }
    await poll { await page.items().count == 4 }
    #expect(await page.albums() == ["2021/alps": 2, "2021/sea": 1])
    #expect(await page.change("search", #"{"query":"a.jpg"}"#).status == .noContent)
    await poll { await page.albums() == ["2021/alps": 1, "2021/sea": 1] }
    for (album, count) in [("", 3), ("2021/alps/deep", 0), ("..", 0), ("2021/", 0), ("/", 0), ("2021-old", 1)] {
      #expect(await page.change("album", #"{"album":"\#(album)"}"#).status == .noContent)
      await poll {
        let newest = await page.newest()
        return newest["album"] as? String == album && newest["state"] as? String != "loading"
      }
      #expect(await page.items().count == count, "\(album)")
    }
    #expect(await page.change("search", #"{"query":""}"#).status == .noContent)
    #expect(await page.change("album", #"{"album":""}"#).status == .noContent)
    await poll { await page.albums() == ["2021": 4, "2021-old": 1] }
    // A hidden picture is no cover, and counts nowhere.
    #expect(await page.change("delete", #"{"ids":["2021-old/a.jpg"]}"#).status == .noContent)
    await poll { await page.albums() == ["2021": 4] }
    #expect(await page.read("albums?version=99999").status == .conflict)
    #expect(await page.read("albums").status == .conflict)
  }
}

extension GalleryPage {
  /// The albums of the newest version, with their counts; each has the thumbnail of a cover.
  func albums() async -> [String: Int] {
    let version = await newest()["version"] as? Int ?? -1
    let albums = await read("albums?version=\(version)").object["albums"] as? [[String: Any]] ?? []
    return Dictionary(
      albums.compactMap { album in
        (album["path"] as? String).flatMap { path in (album["count"] as? Int).map { (path, $0) } }
      }, uniquingKeysWith: +)
  }
}
