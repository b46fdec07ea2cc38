@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import PipelineTestSupport
@testable import Thumbnailer

/// Pictures whose decode takes more than all decodes may take together.
@Suite(.timeLimit(.minutes(5))) struct DecodeAloneTests {
  /// Takes about 14 MiB, more than the 12 MiB that a budget of 16 MiB leaves to decodes.
  private let dear = Variant(size: PixelSize(1000, 700), fit: .cover, format: .avif, effort: 0)
  private let cheap = Variant(size: PixelSize(100, 100), fit: .cover, format: .jpeg)

  private func fixture(_ configure: (inout ThumbnailPipeline.Configuration) -> Void) throws -> PipelineFixture {
    let picture = try TestImages.bytes("gallery/alps/spring-meadow.jpg")
    return try PipelineFixture(configuring: {
      $0.jobs = 2
      configure(&$0)
    }) { _ in .ok(picture) }
  }

  private func outcomes(
    _ fixture: PipelineFixture, _ variants: [Variant]
  ) async -> [Result<ThumbnailResponse, ThumbnailError>] {
    await fixture.pipeline.responses(for: ImageSource(fixture.origin.url("/a.jpg")), variants: variants)
  }

  @Test func whatIsBeyondTheBudgetIsDecodedAloneInAHelper() async throws {
    let fixture = try fixture {
      $0.memoryBudget = .mebibytes(16)
      $0.isolation = .helper(executable: HelperBench.executable)
      $0.isolation.memoryLimit = .mebibytes(512)
    }
    #expect(try await outcomes(fixture, [dear])[0].get().thumbnail.format == .avif)
    #expect(try await outcomes(fixture, [cheap])[0].get().thumbnail.format == .jpeg)
  }

  @Test func withoutAHelperItRunsAloneWhereTheBudgetIsTheDefault() async throws {
    let fixture = try fixture {
      $0.memoryCacheLimit = .gibibytes(1 << 20)
      $0.freeMemory = { 64 << 20 }
    }
    // A memory cache without bounds leaves the least budget.
    #expect(fixture.pipeline.configuration.memoryBudget == .mebibytes(16))
    #expect(try await outcomes(fixture, [dear])[0].get().thumbnail.format == .avif)
  }

  @Test func aBudgetThatWasSetHoldsWhereThereIsNoHelper() async throws {
    let fixture = try fixture {
      $0.memoryBudget = .mebibytes(16)
      $0.freeMemory = { 1 << 40 }
    }
    guard case .failure(.tooLarge(let reason)) = await outcomes(fixture, [dear])[0] else {
      Issue.record("it should be refused")
      return
    }
    #expect(reason.contains("MiB that a picture may take; raise the budget (memoryBudget)"))
  }

  @Test func whatNoWayCanReadIsRefusedWithItsNumber() async throws {
    let fixture = try fixture {
      $0.memoryBudget = .mebibytes(16)
      $0.isolation = .helper(executable: HelperBench.executable)
      $0.isolation.memoryLimit = .mebibytes(64)
    }
    let enormous = Variant(size: PixelSize(2900, 1900), fit: .cover, format: .avif)
    guard case .failure(.tooLarge(let reason)) = await outcomes(fixture, [enormous])[0] else {
      Issue.record("it should be refused")
      return
    }
    #expect(reason.contains("more than the 64.0 MiB that a picture may take"))
    #expect(reason.contains("raise the helper's limit (isolation.memoryLimit)"))
  }

  @Test func memoryThatIsNotFreeIsAFailureOfTheMomentAndSparesTheOtherSizes() async throws {
    let free = Recorder<Int>()
    let fixture = try fixture {
      $0.memoryCacheLimit = .gibibytes(1 << 20)
      $0.freeMemory = { free.values.last ?? 1 << 20 }
    }
    let results = await outcomes(fixture, [dear, cheap])
    guard case .failure(.memoryUnavailable(let reason)) = results[0] else {
      Issue.record("it should be refused: \(results[0])")
      return
    }
    #expect(reason.contains("of memory are free"))
    #expect(try results[1].get().thumbnail.format == .jpeg)
    // It is not remembered.
    free.append(64 << 20)
    #expect(try await outcomes(fixture, [dear])[0].get().thumbnail.format == .avif)
  }

  @Test func itRunsAloneAndOthersGoOnAfterwards() async throws {
    let fixture = try fixture {
      $0.memoryCacheLimit = .gibibytes(1 << 20)
      $0.freeMemory = { 64 << 20 }
    }
    let requests = (0..<6).map { number in
      ThumbnailRequest(ImageSource(fixture.origin.url("/\(number)")), variant: number.isMultiple(of: 2) ? dear : cheap)
    }
    var made = 0
    for await (_, result) in fixture.pipeline.thumbnails(for: requests, window: 6) where (try? result.get()) != nil {
      made += 1
    }
    #expect(made == 6)
  }

  @Test func aHelperTakesSomethingItself() {
    var configuration = ThumbnailPipeline.Configuration()
    let budget = MemoryBudget(total: 64 << 20, downloads: 1, jobs: 2)
    configuration.isolation.memoryLimit = .mebibytes(100)
    let confined = DecodeAdmission(configuration, budget: budget)
    #expect(confined.most == 100 << 20)
    #expect(confined.admits(90 << 20, free: 109 << 20) && !confined.admits(90 << 20, free: 108 << 20))
    #expect(!confined.admits(101 << 20, free: 1 << 40))
    configuration.isolation = .inProcess
    let inProcess = DecodeAdmission(configuration, budget: budget)
    #expect(inProcess.admits(90 << 20, free: 93 << 20) && !inProcess.admits(90 << 20, free: 92 << 20))
    // A budget that was set holds.
    configuration.memoryBudget = .mebibytes(64)
    #expect(DecodeAdmission(configuration, budget: budget).most == budget.decodeShare)
  }

  @Test func inAContainerTheHelpersMemoryComesOutOfWhatThereIs() throws {
    var configuration = ThumbnailPipeline.Configuration()
    configuration.memoryCacheLimit = ByteSize(bytes: 0)
    configuration.isolation.memoryLimit = .mebibytes(64)
    let budget = MemoryBudget(total: 96 << 20, downloads: 1, jobs: 2)
    guard case .beside = HelperMemory(configuration, budget: budget, cgroupLimit: nil),
      case .budget = HelperMemory(configuration, budget: budget, cgroupLimit: 128 << 20),
      case .limited(let room) = HelperMemory(configuration, budget: budget, cgroupLimit: 256 << 20)
    else {
      Issue.record("another place")
      return
    }
    #expect(room.capacity == 128 << 20)
  }
}
