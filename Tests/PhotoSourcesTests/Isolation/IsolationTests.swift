import Foundation
import TestOrigin
import Testing

@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import PhotoSources
@testable import PipelineTestSupport
@testable import TestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// Which pictures a pipeline sends to its helpers, and what comes of them.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct IsolationTests {
  private let fixture: PipelineFixture

  /// A pipeline without helpers, and an origin with the project's own small pictures.
  init() throws { fixture = try Self.fixture(.none) }

  private static func fixture(_ isolation: DecodeIsolation) throws -> PipelineFixture {
    try PipelineFixture {
      $0.isolation = isolation
    } answer: { request in
      .ok((try? TestImages.bytes("formats\(request.path)")) ?? Data(), type: "image/any")
    }
  }

  private static var helper: DecodeIsolation { .helper(executable: HelperBench.executable) }

  private func own(_ name: String, _ size: PixelSize = PixelSize(40, 30)) -> ThumbnailRequest {
    ThumbnailRequest(.file(at: TestImages.url("formats/\(name)").path), variant: Variant(size: size))
  }

  private func error(_ request: ThumbnailRequest, _ fixture: PipelineFixture) async -> ThumbnailError? {
    do throws(ThumbnailError) {
      _ = try await fixture.pipeline.thumbnail(for: request)
      return nil
    } catch {
      return error
    }
  }

  @Test func withoutAHelperUnsafeFormatsAreRefusedWithWhatToDo() async throws {
    for request in [own("svg.svg"), fixture.request("/svg.svg")] {
      let error = await error(request, fixture)
      #expect(error == .unsupportedFormat(.svg))
      #expect(error?.message.contains("(isolation)") == true)
    }
  }

  @Test func theUsersOwnFilesGoToTheHelperAndTheWebsDoNot() async throws {
    let fixture = try Self.fixture(Self.helper)
    let thumbnail = try await fixture.pipeline.thumbnail(for: own("svg.svg"))
    #expect(thumbnail.size == PixelSize(40, 30) && thumbnail.source.format == .svg)
    #expect(await error(fixture.request("/svg.svg"), fixture) == .unsupportedFormat(.svg))
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

  @Test func safeFormatsOnlyMeansTheUsersFilesToo() async throws {
    var isolation = Self.helper
    isolation.unsafeSources = .none
    isolation.formats = .all
    let fixture = try Self.fixture(isolation)
    #expect(await error(own("svg.svg"), fixture) == .unsupportedFormat(.svg))
    #expect(try await fixture.pipeline.thumbnail(for: own("png-rgb.png")).size == PixelSize(40, 30))
    #expect(fixture.pipeline.configuration.readableFormats.count == 8)
  }

  @Test func everyFormatGoesThereUnderAll() async throws {
    var isolation = Self.helper
    isolation.formats = .all
    let fixture = try Self.fixture(isolation)
    let (here, there) = try await (
      self.fixture.pipeline.thumbnail(for: self.fixture.request("/jpeg-420.jpg")),
      fixture.pipeline.thumbnail(for: fixture.request("/jpeg-420.jpg"))
    )
    #expect(here == there)
    await poll { fixture.recorder.kinds.count >= 3 }
    let plans = fixture.recorder.kinds.compactMap { kind -> (String, Int)? in
      if case .planned(let description, let bytes) = kind { (description, bytes) } else { nil }
    }
    let plan = try #require(plans.first)
    #expect(plans.count == 1 && plan.0 == "jpeg in a helper → 40x40")
    // The room for the thumbnail, not for a decode.
    #expect(plan.1 == ResponseRules.mostBytes(for: [Variant(size: PixelSize(40, 40))]))
  }

  /// The plans of one thumbnail at a time, of small pictures on the web.
  private func plans(_ paths: [String], _ fixture: PipelineFixture, _ variant: Variant) async throws -> [String] {
    for path in paths {
      let request = ThumbnailRequest(fixture.request(path).source, variant: variant)
      _ = try await fixture.pipeline.thumbnail(for: request)
    }
    await poll { fixture.recorder.kinds.filter { $0.plan != nil }.count >= paths.count }
    return fixture.recorder.kinds.compactMap(\.plan)
  }

  @Test func ofTheWebALibraryDecodesInAHelperOnly() async throws {
    let fixture = try Self.fixture(Self.helper)
    #expect(fixture.pipeline.configuration.isolation.formats == .web)
    let paths = ["/jpeg-420.jpg", "/png-rgb.png", "/webp-lossy.webp", "/tiff-strips.tif", "/heic.heic", "/avif.avif"]
    let plans = try await plans(paths, fixture, Variant(size: PixelSize(100, 100)))
    #expect(plans.count == paths.count && plans.allSatisfy { $0.hasSuffix(", in a helper") }, "\(plans)")
  }

  @Test func ofTheWebOurOwnReadersDecodeInProcess() async throws {
    let fixture = try Self.fixture(Self.helper)
    let plans = try await plans(["/jpeg-progressive.jpg", "/gif-still.gif"], fixture, Variant(size: PixelSize(16, 16)))
    #expect(plans.count == 2 && !plans.contains { $0.contains("helper") }, "\(plans)")
  }

  @Test func theUsersOwnFilesAreDecodedInProcess() async throws {
    let fixture = try Self.fixture(Self.helper)
    for name in ["jpeg-420.jpg", "png-rgb.png", "heic.heic"] {
      _ = try await fixture.pipeline.thumbnail(for: own(name))
    }
    await poll { fixture.recorder.kinds.filter { $0.plan != nil }.count >= 3 }
    #expect(!fixture.recorder.kinds.compactMap(\.plan).contains { $0.contains("helper") })
  }

  @Test(arguments: [
    Variant(size: PixelSize(100, 100)), Variant(size: PixelSize(16, 16)),
    Variant(size: PixelSize(90, 40), gravity: .attention), Variant(size: PixelSize(100, 100), format: .same),
    Variant(size: PixelSize(100, 100), metadata: .profile), Variant(size: PixelSize(600, 600), enlarges: true),
    Variant(size: PixelSize(100, 100), format: .webp, frames: .all), Variant(size: PixelSize(50, 50), light: .linear),
  ])
  func whatAHelperMakesIsWhatIsMadeInProcess(_ variant: Variant) async throws {
    let fixture = try Self.fixture(Self.helper)
    for name in try FileManager.default.contentsOfDirectory(atPath: TestImages.url("formats").path) {
      let (here, there) = (self.fixture.request("/\(name)"), fixture.request("/\(name)"))
      let expected = try? await self.fixture.pipeline.thumbnail(
        for: ThumbnailRequest(here.source, variant: variant))
      let found = try? await fixture.pipeline.thumbnail(for: ThumbnailRequest(there.source, variant: variant))
      #expect(expected == found, "\(name)")
    }
  }

  @Test func whatAHelperMadeIsCached() async throws {
    let fixture = try Self.fixture(Self.helper)
    _ = try await fixture.pipeline.thumbnail(for: own("bmp.bmp"))
    #expect(try await fixture.pipeline.response(for: own("bmp.bmp")).origin == .memory)
    #expect(try await fixture.restarted().response(for: own("bmp.bmp")).origin == .disk)
  }

  @Test func aHangingPictureIsAnErrorThatSaysWhatToDo() async throws {
    var isolation = Self.helper
    // Long enough for a good picture on a busy machine.
    isolation.deadline = .seconds(6)
    let fixture = try Self.fixture(isolation)
    let file = fixture.directory.url.appendingPathComponent("endless.svg")
    try Data(HelperBench.endless).write(to: file)
    let request = ThumbnailRequest(.file(at: file.path), variant: Variant(size: PixelSize(40, 40)))
    let error = await error(request, fixture)
    #expect(error?.code == "decoder-failed")
    #expect(error?.message.contains("(isolation.deadline)") == true, "\(error.map { "\($0)" } ?? "")")
    #expect(try await fixture.pipeline.thumbnail(for: own("pnm.ppm")).size == PixelSize(40, 30))
  }

  @Test(arguments: [
    (DecodeIsolation.Formats.unsafeOnly, 0, Duration.seconds(1)), (.all, 1 << 30, .milliseconds(1)),
    (.all, 1 << 60, .seconds(1)), (.unsafeOnly, 1 << 30, .seconds(1_000_000)),
  ])
  func valuesWithoutSenseAreRefused(formats: DecodeIsolation.Formats, memory: Int, deadline: Duration) throws {
    var isolation = DecodeIsolation.helper(executable: HelperBench.executable, formats: formats)
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
      (DecodeIsolation.none, ["a.jpg"]), (Self.helper, ["a.jpg", "b.svg", "c.SVGZ", "d.pdf", "f.j2k", "g.cur"]),
    ] {
      let provider = try ProviderSpecification.folder(path: folder.url.path)
        .provider(for: Self.fixture(isolation).pipeline, environment: [:])
      #expect(try await provider.search(PhotoQuery(""), at: nil).photos.map(\.id) == expected)
    }
  }
}

extension PipelineEvent.Kind {
  /// The description of a plan.
  fileprivate var plan: String? { if case .planned(let description, _) = self { description } else { nil } }
}
