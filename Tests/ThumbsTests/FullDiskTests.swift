/// Pictures whose files fit on no disk.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FullDiskTests {
  private let bench: Bench
  private let origin: Origin
  private static let count = 8

  init() throws {
    bench = try Bench()
    // Larger than what is kept in memory anyway.
    let picture = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg")) + [UInt8](repeating: 7, count: 600_000)
    origin = try Origin { request in
      let response = OriginResponse.ok(picture, type: "image/jpeg")
      return request.path.hasPrefix("/untold") ? response.untilClose() : response
    }
  }

  private func list(_ path: String) -> Data {
    Data((0..<Self.count).map { "\(origin.url("\(path)/\($0).jpg"))\n" }.joined().utf8)
  }

  @Test(arguments: ["/told", "/untold"])
  func whereNoFolderTakesThemPicturesAreMadeFromMemory(path: String) async throws {
    let run = try await bench.process(
      "prefetch", "--urls", "-", "--cache-dir", "/dev/null/cache", "--json",
      environment: ["TMPDIR": "/dev/null"], input: .bytes(list(path)))
    let pictures = try run.pictures()
    #expect(pictures.count == Self.count && pictures.allSatisfy { $0.error == nil }, "\(run.stderr)")
  }

  @Test(.enabled(if: TinyDisk.isAvailable, "mounting needs root"))
  func whereTheCachesDiskIsFullPicturesGoThroughTheTemporaryFolder() async throws {
    let disk = try #require(TinyDisk(at: bench.url("disk"), kibibytes: 400))
    let run = try await bench.process(
      "prefetch", "--urls", "-", "--cache-dir", "disk", "--disk-cache", "0", "--json", input: .bytes(list("/told")))
    let pictures = try run.pictures()
    #expect(run.status == 0 && pictures.count == Self.count, "\(run.stderr)")
    #expect(pictures.allSatisfy { $0.error == nil }, "\(pictures.compactMap(\.error))")
    withExtendedLifetime(disk) {}
  }

  @Test func whereTheBudgetIsUsedUpTheErrorSaysWhatToDo() async throws {
    let large = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg")) + [UInt8](repeating: 7, count: 9 << 20)
    let origin = try Origin { _ in .ok(large, type: "image/jpeg") }
    let run = try await bench.process(
      "get", "\(origin.url("/a.jpg"))", "--output", "a.jpg", "--cache-dir", "/dev/null/cache", "--memory-budget",
      "16MiB", environment: ["TMPDIR": "/dev/null"])
    #expect(run.status != 0, "\(run.stderr)")
    for words in ["/dev/null/cache", "memory budget", "free some space", "--cache-dir"] {
      #expect(run.stderr.contains(words), "\(run.stderr)")
    }
  }
}
