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
      let changes = try #require(try await watch.next())
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

  @Test func aFileThatGetsItsNameWhenItIsWholeIsConverted() async throws {
    func write() throws {
      var file = try NewFile(RawPath(input.appendingPathComponent("whole.jpg").path))
      try file.write(TestImages.bytes("formats/jpeg-420.jpg"))
      try file.commit()
    }
    try write()
    #expect(try await next() == ["whole.jpg": .converted])
    // A link is another name of a whole file, and may be the only one a moment later.
    let (old, new) = (directory.url.appendingPathComponent("old"), input.appendingPathComponent("linked.jpg"))
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: old)
    #expect(link(old.path, new.path) == 0 && unlink(old.path) == 0)
    #expect(try await next() == ["linked.jpg": .converted])
    await watch.finish()
  }

  @Test func aNewTimeMakesAThumbnailAnew() async throws {
    let time = timespec(tv_sec: 1_000_000, tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, input.appendingPathComponent("sub/old.jpg").path, [time, time], 0) == 0)
    #expect(try await next() == ["sub/old.jpg": .converted])
    await watch.finish()
  }

  @Test func namesThatWereToldApartAreKept() async throws {
    try put("a.jpg")
    try put("a.png", "formats/png-rgba.png")
    var made: [String: ConversionResult.Status] = [:]
    while made.count < 2 { made.merge(try await next()) { $1 } }
    let before = try names()
    try FileManager.default.removeItem(at: input.appendingPathComponent("a.png"))
    #expect(try await next() == [:])
    try put("b.jpg")
    #expect(try await next() == ["b.jpg": .converted])
    #expect(try names() == (before.filter { !$0.contains("png") } + ["b.jpg"]).sorted())
    await watch.finish()
  }

  @Test func aFolderThatWasReplacedIsWatchedWithAllInIt() async throws {
    let other = directory.url.appendingPathComponent("other/deep")
    try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: other.appendingPathComponent("a.jpg"))
    try FileManager.default.moveItem(at: input, to: directory.url.appendingPathComponent("away"))
    try FileManager.default.moveItem(at: directory.url.appendingPathComponent("other"), to: input)
    var made: [String: ConversionResult.Status] = [:]
    while made["deep/a.jpg"] == nil { made.merge(try await next()) { $1 } }
    try put("deep/b.jpg")
    #expect(try await next() == ["deep/b.jpg": .converted])
    // Nobody said that the old pictures were removed.
    #expect(try names() == ["deep/a.jpg", "deep/b.jpg", "sub/old.jpg"])
    await watch.finish()
  }

  @Test func aNameThatAnotherFolderHasTakenIsLeftToIt() async throws {
    await watch.finish()
    let second = directory.url.appendingPathComponent("second")
    try FileManager.default.createDirectory(at: second, withIntermediateDirectories: true)
    try put("x.jpg")
    var options = FolderConverter.Options(
      inputs: [.path(input.path), .path(second.path), .path(input.path + "/sub")], output: output.path)
    options.sizes = [TargetSize(PixelSize(40, 40))]
    let both = try await FolderConverter(options).watch()
    for await _ in both.everything {}
    _ = await both.everything.finish()
    let first = try Data(contentsOf: output.appendingPathComponent("x.jpg"))
    try TestImages.bytes("formats/png-rgba.png").write(to: second.appendingPathComponent("x.jpg"))
    var made: [ConversionResult] = []
    while made.isEmpty {
      let changes = try #require(try await both.next())
      for await result in changes where result.status == .converted { made.append(result) }
      #expect(await changes.orphans().isEmpty)
      _ = await changes.finish()
    }
    #expect(made.count == 1 && made[0].outputs[0].path != RawPath("x.jpg"))
    #expect(try Data(contentsOf: output.appendingPathComponent("x.jpg")) == first)
    // A folder that is named twice loses one thumbnail for each of its names.
    try FileManager.default.removeItem(at: input.appendingPathComponent("sub/old.jpg"))
    var removed: [RawPath] = []
    while removed.isEmpty {
      let changes = try #require(try await both.next())
      for await _ in changes {}
      removed = await changes.orphans().flatMap(\.outputs)
      _ = await changes.finish()
    }
    #expect(Set(removed).isSubset(of: [RawPath("sub/old.jpg"), RawPath("old.jpg")]))
    await both.finish()
  }

  @Test(.enabled(if: getuid() == 0, "only root mounts")) func aDiskThatIsUnmountedKeepsItsThumbnails() async throws {
    let disk = input.appendingPathComponent("disk")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
    try await Self.run("mount", "-t", "tmpfs", "tmpfs", disk.path)
    try put("disk/a.jpg")
    var made: [String: ConversionResult.Status] = [:]
    while made["disk/a.jpg"] == nil { made.merge(try await next()) { $1 } }
    // Whoever is listing the folder at this moment keeps it for as long as that takes.
    await poll { umount(disk.path) == 0 }
    try put("b.jpg")
    while made["b.jpg"] == nil { made.merge(try await next()) { $1 } }
    #expect(try names().contains("disk/a.jpg"))
    try await Self.run("mount", "-t", "tmpfs", "tmpfs", disk.path)
    try put("disk/c.jpg")
    while made["disk/c.jpg"] == nil { made.merge(try await next()) { $1 } }
    await poll { umount(disk.path) == 0 }
    await watch.finish()
  }

  static func run(_ command: String...) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(command)")
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
