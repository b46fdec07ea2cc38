@testable import CaptureDates
@testable import HTTPServer
@testable import ThumbnailCore
@testable import ThumbnailServer

/// Downloads of several pictures as one zip. Tests/Browser/test_zip.py has others unpack them.
@Suite(.timeLimit(.minutes(5))) struct ZipTests {
  /// The body of a response that is written, as it arrives at a client.
  private func sent(_ response: ServerResponse) async throws -> Data {
    guard case .written(let length, let writer) = response.body else { throw POSIXError(.EIO) }
    let parts = Recorder<Data>()
    try await writer { parts.append(Data($0.readableBytesView)) }
    let bytes = parts.values.reduce(Data(), +)
    #expect(bytes.count == length)
    #expect(parts.values.allSatisfy { $0.count <= 256 << 10 })
    return bytes
  }

  private func page() async throws -> GalleryPage {
    let page = try await GalleryPage(pictures: 3) { folder in
      try Data(repeating: 7, count: 300_000).write(to: folder.appending(path: "long.jpg"))
      try Data().write(to: folder.appending(path: "none.jpg"))
    }
    await poll { await page.items().count == 5 }
    return page
  }

  private func begun(_ page: GalleryPage, _ message: String = "{}") async throws -> String {
    let response = await page.change("zip", message)
    return try #require(response.object["path"] as? String, "\(response.text)")
  }

  @Test func namesCanBeUnpackedEverywhere() {
    let given = [
      "a/b.jpg", "a/B.jpg", "A/b.JPG", "../../etc/passwd", "/a/b.jpg", "a//./b.jpg", "a:b?.jpg", "a\u{1b}[0m\n.jpg",
      "con.jpg", "lake .jpg. ", "e\u{301}.jpg", "\u{e9}.jpg", "lake", "lake/1.jpg", "x\u{202e}gpj.exe", "b.jpg",
      "b.jpg", "b (2).jpg", "com\u{b9}", "Con .jpg", "CONIN$", "/\u{301}a.jpg", "stra\u{df}e.jpg", "STRASSE.jpg", ".",
      "a\\..\\b.jpg",
    ]
    let names = ZipNames.names(of: given.map { RawPath($0) })
    let expected = [
      "a/b.jpg", "a/B (2).jpg", "A/b (3).JPG", "_/_/etc/passwd", "a/b (4).jpg", "a/_/b.jpg", "a_b_.jpg",
      "a_[0m_.jpg", "_con.jpg", "lake .jpg", "e\u{301}.jpg", "\u{e9} (2).jpg", "lake (2)", "lake/1.jpg",
      "x_gpj.exe", "b.jpg", "b (2).jpg", "b (2) (2).jpg", "_com\u{b9}", "_Con .jpg", "_CONIN$", "\u{301}a.jpg",
      "stra\u{df}e.jpg", "STRASSE (2).jpg", "_ (2)",
      "a_.._b.jpg",
    ]
    #expect(names.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    #expect(ZipNames.names(of: [RawPath(bytes: [0x61, 0xff, 0x2f, 0x62])]) == ["a\u{fffd}/b"])
    let same = ZipNames.names(of: Array(repeating: RawPath("a.jpg"), count: 20_000))
    #expect(Set(same).count == 20_000 && same.last == "a (20000).jpg")
  }

  @Test func whatIsBeyond32BitsIsInTheFieldsOf64() {
    func entry(_ length: Int, _ offset: Int) -> ZipEntry {
      var entry = ZipEntry(name: Array("a".utf8), modified: 0, length: length)
      (entry.offset, entry.checksum) = (offset, 1)
      return entry
    }
    let most = Int(UInt32.max)
    let short = entry(most - 1, most - 1)
    let (long, far) = (entry(most, 0), entry(1, most))
    #expect([short, long, far].map(\.header.readableBytes) == [40, 60, 40])
    #expect([short, long, far].map(\.descriptor.readableBytes) == [16, 24, 16])
    #expect([short, long, far].map(\.record.readableBytes) == [56, 76, 68])
    #expect(long.record.getInteger(at: 6, endianness: .little, as: UInt16.self) == 45)
    #expect(short.record.getInteger(at: 6, endianness: .little, as: UInt16.self) == 20)
    #expect(ZipEntry.end(count: 65_534, directory: 0..<10).readableBytes == 22)
    for (count, directory) in [(65_535, 0..<10), (1, 10..<most), (1, most..<most + 10)] {
      #expect(ZipEntry.end(count: count, directory: directory).readableBytes == 98)
    }
  }

  @Test func aDownloadIsTheSameInWhateverRangesItIsSent() async throws {
    let page = try await page()
    let path = try await begun(page)
    let whole = await page.fixture.get(path)
    #expect(whole.status == .ok && whole["content-type"] == "application/zip" && whole["accept-ranges"] == "bytes")
    #expect(whole["content-disposition"]?.contains("pictures.zip") == true && whole["cache-control"] == "no-store")
    let bytes = try await sent(whole)
    #expect(bytes.suffix(22).dropFirst(10).first == 5)
    let tag = try #require(whole["etag"])
    var generator = SplitMix(state: 1)
    // Another download has read nothing yet.
    let other = try await begun(page)
    #expect(other != path)
    for address in [path, other] {
      for _ in 0..<20 {
        let first = generator.below(bytes.count)
        let last = min(first + generator.below(200_000), bytes.count - 1)
        let part = await page.fixture.get(address, ["range": "bytes=\(first)-\(last)", "if-range": tag])
        #expect(part.status == .partialContent && part["content-range"] == "bytes \(first)-\(last)/\(bytes.count)")
        #expect(try await sent(part) == bytes[first...last])
      }
    }
    #expect(await page.fixture.get(path, ["range": "bytes=\(bytes.count)-"]).status == .rangeNotSatisfiable)
    let changed = await page.fixture.get(path, ["range": "bytes=1-2", "if-range": "\"other\""])
    #expect(changed.status == .ok)
    #expect(try await sent(changed) == bytes)
  }

  @Test func theDirectoryAloneHasTheChecksumsOfFilesThatAreReadForIt() async throws {
    let page = try await page()
    let (one, other) = (try await begun(page), try await begun(page))
    let bytes = try await sent(await page.fixture.get(one))
    for count in [22, 100, 400] {
      #expect(try await sent(await page.fixture.get(other, ["range": "bytes=-\(count)"])) == bytes.suffix(count))
    }
  }

  @Test func aFileThatHasChangedOrVanishedEndsTheConnection() async throws {
    let page = try await page()
    let file = page.folder.appending(path: "long.jpg")
    for change: () throws -> Void in [
      { try Data(repeating: 7, count: 300_001).write(to: file) },
      { try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: file.path) },
      { try FileManager.default.removeItem(at: file) },
    ] {
      let response = await page.fixture.get(try await begun(page))
      try change()
      await #expect(throws: SystemFailure.self) { _ = try await sent(response) }
    }
    // A file that was not there when the download was asked for is left out, and counted.
    let keys = await page.items().compactMap { $0["key"] as? String }
    let items = keys.map { "\"\($0)\"" }.joined(separator: ",")
    try FileManager.default.removeItem(at: page.folder.appending(path: "lake 1.jpg"))
    let response = await page.change("zip", #"{"keys":[\#(items)]}"#)
    #expect((response.object["missing"] as? Int ?? 0) > 0)
    _ = try await sent(await page.fixture.get(try #require(response.object["path"] as? String)))
  }

  @Test func anEmptySelectionIsNoDownload() async throws {
    let page = try await page()
    #expect(await page.change("zip", #"{"keys":[]}"#).status == .badRequest)
  }

  @Test func onlyWhatAPageHasShownIsDownloadedAndWhatIsHiddenOnlyIfItIsChosen() async throws {
    let page = try await page()
    for key in ["0", "secret.jpg", "../secret.jpg", String(repeating: "0", count: 32)] {
      #expect(await page.change("zip", #"{"keys":["\#(key)"]}"#).status == .conflict, "\(key)")
    }
    let item = try #require(await page.items().first { $0["name"] as? String == "lake 1.jpg" })
    let key = try #require(item["key"] as? String)
    #expect(await page.change("delete", #"{"ids":["lake 1.jpg"]}"#).status == .noContent)
    await poll { await page.items().count == 4 }
    func content(_ message: String) async throws -> String {
      String(decoding: try await sent(await page.fixture.get(try await begun(page, message))), as: UTF8.self)
    }
    let (all, chosen) = (try await content("{}"), try await content(#"{"keys":["\#(key)","\#(key)"]}"#))
    #expect(!all.contains("lake 1.jpg") && chosen.contains("lake 1.jpg"))
    // Each file once, however often it is asked for.
    #expect(!chosen.contains("lake 1 (2).jpg"))
    #expect(await page.fixture.get("/api/zip/\(key)").object["error"] as? String == "no-download")
  }
}
