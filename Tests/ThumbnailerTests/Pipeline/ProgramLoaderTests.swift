@testable import PipelineTestSupport
@testable import Thumbnailer

/// Images in memory, and those that a program loads itself.
@Suite(.timeLimit(.minutes(5))) struct ProgramLoaderTests {
  private let fixture: PipelineFixture
  private let picture: Data

  init() throws {
    fixture = try PipelineFixture { _ in .status(404) }
    picture = try TestImages.bytes("formats/jpeg-420.jpg")
  }

  private var pipeline: ThumbnailPipeline { fixture.pipeline }

  private func request(_ source: ImageSource, _ size: PixelSize = PixelSize(40, 40)) -> ThumbnailRequest {
    ThumbnailRequest(source, variant: Variant(size: size, fit: .cover))
  }

  private func error(_ request: ThumbnailRequest) async -> ThumbnailError? {
    await pipeline.failure(request)
  }

  @Test(arguments: ["loader:private", "data:private"])
  func aForeignURLDoesNotFindTheProgramsOwnImageInTheCaches(address: String) async throws {
    for source in [ImageSource.loaded(by: Album(picture), identity: "private"), .data(picture, identity: "private")] {
      _ = try await pipeline.thumbnail(for: request(source))
    }
    let foreign = ImageSource(try #require(URL(string: address)))
    #expect(await error(request(foreign))?.code == "unsupported-source")
  }

  @Test(arguments: ["formats/jpeg-420.jpg", "formats/png-gray-16.png", "formats/heic.heic"])
  func anImageInMemoryIsMadeIntoTheSameThumbnailAsItsFile(name: String) async throws {
    let url = TestImages.url(name)
    let bytes = try Data(contentsOf: url)
    let made = try await pipeline.response(for: request(.data(bytes)))
    let fromFile = try await pipeline.response(for: request(.file(at: url.path)))
    #expect(made.thumbnail == fromFile.thumbnail && made.origin == .source && made.isStored)
    #expect(fixture.origin.requests.isEmpty)
  }

  @Test func imagesInMemoryAreToldApartByTheirBytesOrTheirName() throws {
    let other = try TestImages.bytes("formats/jpeg-gray.jpg")
    #expect(ImageSource.data(picture) == .data(picture))
    #expect(ImageSource.data(picture) != .data(other))
    #expect(ImageSource.data(picture, identity: "a") == .data(other, identity: "a"))
    #expect(ImageSource.data(picture, identity: "a") != .loaded(by: Album(picture), identity: "a"))
    #expect(ImageSource.data(picture, identity: "my photo/ä").url.scheme == "data")
  }

  @Test func whatIsStoredIsNotLoadedAgain() async throws {
    let album = Album(picture)
    let source = ImageSource.loaded(by: album, identity: "7, revision 1")
    #expect(try await pipeline.response(for: request(source)).origin == .source)
    #expect(try await pipeline.response(for: request(source)).origin == .memory)
    let restarted = try await fixture.restarted()
    #expect(try await restarted.response(for: request(source)).origin == .disk)
    #expect(album.loads == 1)
    let changed = ImageSource.loaded(by: album, identity: "7, revision 2")
    #expect(try await restarted.response(for: request(changed)).origin == .source)
    #expect(album.loads == 2)
  }

  @Test func requestsOfOneImageShareOneLoad() async throws {
    let latch = AsyncStream.makeStream(of: Void.self)
    let album = Album(picture) { for await _ in latch.stream {} }
    let source = ImageSource.loaded(by: album, identity: "7")
    async let first = pipeline.thumbnail(for: request(source))
    await poll { album.loads == 1 }
    async let second = pipeline.thumbnail(for: request(source, PixelSize(20, 20)))
    await poll { pipeline.statistics.joins == 1 }
    latch.continuation.finish()
    _ = try await (first, second)
    #expect(album.loads == 1 && pipeline.statistics.decodes == 1)
  }

  @Test func piecesAreTakenUntilTheThumbnailCanBeMade() async throws {
    let progressive = try TestImages.bytes("formats/jpeg-progressive.jpg")
    let pieces = Pieces(progressive, length: 500)
    let source = ImageSource.loaded(by: pieces, identity: "progressive")
    let response = try await pipeline.response(for: request(source, PixelSize(8, 8)))
    #expect(response.thumbnail.source.byteCount == progressive.count)
    #expect(response.downloadedBytes + response.bytesLeft == progressive.count)
    #expect(pieces.given <= progressive.count + 500)
  }

  @Test func aLargeImageGoesToASpillFile() async throws {
    // What follows the image counts among its bytes, which tell how smooth it is; for this size all of it is read anyway.
    let large = picture + Data(count: 3 << 20)
    func made(_ bytes: Data) async throws -> Thumbnail {
      try await pipeline.thumbnail(
        for: ThumbnailRequest(.data(bytes), variant: Variant(size: PixelSize(100, 100), fit: .cover)))
    }
    let (made, plain) = (try await made(large), try await made(picture))
    #expect(made.data == plain.data)
    await poll { pipeline.bytesInFlight == 0 }
  }

  @Test func limitsHoldAndWhatIsNoImageIsRefused() async throws {
    var limited = request(.data(picture))
    limited.options.maximumSourceBytes = ByteSize(bytes: 100)
    #expect(await error(limited)?.code == "too-large")
    #expect(await error(request(.data(Data("<html>".utf8))))?.code == "not-a-picture")
    #expect(await error(request(.data(Data())))?.code == "not-a-picture")
    let endless = ImageSource.loaded(by: Pieces(picture, length: 1000, isEndless: true), identity: "endless")
    var bounded = request(endless)
    bounded.options.maximumSourceBytes = ByteSize(bytes: 1 << 20)
    #expect(await error(bounded)?.code == "too-large")
  }

  @Test func errorsOfTheProgramReachTheRequest() async throws {
    struct Lost: Error {}
    let lost = Album(picture) { throw Lost() }
    let unknown = await error(request(.loaded(by: lost, identity: "lost")))
    #expect(unknown?.code == "unreachable" && unknown?.message.contains("Lost") == true)
    let missing = Album(picture) { throw ThumbnailError.notFound(reason: "not in the album") }
    #expect(await error(request(.loaded(by: missing, identity: "missing"))) == .notFound(reason: "not in the album"))
    // Nothing of that is cached: only the program knows whether it would be the same again.
    #expect(await error(request(.loaded(by: missing, identity: "missing"))) == .notFound(reason: "not in the album"))
    #expect(missing.loads == 2)
  }

  @Test func whenNobodyWaitsAnyMoreTheLoadIsCancelled() async throws {
    let cancelled = Recorder<Bool>()
    let album = Album(picture) {
      await untilCancelled()
      cancelled.append(Task.isCancelled)
      throw CancellationError()
    }
    let source = ImageSource.loaded(by: album, identity: "7")
    let waiting = Task { [pipeline] in try await pipeline.thumbnail(for: request(source)) }
    await poll { album.loads == 1 }
    waiting.cancel()
    #expect(await failure(of: waiting) == .cancelled)
    await poll { cancelled.values == [true] }
  }

  @Test func offlineOnlyWhatIsOnThisMachineIsLoaded() async throws {
    var remote = request(.loaded(by: Album(picture), identity: "7"))
    remote.options.cacheMode = .offline
    #expect(await error(remote) == .notCached)
    var local = request(.data(picture))
    local.options.cacheMode = .offline
    #expect(try await pipeline.response(for: local).origin == .source)
  }

  @Test func thePriorityIsPassedOn() async throws {
    let album = Album(picture)
    var prefetch = request(.loaded(by: album, identity: "7"))
    prefetch.priority = .prefetch
    _ = try await pipeline.thumbnail(for: prefetch)
    #expect(album.asked.first?.priority == .prefetch && album.asked.first?.identity == "loader 7")
    #expect(album.asked.first?.byteLimit == pipeline.configuration.maximumSourceBytes.bytes)
  }
}

/// Loads one image, after something else if a test wants that.
private final class Album: ImageLoading {
  private let data: Data
  private let before: @Sendable () async throws -> Void
  private let requests = Recorder<ImageLoadRequest>()

  init(_ data: Data, before: @escaping @Sendable () async throws -> Void = {}) {
    (self.data, self.before) = (data, before)
  }

  var asked: [ImageLoadRequest] { requests.values }
  var loads: Int { requests.values.count }

  func load(_ request: ImageLoadRequest) async throws -> LoadedImage {
    requests.append(request)
    try await before()
    return LoadedImage(data)
  }
}

/// Loads one image in pieces, without an end if a test wants that.
private final class Pieces: ImageLoading {
  private let data: Data
  private let length: Int
  private let isEndless: Bool
  private let position = Mutex(0)

  init(_ data: Data, length: Int, isEndless: Bool = false) {
    (self.data, self.length, self.isEndless) = (data, length, isEndless)
  }

  /// The bytes given so far.
  var given: Int { position.withLock { $0 } }

  func load(_ request: ImageLoadRequest) -> LoadedImage {
    let pieces = AsyncStream { [self] in
      let start = position.withLock { position in
        defer { position += length }
        return position
      }
      if start < data.count { return data.dropFirst(start).prefix(length) }
      return isEndless ? Data(count: length) : nil
    }
    return LoadedImage(expectedLength: isEndless ? nil : data.count, pieces: pieces)
  }
}
