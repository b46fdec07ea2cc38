@testable import JPEGCoefficients

@testable import ImageCodec
@testable import PipelineTestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// Progressive pictures of which only the first scans are downloaded.
///
/// The picture has 160×120 pixels. So that transfers are seen to end, comments of some 100 KB follow the scans for 1/8
/// and those for 1/4.
@Suite(.timeLimit(.minutes(5))) struct EarlyStopPipelineTests {
  private let picture: [UInt8]
  private let eighth: Int
  private let quarter: Int
  private let small = PixelSize(8, 6)
  private let middle = PixelSize(16, 12)
  private let large = PixelSize(80, 60)

  init() throws {
    var bytes = [UInt8](try TestImages.bytes("formats/jpeg-progressive-444.jpg"))
    var watcher = ScanWatcher()
    bytes.withUnsafeBytes { watcher.feed($0) }
    let (first, second) = (watcher.sufficientLength(for: .eighth), watcher.sufficientLength(for: .quarter))
    (eighth, quarter) = (try #require(first), try #require(second) + 4 * 60_000)
    // A comment of 60,000 bytes and its marker.
    let comment: [UInt8] = [0xFF, 0xFE, 0xEA, 0x5E] + [UInt8](repeating: 32, count: 59_996)
    for position in [quarter - 4 * 60_000, eighth] {
      let count = position == eighth ? 4 : 5
      bytes.insert(contentsOf: Array(repeating: comment, count: count).joined(), at: position - 2)
    }
    picture = bytes
  }

  @Test func theTransferEndsWithTheScansThatAreNeeded() async throws {
    // More never comes.
    let fixture = try PipelineFixture { [picture] _ in .ok(picture).stalling(after: 100_000) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a", small))
    #expect((eighth...100_000).contains(response.downloadedBytes))
    #expect(response.bytesLeft == picture.count - response.downloadedBytes)
    #expect(response.thumbnail.source.byteCount == picture.count)
    #expect(fixture.pipeline.statistics.downloadedBytes == response.downloadedBytes)
    #expect(fixture.pipeline.statistics.bytesLeft == response.bytesLeft)
    await poll { fixture.origin.requests.first?.outcome == .clientClosed }
    await poll {
      fixture.recorder.kinds.contains { if case .downloaded(_, _, false, _, _, _) = $0 { true } else { false } }
    }

    let whole = ThumbnailRequest(.data(Data(picture)), variant: Variant(size: small, fit: .cover))
    #expect(try await fixture.pipeline.thumbnail(for: whole).data == response.thumbnail.data)
  }

  @Test func aLargerSizeThatJoinsMeanwhileMovesTheEnd() async throws {
    for (joins, least) in [(middle, quarter), (large, picture.count)] {
      let gate = Gate()
      let fixture = try PipelineFixture { [picture] _ in .ok(picture).stalling(after: 500, until: gate) }
      async let first = fixture.pipeline.response(for: fixture.request("/a", small))
      await poll { fixture.pipeline.statistics.downloadedBytes == 500 }
      async let second = fixture.pipeline.response(for: fixture.request("/a", joins))
      await poll { fixture.pipeline.statistics.joins == 1 }
      gate.open()
      #expect(try await [first.thumbnail.size, second.thumbnail.size] == [small, joins])
      #expect(try await second.downloadedBytes >= least)
      #expect(fixture.origin.requests.count == 1 && fixture.pipeline.statistics.decodes == 1)
    }
  }

  @Test func aLargerSizeThatLeavesMovesTheEndBack() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { [picture] _ in .ok(picture).stalling(after: 500, until: gate) }
    async let first = fixture.pipeline.response(for: fixture.request("/a", small))
    await poll { fixture.pipeline.statistics.downloadedBytes == 500 }
    let second = Task { try await fixture.pipeline.thumbnail(for: fixture.request("/a", large)) as Thumbnail }
    await poll { fixture.pipeline.statistics.joins == 1 }
    second.cancel()
    #expect(await failure(of: second) == .cancelled)
    gate.open()
    #expect(try await first.bytesLeft > 0)
  }

  @Test func whatAStoppedBodyDoesNotHoldTakesTheWholeBody() async throws {
    let origin = try Origin { [picture] _ in .ok(picture) }
    let directory = try TemporaryDirectory()
    let configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    let stages = PipelineStages(configuration)
    let job = JobContext(
      ImageSource(origin.url()), priority: PriorityControl(.visible), demand: [Variant(size: small, fit: .cover)])
    let loader = stages.loader(of: job.source)
    var body = try await loader.load(for: job, isWhole: false, insteadOf: nil)
    #expect(!body.isComplete && body.bytesLeft > 0)
    for size in [middle, large] {
      let variants = [Variant(size: size, fit: .cover), Variant(size: small, fit: .cover)]
      guard
        case .needsWholeBody = try await stages.renderer.render(
          variants, from: &body, for: job, isUpToDate: { true })
      else {
        Issue.record("\(size) was made of a body that does not hold it")
        return
      }
    }
    guard
      case .done = try await stages.renderer.render(
        [Variant(size: small, fit: .cover)], from: &body, for: job, isUpToDate: { true })
    else {
      Issue.record("what it was stopped for is not made of it")
      return
    }
    let spent = body.release()
    var whole = try await loader.load(for: job, isWhole: true, insteadOf: spent)
    #expect(whole.isComplete && whole.downloadedBytes == spent.downloadedBytes + picture.count)
    #expect(stages.monitor.statistics.bytesLeft == 0 && stages.monitor.statistics.downloads == 2)
    guard
      case .done(let made, _) = try await stages.renderer.render(
        [Variant(size: large, fit: .cover)], from: &whole, for: job, isUpToDate: { true })
    else {
      Issue.record("the whole body is not enough")
      return
    }
    #expect(try made.map { try $0.result.get().size } == [large])
  }

  @Test func whoeverJoinsAtAnyMomentGetsTheSizeAskedFor() async throws {
    let fixture = try PipelineFixture(configuring: { $0.memoryCacheLimit = ByteSize(bytes: 0) }) { [picture] _ in
      .ok(picture)
    }
    for round in 0..<30 {
      async let first = fixture.pipeline.thumbnail(for: fixture.request("/\(round)", small))
      // From before the transfer to after the decode, as chance will have it.
      await poll { fixture.pipeline.statistics.downloadedBytes > 0 || round % 3 == 0 }
      for _ in 0..<(round * round) { await Task.yield() }
      async let second = fixture.pipeline.thumbnail(for: fixture.request("/\(round)", middle))
      #expect(try await [first.size, second.size] == [small, middle])
      #expect(fixture.origin.requests(for: "/\(round)").count <= 2)
    }
  }

  // MARK: Files that are not what they seem

  @Test func aFileThatIsHandedOverIsFetchedWholeAndReadByLibvips() async throws {
    let file = try padded(repeatingFirstScan: true)
    let fixture = try PipelineFixture { _ in .ok(file) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a", PixelSize(20, 15)))
    #expect(response.thumbnail.size == PixelSize(20, 15))
    #expect(fixture.origin.requests.count == 2)
    #expect(response.downloadedBytes > file.count && response.bytesLeft == 0)
    #expect(fixture.pipeline.statistics.bytesLeft == 0)
    // A second one over a kept connection, and a short rest: nothing is fetched twice.
    let short = Array(file.prefix(100_000))
    let other = try PipelineFixture { _ in .ok(short) }
    _ = try await other.pipeline.response(for: other.request("/a", PixelSize(20, 15)))
    #expect(other.origin.requests.count == 1)
  }

  @Test func manyThatAreFetchedWholeAfterAllDoNotWaitForEachOther() async throws {
    let file = try padded(repeatingFirstScan: true)
    // There is room for three bodies: whoever held one while waiting would hold up who has the slot.
    let fixture = try PipelineFixture(
      configuring: {
        ($0.downloads, $0.jobs, $0.memoryBudget) = (1, 1, .mebibytes(16))
      }, answer: { _ in .ok(file) })
    let requests = (0..<8).map { fixture.request("/\($0)", PixelSize(20, 15)) }
    for await (_, result) in fixture.pipeline.thumbnails(for: requests) { _ = try result.get() }
    #expect(fixture.origin.requests.count == 16)
  }

  @Test func aScanThatIsNotWholeIsAnErrorAndNotAGreyPicture() async throws {
    let file = try padded(repeatingFirstScan: false, cuttingFirstScanTo: 30)
    let fixture = try PipelineFixture { _ in .ok(file) }
    #expect(await fixture.pipeline.failure(fixture.request("/a", PixelSize(20, 15)))?.code == "damaged")
    #expect((1...2).contains(fixture.origin.requests.count))
  }

  /// A file of 160×120 whose DC comes in one scan for each component, with half a megabyte of nothing at its end.
  private func padded(repeatingFirstScan: Bool, cuttingFirstScanTo length: Int? = nil) throws -> [UInt8] {
    let bytes = [UInt8](try TestImages.bytes("formats/jpeg-progressive-separate-dc.jpg"))
    let isMarker = { (index: Int, marker: UInt8) in bytes[index] == 0xFF && bytes[index + 1] == marker }
    let start = try #require((0..<bytes.count - 1).first { isMarker($0, 0xDA) })
    let end = try #require((start + 10..<bytes.count - 1).first { bytes[$0] == 0xFF && bytes[$0 + 1] != 0 })
    var scan = Array(bytes[start..<end])
    if let length { scan = Array(scan.prefix(10 + length)) }
    if repeatingFirstScan { scan += scan }
    let padding = [UInt8](repeating: 0, count: 500_000)
    return bytes[..<start] + scan + bytes[end...] + padding
  }
}
