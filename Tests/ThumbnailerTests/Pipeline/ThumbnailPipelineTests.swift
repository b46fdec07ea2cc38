@testable import HTTPSemantics
@testable import HTTPTransport
@testable import PipelineTestSupport
@testable import Thumbnailer

@Suite(.timeLimit(.minutes(5))) struct ThumbnailPipelineTests {
  @Test func aSecondRequestIsAnsweredFromMemoryAndAfterARestartFromDisk() async throws {
    let fixture = try PipelineFixture()
    let request = fixture.request()
    let fresh = try await fixture.pipeline.response(for: request)
    #expect(fresh.origin == .source)
    #expect(fresh.downloadedBytes > 1000)
    #expect(try await fixture.pipeline.response(for: request).origin == .memory)
    #expect(fixture.pipeline.cachedThumbnail(for: request.key) == fresh.thumbnail)
    let restarted = try await fixture.restarted()
    #expect(restarted.cachedThumbnail(for: request.key) == nil)
    let stored = try await restarted.response(for: request)
    #expect(stored.origin == .disk)
    #expect(stored.thumbnail == fresh.thumbnail)
    #expect(fixture.origin.requests.count == 1)
  }

  @Test func manyResultsComeInTheOrderOfCompletionEachWithItsOwnOutcome() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture {
      switch $0.path {
      case "/slow": .picture.held(by: gate)
      case "/missing": .status(404)
      default: .picture
      }
    }
    let requests = ["/slow", "/quick", "/missing"].map { fixture.request($0) }
    var order: [String] = []
    var failed: [String] = []
    for await (request, result) in fixture.pipeline.thumbnails(for: requests) {
      order.append(request.source.url.path)
      if case .failure(let error) = result { failed.append(error.code) }
      if order.count == 2 { gate.open() }
    }
    #expect(order.last == "/slow")
    #expect(order.count == 3)
    #expect(failed == ["not-found"])
  }

  @Test func aURLAndASizeAreEnoughForAThumbnail() async throws {
    let fixture = try PipelineFixture()
    let url = fixture.request().source.url
    let thumbnail = try await fixture.pipeline.thumbnail(for: url, size: 40)
    // All of the picture, as the commands show it.
    #expect(thumbnail.size == PixelSize(40, 30))
    #expect(fixture.pipeline.cachedThumbnail(for: ThumbnailRequest(url, size: PixelSize(40, 40)).key) == thumbnail)
  }

  /// As the shared one, if it cannot be set up.
  @Test func allRequestsOfAPipelineThatCannotBeSetUpFailWithTheReason() async throws {
    let directory = try TemporaryDirectory()
    let reason = ThumbnailError.invalidRequest(reason: "the process may open 3 files")
    let pipeline = ThumbnailPipeline(checked: .init(cacheDirectory: directory.url), error: reason)
    await #expect(throws: reason) { try await pipeline.thumbnail(for: TestImages.url("formats/png.png"), size: 40) }
    #expect(pipeline.statistics.failures == 1)
  }

  @Test func requestsAreTakenOnlyAsResultsAreTaken() async throws {
    let fixture = try PipelineFixture()
    let made = Counter()
    let request = fixture.request()
    let requests = sequence(state: 0) { (count: inout Int) -> ThumbnailRequest? in
      count += 1
      made.increment()
      return count <= 500 ? request : nil
    }
    var iterator = fixture.pipeline.thumbnails(for: requests, window: 10).makeAsyncIterator()
    for _ in 0..<20 { _ = try await iterator.next() }
    #expect(made.value <= 30)
  }

  @Test(arguments: [
    ("/missing", "not-found"), ("/page.jpg", "not-a-picture"), ("/empty", "not-a-picture"),
    ("/huge", "too-large"), ("/truncated", "damaged"), ("/svg", "unsupported-format"), ("/forbidden", "refused"),
    ("/busy", "rate-limited"), ("/broken", "server-failed"), ("/short", "unreachable"),
  ])
  func badAnswersAreErrorsOfTheirOwn(path: String, code: String) async throws {
    let files = [
      "/page.jpg": "broken/html-page.jpg", "/huge": "broken/claims-60000x60000.jpg",
      "/truncated": "broken/truncated-in-the-middle.jpg", "/svg": "formats/svg.svg",
    ]
    let fixture = try PipelineFixture { request in
      switch request.path {
      case "/missing": return .status(404)
      case "/forbidden": return .status(403)
      case "/busy": return .tooManyRequests(retryAfter: "1")
      case "/broken": return .status(503)
      case "/empty": return .ok([])
      case "/short": return .ok([UInt8](repeating: 7, count: 10)).announcing(1000)
      default: return .ok((try? TestImages.bytes(files[request.path] ?? "")) ?? Data(), type: "image/jpeg")
      }
    }
    let error = try #require(await fixture.pipeline.failure(fixture.request(path)))
    #expect(error.code == code, "\(error)")
    #expect(!error.message.isEmpty && !error.message.contains("\n"))
  }

  @Test func aPictureThatClaimsTooMuchIsRefusedBeforeItsBodyIsDownloaded() async throws {
    let bomb = try TestImages.bytes("broken/claims-60000x60000.jpg")
    // More never comes: who waited for it would wait for ever.
    let fixture = try PipelineFixture { _ in .ok(bomb + Data(count: 4 << 20)).stalling(after: bomb.count + 4096) }
    let error = try #require(await fixture.pipeline.failure(fixture.request()))
    #expect(error.code == "too-large")
    #expect(error.message.contains("60000x60000"))
    #expect(fixture.pipeline.statistics.downloadedBytes > 0)
    await poll { fixture.origin.requests[0].outcome == .clientClosed }
  }

  @Test(arguments: [PixelSize(0, 10), PixelSize(10, -1), PixelSize(16384, 1)])
  func aSizeThatNoThumbnailCanHaveIsRefusedAtOnce(size: PixelSize) async throws {
    let fixture = try PipelineFixture()
    await #expect(throws: ThumbnailError.self) {
      _ = try await fixture.pipeline.thumbnail(for: fixture.request("/a.jpg", size))
    }
    #expect(fixture.origin.requests.isEmpty)
  }

  @Test func aFileIsReadOnlyWhenTheUserNamedIt() async throws {
    let fixture = try PipelineFixture()
    let path = TestImages.url("formats/jpeg-420.jpg")
    let named = ThumbnailRequest(.file(at: path.path), variant: Variant(size: PixelSize(40, 40), fit: .cover))
    #expect(try await fixture.pipeline.thumbnail(for: named).size == PixelSize(40, 40))
    let foreign = Task {
      let variant = Variant(size: PixelSize(41, 41), fit: .cover)
      return try await fixture.pipeline.thumbnail(for: ThumbnailRequest(ImageSource(path), variant: variant))
        as Thumbnail
    }
    #expect(await failure(of: foreign)?.code == "unsupported-source")
  }

  @Test func anUnusableCacheDirectoryCostsTheCacheAndNotThePictures() async throws {
    let fixture = try PipelineFixture()
    let file = fixture.directory.url.appendingPathComponent("file")
    try Data("not a directory".utf8).write(to: file)
    let pipeline = try ThumbnailPipeline(.init(cacheDirectory: file))
    #expect(pipeline.cacheProblem?.contains(file.path) == true)
    let response = try await pipeline.response(for: fixture.request())
    #expect(response.origin == .source)
    #expect(try await pipeline.response(for: fixture.request()).origin == .memory)
  }

  // Scenario 79.
  @Test func aDamagedRowIsMadeAnewOnce() async throws {
    let fixture = try PipelineFixture()
    let fresh = try await fixture.pipeline.thumbnail(for: fixture.request())
    await fixture.pipeline.flush()
    try await damageEveryRow(in: fixture.directory.url)
    let restarted = try await fixture.restarted()
    let again = try await restarted.response(for: fixture.request())
    #expect(again.origin == .source)
    #expect(again.thumbnail.size == fresh.size)
    await restarted.flush()
    #expect(try await fixture.restarted().response(for: fixture.request()).origin == .disk)
    #expect(fixture.origin.requests.count == 2)
  }

  @Test func valuesThatMakeNoSenseAreRefusedWithTheirName() throws {
    var configuration = ThumbnailPipeline.Configuration()
    configuration.memoryBudget = .mebibytes(1)
    #expect(throws: ThumbnailError.self) { _ = try ThumbnailPipeline(configuration) }
  }

  @Test func theCacheFolderIsWhereTheStandardSaysItIs() {
    let standard = ThumbnailPipeline.Configuration.standardCacheDirectory
    #expect(standard(["XDG_CACHE_HOME": "/x", "HOME": "/h"]).path == "/x/thumbs")
    #expect(standard(["XDG_CACHE_HOME": "relative", "HOME": "/h"]).path == "/h/.cache/thumbs")
    #expect(standard(["HOME": "/h"]).path == "/h/.cache/thumbs")
  }
}

/// What a pipeline makes of its configuration, and what of it is printed.
struct ConfigurationTests {
  @Test func withoutADiskCacheThereIsNoStore() throws {
    let directory = try TemporaryDirectory()
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    configuration.diskCacheLimit = ByteSize(bytes: 0)
    #expect(try ThumbnailPipeline(configuration).pageStore == nil)
  }

  @Test func whatHoldsCredentialsDoesNotPrintThem() throws {
    let host = try #require(HostName(parsing: "a.example"))
    var headers = HostHeaders()
    headers.add(HTTPHeader("Authorization", "Bearer hunter2"), for: host)
    var configuration = ThumbnailPipeline.Configuration()
    configuration.proxy = .url("http://ada:hunter2@proxy.example")
    configuration.clientCertificates = [
      ClientCertificate(host: host, certificateFile: "/me.pem", password: "hunter2")
    ]
    let url = try #require(URL(string: "http://a.example/a.jpg"))
    let source = ImageSource(url, headers: [HTTPHeader("X-Key", "hunter2")])
    let secrets: [Any] = [
      configuration, headers, source, ThumbnailRequest(source, variant: Variant(size: PixelSize(1, 1), fit: .cover)),
    ]
    for secret in secrets {
      var dumped = ""
      dump(secret, to: &dumped)
      let texts = [dumped, "\(secret)", String(reflecting: secret)]
      #expect(!texts.contains { $0.contains("hunter2") })
    }
    #expect("\(HTTPHeader("X-Key", "hunter2"))" == "X-Key: [hidden]")
  }
}
