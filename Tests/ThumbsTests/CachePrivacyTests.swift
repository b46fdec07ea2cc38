/// Who may see what is in the cache.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CachePrivacyTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
    _ = try bench.folder("pictures", pictures: 1)
  }

  private func prefetch(_ options: String...) async throws -> Run {
    try await bench.run(["prefetch", "--query", "", "--provider", "folder:pictures"] + options)
  }

  private func mode(_ url: URL) -> mode_t {
    var status = stat()
    return stat(url.path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  /// The modes of everything in the cache's folder, by name.
  private func modes() throws -> [String: mode_t] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: bench.cache.path)
    return Dictionary(uniqueKeysWithValues: names.map { ($0, mode(bench.cache.appendingPathComponent($0))) })
  }

  @Test func theCacheIsForItsUserAlone() async throws {
    let body = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg")) + [UInt8](repeating: 7, count: 2 << 20)
    let origin = try Origin { _ in
      .ok(body, type: "image/jpeg").header("ETag", "\"a\"").header("Accept-Ranges", "bytes")
        .truncated(after: 1 << 20)
    }
    let run = try await prefetch()
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    // Its beginning is kept.
    let get = try await bench.run("get", "\(origin.url())", "--output", "a.jpg")
    let modes = try modes()
    #expect(mode(bench.cache) == 0o700 && modes["partial"] == 0o700)
    #expect(modes["thumbnails-v2.sqlite"] == 0o600)
    #expect(modes.count { $0.key.hasPrefix("partial/") } == 2, "\(modes.keys.sorted()), \(get.status) \(get.stderr)")
    for (name, mode) in modes where name != "partial" { #expect(mode == 0o600, "\(name)") }
  }

  @Test func filesThatOthersCouldReadAreClosedToThem() async throws {
    _ = try await prefetch()
    let file = bench.cache.appendingPathComponent("thumbnails-v2.sqlite")
    #expect(chmod(file.path, 0o644) == 0)
    let run = try await prefetch()
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    #expect(mode(file) == 0o600)
  }

  @Test func aFolderThatIsOpenToOthersIsTold() async throws {
    try FileManager.default.createDirectory(at: bench.cache, withIntermediateDirectories: true)
    #expect(chmod(bench.cache.path, 0o755) == 0)
    let run = try await prefetch()
    #expect(run.status == 0 && run.complaints.count == 1, "\(run.stderr)")
    #expect(run.stderr.contains("other users can access the cache's folder (mode 755): chmod 700 "), "\(run.stderr)")
    #expect(run.stderr.contains("cache\n"), "\(run.stderr)")
    for (name, mode) in try modes() { #expect(mode == 0o600, "\(name)") }
    let doctor = try await bench.run("doctor")
    #expect((doctor.lines.joined() + doctor.stderr).contains("chmod 700 cache"))
    #expect(try await prefetch("--quiet").stderr.isEmpty)
    #expect(chmod(bench.cache.path, 0o700) == 0)
    #expect(try await prefetch().stderr.isEmpty)
  }
}
