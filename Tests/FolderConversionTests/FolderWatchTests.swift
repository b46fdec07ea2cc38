import TestSupport

@testable import FolderConversion
@testable import ThumbnailCore

/// Folders that are watched, through the public interface.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FolderWatchTests {
  private let directory: TemporaryDirectory
  private let watch: FolderWatch
  private var input: URL { directory.url.appendingPathComponent("in") }
  private var output: URL { directory.url.appendingPathComponent("out") }

  init() async throws {
    directory = try TemporaryDirectory()
    let input = directory.url.appendingPathComponent("in")
    try FileManager.default.createDirectory(
      at: input.appendingPathComponent("sub"), withIntermediateDirectories: true)
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: input.appendingPathComponent("sub/old.jpg"))
    var options = FolderConverter.Options(
      inputs: [.path(input.path)], output: directory.url.appendingPathComponent("out").path)
    options.sizes = [TargetSize(PixelSize(40, 40))]
    watch = try await FolderConverter(options).watch()
    for await result in watch.everything { #expect(result.status == .converted) }
    #expect(await watch.everything.finish().converted == 1)
  }

  private func put(_ name: String, _ image: String = "formats/jpeg-420.jpg") throws {
    try TestImages.bytes(image).write(to: input.appendingPathComponent(name))
  }

  /// What was converted or failed, by its path, in the next conversion that has such results. Orphans are removed.
  private func next() async throws -> [String: ConversionResult.Status] {
    while true {
      let changes = try #require(await watch.next())
      var results: [String: ConversionResult.Status] = [:]
      for await result in changes where [.converted, .failed].contains(result.status) {
        results[result.source.description.replacing(input.path + "/", with: "")] = result.status
      }
      let orphans = await changes.orphans()
      await changes.remove(orphans)
      _ = await changes.finish()
      if !results.isEmpty || !orphans.isEmpty { return results }
    }
  }

  private func names() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: output.path)
      .filter { $0.hasSuffix(".jpg") || $0.hasSuffix(".webp") }.sorted()
  }

  @Test func whatComesIsConvertedAndWhatGoesIsRemoved() async throws {
    try put("new.jpg")
    #expect(try await next() == ["new.jpg": .converted])
    // Moved in from elsewhere, and renamed.
    let elsewhere = directory.url.appendingPathComponent("moved.jpg")
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: elsewhere)
    try FileManager.default.moveItem(at: elsewhere, to: input.appendingPathComponent("sub/moved.jpg"))
    #expect(try await next() == ["sub/moved.jpg": .converted])
    try FileManager.default.moveItem(
      at: input.appendingPathComponent("sub/moved.jpg"), to: input.appendingPathComponent("sub/renamed.jpg"))
    #expect(try await next() == ["sub/renamed.jpg": .converted])
    #expect(try names() == ["new.jpg", "sub/old.jpg", "sub/renamed.jpg"])
    try FileManager.default.removeItem(at: input.appendingPathComponent("sub"))
    #expect(try await next() == [:])
    #expect(try names() == ["new.jpg"])
    await watch.finish()
  }

  @Test func newFoldersAreWatchedWithAllInThem() async throws {
    let tree = directory.url.appendingPathComponent("tree/deep")
    try FileManager.default.createDirectory(at: tree, withIntermediateDirectories: true)
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: tree.appendingPathComponent("a.jpg"))
    try FileManager.default.moveItem(
      at: directory.url.appendingPathComponent("tree"), to: input.appendingPathComponent("tree"))
    #expect(try await next() == ["tree/deep/a.jpg": .converted])
    try put("tree/deep/b.jpg")
    #expect(try await next() == ["tree/deep/b.jpg": .converted])
    // Under its new name the folder is watched, too.
    try FileManager.default.moveItem(
      at: input.appendingPathComponent("tree"), to: input.appendingPathComponent("wood"))
    #expect(try await next() == ["wood/deep/a.jpg": .converted, "wood/deep/b.jpg": .converted])
    try put("wood/deep/c.jpg")
    #expect(try await next() == ["wood/deep/c.jpg": .converted])
    #expect(try names().filter { $0.contains("deep") } == ["a", "b", "c"].map { "wood/deep/\($0).jpg" })
    await watch.finish()
  }

  @Test func aFileThatStillGrowsIsWaitedFor() async throws {
    let bytes = try TestImages.bytes("formats/jpeg-420.jpg")
    let growing = input.appendingPathComponent("growing.jpg")
    #expect(FileManager.default.createFile(atPath: growing.path, contents: nil))
    let handle = try FileHandle(forWritingTo: growing)
    try handle.write(contentsOf: bytes.prefix(bytes.count / 2))
    try put("other.jpg")
    #expect(try await next() == ["other.jpg": .converted])
    try handle.write(contentsOf: bytes.dropFirst(bytes.count / 2))
    try handle.close()
    #expect(try await next() == ["growing.jpg": .converted])
    await watch.finish()
  }

  @Test func aPictureThatFailedIsToldOnceUntilItChanges() async throws {
    try put("bad.jpg", "broken/truncated-in-the-middle.jpg")
    #expect(try await next() == ["bad.jpg": .failed])
    try put("good.jpg")
    #expect(try await next() == ["good.jpg": .converted])
    try put("bad.jpg")
    #expect(try await next() == ["bad.jpg": .converted])
    await watch.finish()
  }

  @Test func thumbnailsKeepTheirNamesWhenAnotherPictureOfTheirNameComes() async throws {
    try put("sub/old.png", "formats/png-rgba.png")
    #expect(try await next() == ["sub/old.png": .converted])
    #expect(try names() == ["sub/old.jpg", "sub/old.png.webp"])
    await watch.finish()
  }

  @Test func aFolderThatVanishesKeepsItsThumbnailsAndIsFoundWhenItIsBack() async throws {
    let away = directory.url.appendingPathComponent("away")
    try FileManager.default.moveItem(at: input, to: away)
    #expect(try await next().values.elementsEqual([.failed]))
    #expect(try names() == ["sub/old.jpg"])
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: away.appendingPathComponent("while-away.jpg"))
    try FileManager.default.moveItem(at: away, to: input)
    #expect(try await next() == ["while-away.jpg": .converted])
    try put("after.jpg")
    #expect(try await next() == ["after.jpg": .converted])
    await watch.finish()
  }

  @Test func aFinishedWatchIsContinuedByAnyConversion() async throws {
    try put("new.jpg")
    _ = try await next()
    await watch.finish()
    var options = FolderConverter.Options(inputs: [.path(input.path)], output: output.path)
    options.sizes = [TargetSize(PixelSize(40, 40))]
    let conversion = try await FolderConverter(options).start()
    for await result in conversion { #expect(result.status == .current) }
    _ = await conversion.finish()
  }

  @Test func onlyFoldersAreWatched() async throws {
    let options = FolderConverter.Options(
      inputs: [.path(input.appendingPathComponent("sub/old.jpg").path)], output: output.path)
    await #expect(throws: ConversionError.self) { try await FolderConverter(options).watch() }
    await watch.finish()
  }
}
