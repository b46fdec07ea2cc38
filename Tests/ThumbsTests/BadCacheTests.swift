/// Cache folders that cannot be used, files in them that are no cache, and disks without room.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BadCacheTests {
  private let bench: Bench
  private let command = ["prefetch", "--query", "", "--provider", "folder:pictures", "--json"]

  init() throws {
    bench = try Bench()
    _ = try bench.folder("pictures", pictures: 3)
  }

  /// Runs a command in a process of its own, which holds no file of the disk when it has ended.
  private func onDisk(_ arguments: [String]) async throws -> Run {
    try await bench.start(arguments + ["--cache-dir", "disk"]).run()
  }

  @Test(arguments: ["file/below", "/proc/thumbs"])
  func aFolderThatCannotBeUsedIsNamedAndTheRunGoesOn(directory: String) async throws {
    try Data("hello".utf8).write(to: bench.url("file"))
    let run = try await bench.run(command + ["--cache-dir", directory])
    expectComplaint(
      run, 1, "the cache directory ", directory, "choose another directory; going on without the disk cache",
      printing: true)
    // They are made all the same, but nobody says that they are stored.
    #expect(try run.pictures().map(\.status) == ["made", "made", "made"])
    let summary = try run.summary()
    #expect(summary.made == 3 && summary.stored == 0 && summary.storedBytes == 0)
    #expect(try Data(contentsOf: bench.url("file")) == Data("hello".utf8))

    let get = try await bench.run("get", "pictures/picture 1.jpg", "--output", "small.jpg", "--cache-dir", directory)
    #expect(get.status == 0 && get.complaints.count == 1)
    #expect(FileManager.default.fileExists(atPath: bench.url("small.jpg").path))
  }

  @Test func garbageInPlaceOfTheCacheIsReplacedAndThatIsSaid() async throws {
    try FileManager.default.createDirectory(at: bench.cache, withIntermediateDirectories: false)
    #expect(chmod(bench.cache.path, 0o700) == 0)
    let file = bench.cache.appending(path: "thumbnails-v2.sqlite")
    try Data("this is no database, whatever its name says".utf8).write(to: file)
    expectComplaint(
      try await bench.run(command), 0, "cache/thumbnails-v2.sqlite", "is replaced by an empty one", printing: true)
  }

  @Test(.enabled(if: TinyDisk.isAvailable, "mounting needs root"))
  func aFullDiskIsNamedAndEverythingStoredBeforeIsKept() async throws {
    // Given a disk with three thumbnails on it, and room for a few more, however many transactions they take
    let disk = try #require(TinyDisk(at: bench.url("disk"), kibibytes: 400))
    let first = try await onDisk(command)
    #expect(first.status == 0, "\(first.stderr)")

    // When far more is to be stored
    _ = try bench.folder("many", pictures: 200)
    let many = ["prefetch", "--query", "", "--provider", "folder:many", "--format", "png", "--count", "200"]
    let run = try await onDisk(many + ["--json"])

    // Then all pictures are made, one line says what is wrong, and the first three are still there
    expectComplaint(run, 1, "the disk of ", " is full; free some space", printing: true)
    let summary = try run.summary()
    #expect(summary.pictures == 200 && summary.failed == 0 && summary.stored + summary.made == 200)
    // Nobody says of what could not be written that it is stored.
    #expect(try summary.made > 0 && run.pictures().count { $0.status == "made" } == summary.made)
    let stats = try await onDisk(["cache", "stats", "--json"])
    let counts = try JSONSerialization.jsonObject(with: stats.stdout) as? [String: Any]
    #expect(counts?["sources"] as? Int == 3 + summary.stored)
    let again = try await onDisk(command)
    #expect(try again.summary().hits == 3)

    // Without a reader of the lines, the rest would be made for nothing. All need far more than the whole disk has.
    let silent = try await onDisk(many + ["--size", "500"])
    #expect(silent.status == 73 && silent.stderr.contains("stopped, since"), "\(silent.stderr)")

    // And what frees the disk says so where it needs room itself.
    let prune = try await onDisk(["cache", "prune", "--older-than", "0"])
    #expect(prune.status == 0 || prune.status == 73 && prune.stderr.contains("'thumbs cache clear' needs no room"))
    let clear = try await onDisk(["cache", "clear"])
    #expect(clear.status == 0 && clear.stderr.isEmpty, "\(clear.stderr)")
    #expect(try await onDisk(command).status == 0)
    withExtendedLifetime(disk) {}
  }

  @Test(.enabled(if: TinyDisk.isAvailable, "mounting needs root"), arguments: [true, false])
  func aReadOnlyFolderServesAndSaysOnceThatNothingIsStored(hasLog: Bool) async throws {
    // Given a cache on a disk that becomes read-only, with the files of its log or without
    let disk = try #require(TinyDisk(at: bench.url("disk"), kibibytes: 4000))
    #expect(try await onDisk(command).status == 0)
    let file = bench.url("disk/thumbnails-v2.sqlite").path
    if !hasLog {
      try CacheFile(bench.url("disk")).execute("PRAGMA wal_checkpoint(TRUNCATE)")
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
    }
    #expect(disk.makeReadOnly())

    // Then all are hits, and one line says it
    let run = try await onDisk(command)
    expectComplaint(run, 0, "none is added", printing: true)
    #expect(try run.summary().hits == 3)
    for name in ["stats", "list"] {
      let look = try await onDisk(["cache", name])
      #expect(look.status == 0 && !look.stdout.isEmpty, "\(name): \(look.stderr)")
    }
    // And what would change it is refused
    let prune = try await onDisk(["cache", "prune", "--older-than", "0"])
    #expect(prune.status == 73 && prune.stderr.contains("cannot be written"))
    // And a new picture is made, but not stored
    let other = try await onDisk(command + ["--size", "40"])
    #expect(try other.summary().stored == 0 && other.complaints.count == 1)
    withExtendedLifetime(disk) {}
  }

  @Test(.enabled(if: TinyDisk.isAvailable, "mounting needs root"))
  func aLogThatCannotBeReadWithoutWritingIsNotIgnored() async throws {
    let disk = try #require(TinyDisk(at: bench.url("disk"), kibibytes: 4000))
    #expect(try await onDisk(command).status == 0)
    let file = bench.url("disk/thumbnails-v2.sqlite").path
    try? FileManager.default.removeItem(atPath: file + "-shm")
    try Data(repeating: 1, count: 5000).write(to: URL(fileURLWithPath: file + "-wal"))
    #expect(disk.makeReadOnly())
    let stats = try await onDisk(["cache", "stats"])
    #expect(stats.status == 73 && stats.stdout.isEmpty)
    withExtendedLifetime(disk) {}
  }
}

/// A file system in memory with little room, mounted as long as it lives.
final class TinyDisk {
  private let path: String

  /// Whether this process may mount.
  static let isAvailable: Bool = {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("thumbs-test-disk-\(UUID())")
    defer { try? FileManager.default.removeItem(at: place) }
    return geteuid() == 0 && TinyDisk(at: place, kibibytes: 64) != nil
  }()

  /// Mounts at a folder, which is made. Nil when that is not allowed.
  init?(at url: URL, kibibytes: Int) {
    path = url.path
    try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    guard mount("tmpfs", path, "tmpfs", 0, "size=\(kibibytes)k,mode=700") == 0 else { return nil }
  }

  /// Lets nothing be written to it any more.
  func makeReadOnly() -> Bool { mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 }

  deinit { umount2(path, Int32(bitPattern: 2)) }
}
