@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import PhotoSources
@testable import PipelineTestSupport
@testable import Thumbnailer

/// Which pictures a pipeline sends to its helpers, and what comes of them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct IsolationTests {
  private let fixture: PipelineFixture

  /// A pipeline without helpers, and an origin with the project's own small pictures.
  init() throws { fixture = try Self.fixture(.inProcess) }

  private static func fixture(_ isolation: DecodeIsolation) throws -> PipelineFixture {
    try PipelineFixture {
      $0.isolation = isolation
    } answer: { request in
      .ok((try? TestImages.bytes("formats\(request.path)")) ?? Data(), type: "image/any")
    }
  }

  private static var helper: DecodeIsolation { .helper(executable: HelperBench.executable) }

  private func own(_ name: String, _ size: PixelSize = PixelSize(40, 30)) -> ThumbnailRequest {
    ThumbnailRequest(.file(at: TestImages.url("formats/\(name)").path), variant: Variant(size: size, fit: .cover))
  }

  private func error(_ request: ThumbnailRequest, _ fixture: PipelineFixture) async -> ThumbnailError? {
    await fixture.pipeline.failure(request)
  }

  @Test func withoutAHelperUnsafeFormatsAreRefusedWithWhatToDo() async throws {
    for request in [own("svg.svg"), fixture.request("/svg.svg")] {
      let error = await error(request, fixture)
      #expect(error?.code == "unsupported-format")
      #expect(error?.message.contains("(isolation)") == true)
    }
  }

  @Test func theUsersOwnFilesGoToTheHelperAndTheWebsDoNot() async throws {
    let fixture = try Self.fixture(Self.helper)
    let thumbnail = try await fixture.pipeline.thumbnail(for: own("svg.svg"))
    #expect(thumbnail.size == PixelSize(40, 30) && thumbnail.source.format == .svg)
    #expect(await error(fixture.request("/svg.svg"), fixture)?.code == "unsupported-format")
    #expect(await error(fixture.request("/svg-gzip.svgz"), fixture)?.code == "not-a-picture")
  }

  @Test func theWebsGoThereWhereThatIsAsked() async throws {
    var isolation = Self.helper
    isolation.unsafeSources = .anywhere
    let fixture = try Self.fixture(isolation)
    for path in ["/svg.svg", "/svg-gzip.svgz", "/bmp.bmp"] {
      #expect(try await fixture.pipeline.thumbnail(for: fixture.request(path)).size == PixelSize(40, 40))
    }
  }

  /// Only the helper parses the header, so that it is known late what would be enlarged.
  @Test func strangersHaveNothingEnlargedThatOnlyAHelperReads() async throws {
    var isolation = Self.helper
    isolation.unsafeSources = .anywhere
    let fixture = try Self.fixture(isolation)
    let variants = [
      Variant(size: PixelSize(2000, 2000), fit: .cover, enlarges: true),
      Variant(size: PixelSize(20, 20), fit: .cover),
    ]
    var codes: [String?] = []
    for variant in variants {
      var request = ThumbnailRequest(ImageSource(fixture.origin.url("/bmp.bmp")), variant: variant)
      request.options.strangersPixels = 4 << 20
      codes.append(await error(request, fixture)?.code)
    }
    #expect(codes == ["invalid-request", nil])
  }

  @Test func safeFormatsOnlyMeansTheUsersFilesToo() async throws {
    var isolation = Self.helper
    isolation.unsafeSources = .none
    let fixture = try Self.fixture(isolation)
    #expect(await error(own("svg.svg"), fixture)?.code == "unsupported-format")
    #expect(try await fixture.pipeline.thumbnail(for: own("png-rgb.png")).size == PixelSize(40, 30))
    #expect(fixture.pipeline.configuration.readableFormats.count == 8)
  }

  @Test func nothingIsDecodedWhereItsHelpersCannotStart() async throws {
    let fixture = try Self.fixture(.helper(executable: URL(fileURLWithPath: "/bin/false")))
    let names = [
      "jpeg-420.jpg", "jpeg-progressive.jpg", "png-rgb.png", "gif-still.gif", "heic.heic", "tiff-strips.tif",
    ]
    for name in names {
      for request in [own(name), fixture.request("/\(name)")] {
        let error = await error(request, fixture)
        #expect(error?.code == "decoder-failed" && error?.message.contains("cannot be started") == true, "\(name)")
      }
    }
  }

  @Test func aProgramWithoutHelpersSaysWhatToDo() {
    #expect(DecodeHelper.program(besides: "/bin/sh", isOwnHelper: false) == nil)
    #expect(DecodeHelper.program(besides: "/bin/sh", isOwnHelper: true)?.path == "/proc/self/exe")
    for way in ["thumbs-decode", "isolation.executable", "serveIfAsked", ".inProcess"] {
      #expect(DecodeHelper.absence.contains(way))
    }
  }

  @Test func theHelperStandsBesideTheProgram() throws {
    #expect(DecodeHelper.program == HelperBench.executable)
    #expect(DecodeIsolation().problem == nil)
  }

  @Test(arguments: [
    Variant(size: PixelSize(100, 100), fit: .cover), Variant(size: PixelSize(16, 16), fit: .cover),
    Variant(size: PixelSize(90, 40), fit: .cover, gravity: .attention),
    Variant(size: PixelSize(100, 100), fit: .cover, format: .same),
    Variant(size: PixelSize(100, 100), fit: .cover, metadata: .profile),
    Variant(size: PixelSize(600, 600), fit: .cover, enlarges: true),
    Variant(size: PixelSize(100, 100), fit: .cover, format: .webp, frames: .all),
    Variant(size: PixelSize(50, 50), fit: .cover),
  ])
  func whatAHelperMakesIsWhatIsMadeInProcess(_ variant: Variant) async throws {
    let fixture = try Self.fixture(Self.helper)
    let all = try FileManager.default.contentsOfDirectory(atPath: TestImages.url("formats").path).sorted()
    // The parameters reach a helper in one way for all images: all with one of them, one of each reader with the others.
    let ofEachReader = [
      "jpeg-420", "jpeg-progressive", "heic", "png-rgb", "gif-animated", "tiff-strips", "webp-lossy", "svg",
    ]
    let isFirst = variant == Variant(size: PixelSize(100, 100), fit: .cover)
    let chosen = all.filter { name in
      isFirst || ofEachReader.contains { name.hasPrefix("\($0).") } || name.contains("icc")
    }
    for name in Thoroughness.cases(chosen, of: all) {
      let (here, there) = (self.fixture.request("/\(name)"), fixture.request("/\(name)"))
      let expected = try? await self.fixture.pipeline.thumbnail(for: ThumbnailRequest(here.source, variant: variant))
      let found = try? await fixture.pipeline.thumbnail(for: ThumbnailRequest(there.source, variant: variant))
      #expect(expected == found, "\(name)")
    }
  }

  @Test func whatCanBeReadOfADamagedPictureIsTheSameInAHelper() async throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: TestImages.url("broken").path)
    var made = 0
    for name in names where !name.contains("bomb") {
      var found: [Thumbnail?] = []
      for isolation in [.inProcess, Self.helper] {
        let fixture = try PipelineFixture {
          $0.isolation = isolation
          $0.damaged = .accept
        } answer: { _ in
          .ok(Data())
        }
        let request = ThumbnailRequest(
          .file(at: TestImages.url("broken/\(name)").path), variant: Variant(size: PixelSize(40, 30), fit: .cover))
        found.append(try? await fixture.pipeline.thumbnail(for: request))
      }
      #expect(found[0] == found[1], "\(name)")
      if found[0]?.isDamaged == true { made += 1 }
    }
    #expect(made > 5)
  }

  @Test func whatAnotherHostHasSentIsDecodedApart() async throws {
    let other = try Origin.picture()
    let elsewhere = "\(other.url("/a.jpg", host: "localhost"))"
    let origin = try Origin { request in
      request.path == "/elsewhere" ? .redirect(to: elsewhere) : .picture
    }
    let fixture = try Self.fixture(Self.helper)
    func helpers() -> Int { fixture.pipeline.stages.runner.helpers?.waiting.count ?? 0 }
    for (path, count) in [("/1.jpg", 1), ("/2.jpg", 1), ("/elsewhere", 2), ("/3.jpg", 2)] {
      _ = try await fixture.pipeline.thumbnail(for: ThumbnailRequest(origin.url(path), size: PixelSize(40, 40)))
      #expect(helpers() == count, "\(path)")
    }
  }

  @Test func aHangingPictureIsAnErrorThatSaysWhatToDo() async throws {
    var isolation = Self.helper
    // Real time: only has to pass.
    isolation.deadline = .seconds(1)
    let fixture = try Self.fixture(isolation)
    let file = fixture.directory.url.appendingPathComponent("endless.svg")
    try Data(HelperBench.endless).write(to: file)
    let request = ThumbnailRequest(.file(at: file.path), variant: Variant(size: PixelSize(40, 40), fit: .cover))
    let error = await error(request, fixture)
    #expect(error?.code == "decoder-failed")
    #expect(error?.message.contains("(isolation.deadline)") == true, "\(error.map { "\($0)" } ?? "")")
  }

  @Test(arguments: [
    (0, Duration.seconds(1)), (1 << 30, .milliseconds(1)), (1 << 60, .seconds(1)), (1 << 30, .seconds(1_000_000)),
  ])
  func valuesWithoutSenseAreRefused(memory: Int, deadline: Duration) throws {
    var isolation = DecodeIsolation.helper(executable: HelperBench.executable)
    isolation.memoryLimit = ByteSize(bytes: memory)
    isolation.deadline = deadline
    #expect(throws: ThumbnailError.self) { try Self.fixture(isolation) }
  }

  @Test func foldersListWhatTheirPipelineReads() async throws {
    let folder = try TemporaryDirectory()
    for name in ["a.jpg", "b.svg", "c.SVGZ", "d.pdf", "e.txt", "f.j2k", "g.cur"] {
      try Data().write(to: folder.url.appendingPathComponent(name))
    }
    for (isolation, expected) in [
      (DecodeIsolation.inProcess, ["a.jpg"]), (Self.helper, ["a.jpg", "b.svg", "c.SVGZ", "d.pdf", "f.j2k", "g.cur"]),
    ] {
      let provider = try ProviderSpecification.folder(path: folder.url.path)
        .provider(for: Self.fixture(isolation).pipeline, environment: [:])
      #expect(try await provider.search(PhotoQuery(""), at: nil).photos.map(\.id) == expected)
    }
  }
}
