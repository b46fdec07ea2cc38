@testable import DecodeSandbox
@testable import ImageCodec
@testable import PipelineTestSupport
@testable import ThumbnailCache
@testable import Thumbnailer
@testable import thumbs

@Suite(.timeLimit(.minutes(5))) struct DiagnosticsTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func gather(
    _ configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) async throws -> Diagnostics {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    configure(&configuration)
    return try await Diagnostics.gather(configuration)
  }

  @Test func formatsAreReallyReadAndWritten() async throws {
    let formats = try await gather { $0.isolation = .inProcess }.formats
    #expect(formats.map(\.format) == ImageFormat.allCases)
    for support in formats {
      let isNeeded = [.jpeg, .png, .webp, .gif, .tiff].contains(support.format)
      if isNeeded { #expect(support.reader == .process && support.readingProblem == nil, "\(support)") }
      if [.jpeg, .png, .webp].contains(support.format) { #expect(support.isWritten, "\(support)") }
      // Without a helper the unsafe formats are not missing: nobody asked for them.
      if !support.format.isReadInProcess { #expect(support.reader == .none && support.readingProblem == nil) }
    }
  }

  @Test(arguments: ImageFormat.allCases) func everySampleIsWhatItSays(format: ImageFormat) {
    #expect(!FormatSample.bytes(of: format).isEmpty)
    guard format.isReadInProcess else { return }
    #expect((try? probe(.memory(FormatSample.bytes(of: format))))?.format == format)
  }

  @Test func aHelperThatIsNoneIsARemarkForEachFormat() async throws {
    let diagnostics = try await gather { $0.isolation = .helper(executable: URL(fileURLWithPath: "/bin/false")) }
    let svg = try #require(diagnostics.formats.first { $0.format == .svg })
    #expect(svg.reader == .none && svg.readingProblem != nil)
    #expect(
      diagnostics.findings.contains { $0.message.hasPrefix("SVG cannot be read: ") && $0.message.contains("apt") })
  }

  @Test func limitsSayWhereTheyComeFrom() async throws {
    let limits = try await gather {
      $0.downloads = 3
      $0.memoryBudget = .mebibytes(100)
    }.limits
    func limit(_ name: String) -> Diagnostics.Limit? { limits.first { $0.name == name } }
    #expect(
      limit("downloads at once") == .init(name: "downloads at once", value: 3, unit: .count, origin: .configuration))
    #expect(limit("memory budget")?.value == 100 << 20 && limit("memory budget")?.origin == .configuration)
    #expect(limit("memory cache")?.origin == .standard && limit("decodes at once")?.origin == .system)
    #expect(limit(Diagnostics.openFilesName)?.value ?? 1 > 0)
  }

  @Test func theCacheIsCountedAndNotChanged() async throws {
    let fixture = try PipelineFixture()
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    await fixture.pipeline.flush()
    let configuration = ThumbnailPipeline.Configuration(cacheDirectory: fixture.directory.url)
    let cache = try #require(try await Diagnostics.gather(configuration).cache)
    let contents = cache.contents
    #expect(
      contents.thumbnails == 1 && contents.sources == 1 && contents.payloadBytes > 0
        && contents.fileBytes > contents.payloadBytes)
    #expect(cache.isThere && cache.freeBytes ?? 0 > 0)
  }

  @Test func aMissingFolderIsNoProblemAndIsNotMade() async throws {
    let missing = directory.url.appendingPathComponent("a/b")
    let diagnostics = try await gather { $0.cacheDirectory = missing }
    #expect(diagnostics.isHealthy && diagnostics.cache?.isThere == false)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
  }

  @Test func aFileInTheFoldersPlaceIsAProblem() async throws {
    let file = directory.url.appendingPathComponent("file")
    try Data("not a folder".utf8).write(to: file)
    for place in [file, file.appendingPathComponent("below"), URL(fileURLWithPath: "/proc/none")] {
      let diagnostics = try await gather { $0.cacheDirectory = place }
      #expect(!diagnostics.isHealthy)
      #expect(diagnostics.findings.first?.severity == .problem)
      #expect(diagnostics.findings.first?.message.contains("\(place.path) cannot be used") == true)
    }
  }

  @Test func aDamagedCacheIsAProblemAndStaysAsItIs() async throws {
    let file = CacheDatabase.path(in: directory.url.path, majorVersion: DiskCacheSchema.majorVersion)
    let bytes = Data(repeating: 7, count: 8192)
    try bytes.write(to: URL(fileURLWithPath: file))
    let diagnostics = try await gather()
    #expect(!diagnostics.isHealthy)
    #expect(
      diagnostics.findings.contains { $0.message.contains("is damaged") && $0.message.contains("begins it anew") })
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes)
  }

  @Test func aCacheThatIsTurnedOffIsNotLookedAt() async throws {
    #expect(try await gather { $0.diskCacheLimit = ByteSize(bytes: 0) }.cache == nil)
  }

  @Test func aNetworkFileSystemIsAProblem() {
    let cache = CacheExamination(
      directory: "/net/cache", isThere: true, contents: .init(), problem: nil, exposure: nil, fileSystem: "nfs4",
      isOnNetwork: true, freeBytes: nil)
    let findings = Diagnostics.findings(of: cache, limit: .gibibytes(1))
    #expect(findings.map(\.severity) == [.problem] && findings.first?.message.contains("nfs4") == true)
  }

  @Test func tooFewOpenFilesAreAProblem() {
    let limit = Diagnostics.Limit(name: Diagnostics.openFilesName, value: 64, unit: .count, origin: .system)
    let findings = Diagnostics.findings(of: [limit], ThumbnailPipeline.Configuration())
    #expect(findings.first?.message.contains("ulimit -n") == true)
  }

  @Test func whatIsNeededAndMissingIsAProblemAndTheRestARemark() {
    let formats = [ImageFormat.jpeg, .heif].map {
      Diagnostics.FormatSupport(
        format: $0, reader: .none, readingProblem: "no decoder", isWritten: false, writingProblem: nil)
    }
    #expect(Diagnostics.findings(of: formats).map(\.severity) == [.problem, .remark])
  }
}
