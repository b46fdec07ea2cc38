/// The object that `thumbs doctor --json` prints.
struct DoctorReport: Decodable {
  struct Format: Decodable {
    let format, reader: String
    let written: Bool
    let readingProblem, writingProblem: String?
  }
  struct Cache: Decodable {
    let directory: String
    let exists: Bool
    let network: Bool
    let freeBytes: Int?
  }
  struct Network: Decodable { let protocols, httpVersions, compressions: [String] }
  struct Finding: Decodable { let severity, message: String }

  let healthy: Bool
  let helper: String?
  let versions: [String: String]
  let formats: [Format]
  let cache: Cache?
  let network: Network?
  let findings: [Finding]
}

/// `thumbs doctor`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DoctorCommandTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private func report(_ run: Run) throws -> DoctorReport {
    #expect(run.lines.count == 1)
    return try JSONDecoder().decode(DoctorReport.self, from: run.stdout)
  }

  @Test func tellsVersionsFormatsAndTheNetwork() async throws {
    let run = try await bench.run("doctor", "--json")
    let report = try report(run)
    #expect(run.status == 0 && report.healthy, "\(run.lines)")
    let libraries = [
      "libvips", "libjpeg-turbo", "ISA-L", "libwebp", "libtiff", "libde265", "dav1d", "libcurl", "SQLite",
    ]
    #expect(Set(report.versions.keys) == Set(["thumbs"] + libraries))
    #expect(report.versions.values.allSatisfy { $0.first?.isNumber == true })
    let readers = Dictionary(uniqueKeysWithValues: report.formats.map { ($0.format, $0.reader) })
    #expect(!readers.values.contains("process"))
    for format in ["jpeg", "png", "webp", "gif", "tiff", "pnm"] { #expect(readers[format] == "helper") }
    #expect(report.formats.first { $0.format == "jpeg" }?.written == true)
    let network = try #require(report.network)
    #expect(Set(["http", "https"]).isSubset(of: network.protocols) && network.httpVersions.contains("1.1"))
    // It makes nothing.
    #expect(report.cache?.exists == false && !FileManager.default.fileExists(atPath: bench.cache.path))
  }

  @Test func seesTheCache() async throws {
    _ = try bench.folder("pictures", pictures: 1)
    _ = try await bench.run("prefetch", "--query", "", "--provider", "folder:pictures")
    let run = try await bench.run("doctor", "--json")
    let cache = try #require(try report(run).cache)
    #expect(try report(run).helper?.hasSuffix("/thumbs-decode") == true)
    #expect(cache.exists && cache.directory == "cache")
  }

  @Test func speaksToPeopleInLines() async throws {
    let run = try await bench.run("doctor")
    #expect(run.status == 0 && run.stderr.isEmpty)
    #expect(run.lines.first?.hasPrefix("thumbs ") == true)
    #expect(run.lines.contains { $0.hasPrefix("read in a helper: JPEG, PNG") })
    #expect(run.lines.contains("read in process:  nothing"))
    #expect(run.lines.contains { $0.hasPrefix("helper:           /") && $0.hasSuffix("/thumbs-decode") })
  }

  @Test func librariesThatAreMissingAreToldAndJPEGsAreMadeWithoutThem() async throws {
    _ = try bench.folder("pictures", pictures: 1)
    _ = try bench.folder("empty")
    for library in ["libvips.so.42", "libtiff.so.6", "libcurl.so.4"] {
      try Data().write(to: bench.url("empty/\(library)"))
    }
    let environment = ["LD_LIBRARY_PATH": bench.url("empty").path]
    let run = try await bench.process("doctor", "--json", environment: environment)
    let report = try report(run)
    #expect(run.status == 1 && !report.healthy && report.network == nil)
    for name in ["libvips", "libtiff", "libcurl"] { #expect(report.versions[name] == "missing", "\(name)") }
    #expect(report.findings.contains { $0.severity == "problem" && $0.message.contains("apt install libcurl4") })
    let made = try await bench.process("convert", "pictures", "--size", "40", "-o", "small", environment: environment)
    #expect(made.status == 0, "\(made.lines)")
  }

  /// Only the Python wheel has such a folder, from which the loader takes libraries.
  @Test func aFolderOfLibrariesThatTheLoaderDoesNotUseIsNotBelieved() async throws {
    let built = URL(fileURLWithPath: ThumbsProcess.executable).deletingLastPathComponent().path
    func canWriteAVIF(after steps: String) async throws -> Bool? {
      let launcher = ["/bin/sh", "-c", "\(steps); shift; exec ./thumbs \"$@\"", "sh"]
      let report = try report(try await bench.start(["doctor", "--json"], launcher: launcher).run())
      return report.formats.first { $0.format == "avif" }?.written
    }
    #expect(try await canWriteAVIF(after: "cp '\(built)/thumbs' '\(built)/thumbs-decode' .") == true)
    #expect(try await canWriteAVIF(after: "mkdir libraries") == true)
  }

  @Test func aBrokenCacheFolderIsToldWithStatusOne() async throws {
    try Data("no folder".utf8).write(to: bench.url("file"))
    let run = try await bench.run("doctor", "--cache-dir", "file")
    #expect(run.status == 1)
    #expect(run.lines.last?.hasPrefix("problem: the cache directory ") == true)
    #expect(run.lines.last?.contains("choose another directory") == true)
  }
}
