@testable import HTTPTransport
@testable import PhotoSources
@testable import PipelineTestSupport
@testable import Thumbnailer

/// Pictures whose server falls silent, among others that come. With a patience of a few milliseconds where the time plays
/// no part.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StragglerTests {
  /// How a picture falls silent.
  enum Silence: CaseIterable, CustomTestStringConvertible {
    case beforeTheHead, afterTheHead, inTheBody

    var testDescription: String { "\(self)" }

    func response(_ picture: Data, until gate: Gate) -> OriginResponse {
      switch self {
      case .beforeTheHead: .ok(picture).held(by: gate)
      case .afterTheHead: .ok(picture).stalling(after: 0, until: gate)
      case .inTheBody: .ok(picture).stalling(after: picture.count / 2, until: gate)
      }
    }
  }

  /// A list of pictures in pages of ten.
  private struct Pages: PhotoProvider {
    let name = "pages"
    let capabilities = ProviderCapabilities(searches: true, picksRandom: false)
    let origin: Origin
    let count: Int
    let asked = Recorder<Int>()

    func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
      let first = cursor.flatMap { Int($0.token) } ?? 0
      asked.append(first / 10 + 1)
      let photos = (first..<min(first + 10, count)).map { number in
        Photo(id: "\(number)", provider: name, source: ImageSource(origin.url("/\(number)")))
      }
      return PhotoPage(photos: photos, next: first + 10 < count ? PageCursor("\(first + 10)") : nil)
    }

    func random(count: Int) async throws(ProviderError) -> [Photo] { [] }
  }

  private func fixture(
    silent: Set<Int>, as silence: Silence, until gate: Gate,
    configuring configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) throws -> PipelineFixture {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    return try PipelineFixture(configuring: {
      $0.silence = SilencePolicy()
      // Real time: only has to pass. Others that are as late on a busy machine come as well.
      $0.silence.timeout = .milliseconds(500)
      // However busy the machine is, what is silent is so until the gate opens.
      $0.stallTimeout = .seconds(200)
      configure(&$0)
    }) { request in
      silent.contains(Int(request.path.dropFirst()) ?? -1)
        ? silence.response(picture, until: gate) : .ok(picture)
    }
  }

  /// Makes thumbnails, and notes the numbers of those that are done.
  private func make(
    _ requests: [ThumbnailRequest], with fixture: PipelineFixture, window: Int? = nil
  ) -> (done: Recorder<Int>, run: Task<Void, Never>) {
    let done = Recorder<Int>()
    let run = Task {
      for await (request, result) in fixture.pipeline.thumbnails(for: requests, window: window)
      where (try? result.get()) != nil {
        done.append(requests.firstIndex { $0.source == request.source } ?? -1)
      }
    }
    return (done, run)
  }

  @Test(arguments: Silence.allCases)
  func twentySilentPicturesHoldBackNothingButThemselves(_ silence: Silence) async throws {
    // Given twenty silent pictures among a hundred, at the beginning and further on
    let gate = Gate()
    let silent = Set(Array(0..<8) + [15, 16, 17, 31, 40, 41, 42, 43, 55, 67, 78, 99])
    let fixture = try fixture(silent: silent, as: silence, until: gate)
    let pages = Pages(origin: fixture.origin, count: 100)
    let prefetch = QueryPrefetch(
      provider: pages, query: "", pipeline: fixture.pipeline, variants: [Variant(size: PixelSize(40, 40), fit: .cover)],
      limits: .init(pages: nil))
    let done = Recorder<Int>()
    let run = Task {
      for try await case .photo(let photo) in prefetch where photo.firstError == nil {
        done.append(Int(photo.photo.id) ?? -1)
      }
    }
    // Then all others come, while these are still out
    await poll { done.values.count == 80 }
    #expect(Set(done.values).isDisjoint(with: silent))
    #expect(pages.asked.values == Array(1...10))
    await poll { fixture.pipeline.silentDownloads.values.reduce(0, +) == 20 }
    #expect(fixture.pipeline.activeJobs == 20)
    #expect(fixture.origin.maximumSimultaneousRequests <= 6 + 32)
    // And these just go on when their server does.
    gate.open()
    try await run.value
    #expect(Set(done.values) == Set(0..<100))
    #expect(fixture.origin.requests.count == 100)
    #expect(fixture.pipeline.silentDownloads.isEmpty)
    await poll { fixture.pipeline.stages.downloader.activeDownloads == 0 }
  }

  @Test func moreSilentPicturesThanCanBeLentArePutOffAndTriedAgainAfterTheOthers() async throws {
    let gate = Gate()
    let silent = Set((0..<150).filter { $0 % 3 != 0 })
    let fixture = try fixture(silent: silent, as: .beforeTheHead, until: gate)
    let requests = (0..<150).map { fixture.request("/\($0)", priority: .prefetch) }
    let (done, run) = make(requests, with: fixture, window: 20)
    let most = Counter()
    await poll {
      most.raise(to: fixture.pipeline.stages.downloader.activeDownloads)
      return done.values.count == 50
    }
    #expect(Set(done.values).isDisjoint(with: silent))
    #expect(most.value <= 6 + 32)
    gate.open()
    await run.value
    #expect(done.values.count == 150)
    // Of some that were silent it was asked twice.
    #expect(fixture.origin.requests.count > 150)
  }

  @Test func lentTransfersTakeNoneOfTheMemoryForBodies() async throws {
    // Given room for sixteen bodies, and as many silent pictures as may be at once
    let gate = Gate()
    let silent = Set((0..<60).filter { $0 % 3 != 0 })
    let fixture = try fixture(silent: silent, as: .inTheBody, until: gate) {
      $0.memoryBudget = .mebibytes(16)
      $0.jobs = 1
    }
    let requests = (0..<60).map { fixture.request("/\($0)", priority: .prefetch) }
    let (done, run) = make(requests, with: fixture)
    // Then the others find memory for theirs.
    await poll { done.values.count == 20 }
    gate.open()
    await run.value
    #expect(done.values.count == 60)
    let bodies = try #require(fixture.pipeline.stages.downloader.bodyMemory)
    await poll { bodies.used == 0 }
  }

  @Test func cancellingEndsTheSilentOnesToo() async throws {
    let gate = Gate()
    let fixture = try fixture(silent: Set(0..<30), as: .beforeTheHead, until: gate)
    let requests = (0..<40).map { fixture.request("/\($0)", priority: .prefetch) }
    let run = Task { for await _ in fixture.pipeline.thumbnails(for: requests) {} }
    await poll { fixture.pipeline.silentDownloads.values.reduce(0, +) >= 12 }
    run.cancel()
    await run.value
    await poll { fixture.pipeline.activeJobs == 0 && fixture.origin.runningRequests == 0 }
    await poll { fixture.pipeline.silentDownloads.isEmpty && fixture.pipeline.stages.downloader.activeDownloads == 0 }
  }
}
