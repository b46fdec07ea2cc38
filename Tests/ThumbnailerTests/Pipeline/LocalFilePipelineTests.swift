@testable import DecodeSandbox
import Glibc
@testable import PipelineTestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// Local files on the way of a request.
@Suite(.timeLimit(.minutes(5))) struct LocalFilePipelineTests {
  private let directory: TemporaryDirectory
  private let pipeline: ThumbnailPipeline
  private let recorder = EventRecorder()

  init() throws {
    directory = try TemporaryDirectory()
    let configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url.appending(path: "cache"))
    pipeline = try ThumbnailPipeline(configuration)
    recorder.follow(pipeline)
  }

  @Test func aFileIsReadInPlaceWithoutADownload() async throws {
    let path = TestImages.url("formats/jpeg-420.jpg").path
    let response = try await pipeline.response(for: request(path))
    #expect(response.thumbnail.size == PixelSize(40, 30) && response.origin == .source)
    #expect(response.downloadedBytes == response.thumbnail.source.byteCount && response.bytesLeft == 0)
    #expect(pipeline.statistics.downloads == 0)
    await poll { recorder.kinds.contains { if case .opened(response.downloadedBytes) = $0 { true } else { false } } }
    let isDownloaded = recorder.kinds.contains { if case .downloaded = $0 { true } else { false } }
    #expect(!isDownloaded)
  }

  /// What a lane makes of the file.
  private func made(_ sides: [Int], _ cancellation: CancellationFlag = CancellationFlag()) async throws -> [PixelSize] {
    let source = ImageSource.file(at: TestImages.url("formats/jpeg-420.jpg").path)
    let variants = sides.map { Variant(size: PixelSize($0, $0)) }
    return try await pipeline.lanes.run { [pipeline] _ in
      Result { () throws(ThumbnailError) in
        try pipeline.decode(source, for: variants, cancellation: cancellation) {}().thumbnails.map { $0.size }
      }
    }.get()
  }

  @Test func aLaneMakesThumbnailsOfAFileWithoutAJob() async throws {
    #expect(try await made([40, 20]) == [PixelSize(40, 30), PixelSize(20, 15)])
    #expect(pipeline.statistics.decodes == 1 && pipeline.statistics.rendered == 0)
  }

  @Test func aLaneWaitsForMemoryUntilItIsCancelled() async throws {
    let memory = pipeline.stages.runner.memory
    let held = memory.reserveFree()
    let cancellation = CancellationFlag()
    async let first = made([40])
    let second = Task { try await made([40], cancellation) }
    await poll { memory.waiting == 2 }
    cancellation.set()
    await #expect(throws: ThumbnailError.cancelled) { try await second.value }
    held.release()
    let sizes = try await first
    #expect(sizes == [PixelSize(40, 30)])
  }

  /// Has a lane make two pictures, the second of which it begins before the first one is encoded.
  ///
  /// - Parameters:
  ///   - first: Called when the first one is decoded.
  ///   - second: Called when the first one is encoded, before the second one is decoded.
  private func makeTwo(first: @escaping @Sendable () -> Void, second: @escaping @Sendable () -> Void) async throws {
    let source = ImageSource.file(at: TestImages.url("formats/jpeg-420.jpg").path)
    let (variants, flag) = ([Variant(size: PixelSize(40, 40))], CancellationFlag())
    let sizes = try await pipeline.lanes.run { [pipeline] _ in
      Result { () throws(ThumbnailError) in
        var last: ThumbnailPipeline.FileEncoding? = pipeline.decode(source, for: variants, cancellation: flag) {}
        first()
        var sizes: [PixelSize] = []
        let next = pipeline.decode(source, for: variants, cancellation: flag) {
          sizes += (try? last.take()?().thumbnails.map(\.size)) ?? []
          second()
        }
        return sizes + (try next().thumbnails.map(\.size))
      }
    }.get()
    #expect(sizes == [PixelSize(40, 30), PixelSize(40, 30)])
  }

  @Test func aLaneEncodesTheLastPictureBeforeItWaitsForMemory() async throws {
    let held = Handover<WeightedSemaphore.Reservation>()
    // The first one's memory is all that the second one can get.
    try await makeTwo(first: { [pipeline] in held.value = pipeline.stages.runner.memory.reserveFree() }, second: {})
  }

  @Test func aLaneEncodesTheLastPictureWhileItsHelperDecodes() async throws {
    let helpers = try #require(pipeline.stages.runner.helpers)
    @Sendable func send(_ signal: Int32, to pids: [pid_t]) { for pid in pids { kill(pid, signal) } }
    try await makeTwo {
      send(SIGSTOP, to: helpers.waiting)
    } second: {
      send(SIGCONT, to: helpers.working)
    }
  }

  @Test func requestsThatJoinWhileTheFileWaitsForAWorkerShareItsDecode() async throws {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url.appending(path: "one"))
    configuration.jobs = 1
    configuration.isolation = .inProcess
    let pipeline = try ThumbnailPipeline(configuration)
    let (workers, gate) = (pipeline.stages.runner.workers, Latch())
    async let busy: Void = workers.run { _ in gate.wait() }
    await poll { workers.running == 1 }
    let source = ImageSource.file(at: TestImages.url("formats/jpeg-420.jpg").path)
    let sizes = [40, 20, 30].map { ThumbnailRequest(source, variant: Variant(size: PixelSize($0, $0), fit: .cover)) }
    let leaving = Task { try await pipeline.response(for: sizes[0]) }
    await poll { workers.waiting == 1 }
    async let second = pipeline.response(for: sizes[1])
    async let third = pipeline.response(for: sizes[2])
    await poll { pipeline.statistics.joins == 2 }
    leaving.cancel()
    await #expect(throws: (any Error).self) { try await leaving.value }
    gate.open()
    _ = try await (second, third, busy)
    // One decode of the two sizes that are still wanted.
    #expect(pipeline.statistics.decodes == 1 && pipeline.statistics.rendered == 2)
  }

  @Test func aDecodeThatIsTooLargeForTheFreeMemoryWaitsAfterTheHeader() async throws {
    let memory = pipeline.stages.runner.memory
    let held = memory.reserveFree()
    let request = request(TestImages.url("formats/jpeg-420.jpg").path)
    let response = Task { [pipeline] in try await pipeline.response(for: request) }
    await poll { memory.waiting == 1 }
    // Its listener is told a moment later.
    await poll { recorder.kinds.contains { if case .opened = $0 { true } else { false } } }
    #expect(pipeline.statistics.decodes == 0)
    held.release()
    #expect(try await response.value.thumbnail.size == PixelSize(40, 30))
    #expect(memory.used == 0 && pipeline.statistics.decodes == 1)
  }

  @Test func whatAHeldWorkerHasIsReturnedAfterAllRequestsAreCancelled() async throws {
    let (held, gate) = (Counter(), Latch())
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url.appending(path: "held"))
    configuration.jobs = 1
    configuration.processors = [
      ThumbnailProcessor("hold") { _ in
        held.increment()
        gate.wait()
      }
    ]
    let pipeline = try ThumbnailPipeline(configuration)
    let memory = pipeline.stages.runner.memory
    let names = (0..<8).map { "\(UUID())-\($0).jpg" }
    let tasks = try names.map { name in
      let path = directory.url.appending(path: name).path
      try TestImages.bytes("formats/jpeg-420.jpg").write(to: URL(fileURLWithPath: path))
      var variant = Variant(size: PixelSize(40, 40), fit: .contain)
      variant.processor = "hold"
      let request = ThumbnailRequest(.file(at: path), variant: variant)
      return Task { try await pipeline.response(for: request) }
    }
    await poll { held.value > 0 }
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: ThumbnailError.self) { try await task.value } }
    pipeline.jobs.cancelAll()
    #expect(memory.used > 0 && Self.openFiles(names) > 0)
    gate.open()
    await poll { memory.used == 0 && Self.openFiles(names) == 0 }
    #expect(pipeline.stages.bodyMemory.used == 0)
    _ = try await pipeline.response(for: request(TestImages.url("formats/jpeg-420.jpg").path))
  }

  /// How many descriptors of this process lead to files with these names.
  private static func openFiles(_ names: [String]) -> Int {
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return open.filter { number in
      guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)") else {
        return false
      }
      return names.contains { path.hasSuffix("/\($0)") }
    }.count
  }

  @Test func aFileURLThatTheProgramNamesIsRead() async throws {
    let file = directory.url.appending(path: "a b ü.jpg")
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: file)
    let request = ThumbnailRequest(file, size: PixelSize(40, 30))
    #expect(request.source.isUserFile && request.source == .file(at: file.path))
    #expect(try await pipeline.thumbnail(for: request).size == PixelSize(40, 30))
    // A source made of a stranger's URL still reads no file.
    let foreign = ThumbnailRequest(ImageSource(file), variant: request.variant)
    await #expect(throws: ThumbnailError.self) { try await pipeline.thumbnail(for: foreign) }
  }

  @Test func manyFilesAtOnceDoNotUseUpTheDescriptors() async throws {
    let bytes = try TestImages.bytes("formats/jpeg-420.jpg")
    let paths = (0..<300).map { directory.url.appending(path: "\($0).jpg").path }
    for path in paths { try bytes.write(to: URL(fileURLWithPath: path)) }
    var made = 0
    for await (_, result) in pipeline.thumbnails(for: paths.map { request($0) }, window: 300) {
      _ = try result.get()
      made += 1
    }
    #expect(made == 300 && pipeline.statistics.decodes == 300)
  }

  @Test(arguments: [("missing", "not-found"), ("folder", "refused"), ("pipe", "refused"), ("empty", "not-a-picture")])
  func whatIsNoPictureIsAnErrorOfItsOwn(name: String, code: String) async throws {
    let path = directory.url.appending(path: name).path
    switch name {
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    case "pipe": #expect(mkfifo(path, 0o600) == 0)
    case "empty": try Data().write(to: URL(fileURLWithPath: path))
    default: break
    }
    #expect(await pipeline.failure(request(path))?.code == code)
  }

  @Test func aFileBeyondTheLimitIsRefusedUnread() async throws {
    let path = directory.url.appending(path: "large.jpg").path
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: URL(fileURLWithPath: path))
    #expect(truncate(path, 300 << 20) == 0)
    #expect(await pipeline.failure(request(path))?.code == "too-large")
  }

  @Test func aFileThatChangesWhileItIsReadIsAnError() async throws {
    let path = directory.url.appending(path: "a.jpg").path
    try TestImages.bytes("formats/jpeg-420.jpg").write(to: URL(fileURLWithPath: path))
    let stages = PipelineStages(pipeline.configuration)
    let job = JobContext(.file(at: path), priority: PriorityControl(.visible))
    var body = try await stages.loader(of: job.source).load(for: job, isWhole: true, insteadOf: nil)
    try body.open()
    #expect(truncate(path, 1500) == 0)
    do throws(ThumbnailError) {
      _ = try await stages.renderer.render(
        [Variant(size: PixelSize(40, 40), fit: .cover)], from: &body, for: job, isUpToDate: { true })
      Issue.record("a thumbnail of a file that changed")
    } catch {
      #expect(error.message == "the file cannot be read: it changed while it was read")
    }
  }

  private func request(_ path: String) -> ThumbnailRequest {
    ThumbnailRequest(.file(at: path), variant: Variant(size: PixelSize(40, 40), fit: .contain))
  }
}
