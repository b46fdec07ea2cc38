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

  private func report(
    _ configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) async throws -> DoctorReport {
    try JSONDecoder().decode(DoctorReport.self, from: Data(try await gather(configure).json.bytes))
  }

  @Test func formatsAreReallyReadAndWritten() async throws {
    let formats = try await report { $0.isolation = .inProcess }.formats
    #expect(formats.map(\.format) == ImageFormat.allCases.map(\.rawValue))
    for (support, format) in zip(formats, ImageFormat.allCases) {
      let isNeeded = [.jpeg, .png, .webp, .gif, .tiff].contains(format)
      if isNeeded { #expect(support.reader == "process" && support.readingProblem == nil, "\(support)") }
      if [.jpeg, .png, .webp].contains(format) { #expect(support.written, "\(support)") }
      // Without a helper the unsafe formats are not missing: nobody asked for them.
      if !format.isReadInProcess { #expect(support.reader == "none" && support.readingProblem == nil) }
    }
  }

  @Test(arguments: ImageFormat.allCases) func everySampleIsWhatItSays(format: ImageFormat) {
    #expect(!FormatSample.bytes(of: format).isEmpty)
    guard format.isReadInProcess else { return }
    #expect((try? probe(.memory(FormatSample.bytes(of: format))))?.format == format)
  }

  @Test func aHelperThatIsNoneIsARemarkForEachFormat() async throws {
    let report = try await report { $0.isolation = .helper(executable: URL(fileURLWithPath: "/bin/false")) }
    let svg = try #require(report.formats.first { $0.format == "svg" })
    #expect(svg.reader == "none" && svg.readingProblem != nil)
    #expect(report.findings.contains { $0.message.hasPrefix("SVG cannot be read: ") && $0.message.contains("apt") })
  }

  @Test func theCacheIsSeen() async throws {
    let fixture = try PipelineFixture()
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    await fixture.pipeline.flush()
    let cache = try #require(try await report { $0.cacheDirectory = fixture.directory.url }.cache)
    #expect(cache.exists && cache.freeBytes ?? 0 > 0)
  }

  @Test func aMissingFolderIsNoProblemAndIsNotMade() async throws {
    let missing = directory.url.appendingPathComponent("a/b")
    let report = try await report { $0.cacheDirectory = missing }
    #expect(report.healthy && report.cache?.exists == false)
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
    let file = CacheDatabase.path(in: directory.url.path)
    let bytes = Data(repeating: 7, count: 8192)
    try bytes.write(to: URL(fileURLWithPath: file))
    let diagnostics = try await gather()
    #expect(!diagnostics.isHealthy)
    #expect(
      diagnostics.findings.contains { $0.message.contains("is damaged") && $0.message.contains("begins it anew") })
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes)
  }

  @Test func aCacheThatIsTurnedOffIsNotLookedAt() async throws {
    #expect(try await report { $0.diskCacheLimit = ByteSize(bytes: 0) }.cache == nil)
  }

  @Test func aNetworkFileSystemIsAProblem() {
    let cache = CacheExamination(
      directory: "/net/cache", isThere: true, fileBytes: 0, problem: nil, exposure: nil, fileSystem: "nfs4",
      isOnNetwork: true, freeBytes: nil)
    var diagnostics = Diagnostics()
    diagnostics.add(cache, limit: .gibibytes(1))
    let findings = diagnostics.findings
    #expect(findings.map(\.severity) == [.problem] && findings.first?.message.contains("nfs4") == true)
  }

  @Test func whatIsNeededAndMissingIsAProblemAndTheRestARemark() {
    var diagnostics = Diagnostics()
    diagnostics.check([.heif, .jpeg].map { Diagnostics.FormatSupport(format: $0, readingProblem: "no decoder") })
    #expect(diagnostics.findings.map(\.severity) == [.problem, .remark])
  }
}
