@testable import PipelineTestSupport
@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import Thumbnailer

/// Fresh is served, stale is asked about, changed is replaced: scenarios 76 and 77.
@Suite(.timeLimit(.minutes(5))) struct RevalidationTests {
  @Test func freshIsServedWithoutARequestAndStaleIsConfirmedWithoutABody() async throws {
    // Far from the hour: the time that an answer took counts as well, in real seconds.
    let fixture = try RevalidationFixture({ $0.headers = [("Cache-Control", "max-age=3600")] })
    let fresh = try await fixture.pipeline.thumbnail(for: fixture.request())
    fixture.clock.advance(by: 2000)
    #expect(try await fixture.origin() == .memory)
    #expect(try await fixture.origin(of: fixture.restarted()) == .disk)
    fixture.clock.advance(by: 1601)
    #expect(fixture.pipeline.cachedThumbnail(for: fixture.request().key) == nil)
    let confirmed = try await fixture.pipeline.response(for: fixture.request())
    #expect(confirmed.origin == .revalidated && confirmed.thumbnail == fresh && confirmed.downloadedBytes == 0)
    #expect(fixture.asked == ["-", "\"one\""])
    // From then on it holds for as long again, here and after a restart.
    fixture.clock.advance(by: 2000)
    #expect(try await fixture.origin() == .memory)
    #expect(try await fixture.origin(of: fixture.restarted()) == .disk)
    #expect(fixture.asked.count == 2)
    #expect(fixture.statistics.revalidations == 1 && fixture.statistics.downloads == 1)
    #expect(fixture.fixture.origin.requests[1].bodyBytesSent == 0)
  }

  @Test func whatTheServerSaysIsToldAsEvents() async throws {
    let fixture = try RevalidationFixture()
    try await fixture.fetch(thenWait: 61)
    try await fixture.fetch(thenWait: 61)
    try fixture.picture.replace()
    try await fixture.fetch(thenWait: 61)
    fixture.picture.change { $0.status = 404 }
    for _ in 0..<2 { _ = await fixture.code() }
    let recorder = fixture.fixture.recorder
    let expected = [
      "attempted", "downloaded", "planned", "rendered", "stored", "attempted", "revalidated", "attempted", "downloaded",
      "replaced", "planned", "rendered", "stored", "attempted", "failed", "rememberedFailure", "failed",
    ]
    await poll { recorder.kinds.count == expected.count }
    #expect(recorder.kinds.map { "\($0)".prefix { $0 != "(" } } == expected.map { $0[...] })
  }

  @Test func aConfirmationRefreshesWhatIsKnown() async throws {
    let fixture = try RevalidationFixture()
    try await fixture.fetch(thenWait: 61)
    fixture.picture.change { $0.headers = [("Cache-Control", "max-age=3600")] }
    #expect(try await fixture.origin() == .revalidated)
    fixture.clock.advance(by: 2000)
    #expect(try await fixture.origin() == .memory)
    #expect(try await fixture.origin(of: fixture.restarted()) == .disk)
  }

  @Test func aChangedPictureTakesThePlaceOfAllItsThumbnails() async throws {
    let fixture = try RevalidationFixture()
    let sizes = [PixelSize(40, 40), PixelSize(50, 20), PixelSize(24, 30)]
    var old: [Thumbnail] = []
    for size in sizes { old.append(try await fixture.pipeline.thumbnail(for: fixture.request(size))) }
    try fixture.picture.replace()
    #expect(try await fixture.origin() == .memory)
    fixture.clock.advance(by: 61)
    let fresh = try await fixture.pipeline.response(for: fixture.request(sizes[0]))
    #expect(fresh.origin == .source && fresh.thumbnail.data != old[0].data)
    // The other sizes were of the old picture.
    for index in 1...2 {
      let response = try await fixture.pipeline.response(for: fixture.request(sizes[index]))
      #expect(response.origin == .source && response.thumbnail.data != old[index].data)
    }
    #expect(fixture.statistics.replacements == 1)
    let restarted = try await fixture.restarted()
    for size in sizes { #expect(try await fixture.origin(size, of: restarted) == .disk) }
  }

  @Test func aChangedPictureReplacesTheOldSizesThoughItsFirstThumbnailFails() async throws {
    let fixture = try RevalidationFixture(configuring: { $0.jobs = 1 })
    let old = try await fixture.pipeline.thumbnail(for: fixture.request())
    fixture.clock.advance(by: 61)
    let damaged = try TestImages.bytes("broken/truncated-in-the-second-frame.gif")
    fixture.picture.change { ($0.bytes, $0.etag) = (damaged, "\"two\"") }
    // Nothing is decoded until somebody else has joined.
    let latch = Latch()
    let workers = fixture.pipeline.stages.runner.workers
    let blocker = Task { try await workers.run(priority: PriorityControl(.visible)) { _ in Result { latch.wait() } } }
    await poll { workers.running == 1 }
    // Needs the frame that is cut short, which the others do not.
    let animated = ThumbnailRequest(
      fixture.request().source, variant: Variant(size: PixelSize(60, 30), fit: .cover, format: .webp, frames: .all))
    let first = Task { try await fixture.pipeline.thumbnail(for: animated) }
    await poll { workers.waiting == 1 }
    let second = Task { try await fixture.origin(PixelSize(20, 10)) }
    await poll { fixture.statistics.joins == 1 }
    latch.open()
    _ = try await blocker.value.get()
    #expect(await failure(of: first)?.code == "damaged")
    #expect(try await second.value == .source)
    #expect(fixture.asked.count == 2 && fixture.statistics.replacements == 1)
    // What was there before is of the old picture, and not fresh.
    let again = try await fixture.pipeline.response(for: fixture.request())
    #expect(again.origin == .source && again.thumbnail.data != old.data)
  }

  @Test func severalSizesOfAStalePictureAreOneQuestion() async throws {
    let fixture = try RevalidationFixture()
    let sizes = [PixelSize(40, 40), PixelSize(50, 20), PixelSize(24, 30)]
    let variants = sizes.map { Variant(size: $0, fit: .cover) }
    let source = fixture.request().source
    _ = await fixture.pipeline.responses(for: source, variants: variants)
    fixture.clock.advance(by: 61)
    for pipeline in [fixture.pipeline, try await fixture.restarted()] {
      let origins = try await pipeline.responses(for: source, variants: variants).map { try $0.get().origin }
      #expect(origins.allSatisfy { $0 == .revalidated })
      fixture.clock.advance(by: 61)
    }
    #expect(fixture.asked == ["-", "\"one\"", "\"one\""])
  }

  @Test func aBodyReplacesWhatAnotherProcessHasStoredOfAnEarlierVersionMeanwhile() async throws {
    let gate = Gate()
    let (earlier, later) = (try ChangingPicture(), try ChangingPicture())
    try later.replace()
    let isStored = Recorder<Bool>()
    let fixture = try PipelineFixture { request in
      if request.path == "/a.jpg", isStored.values.isEmpty {
        isStored.append(false)
        return later.answer(request).held(by: gate)
      }
      return (isStored.values.last == true ? later : earlier).answer(request)
    }
    let sizes = [PixelSize(40, 40), PixelSize(50, 20)]
    let slow = Task { try await fixture.pipeline.response(for: fixture.request("/a.jpg", sizes[0])) }
    await poll { fixture.origin.requests.count == 1 }
    // Another process is served the earlier version, and stores it during the download.
    let other = try await fixture.restarted()
    let old = try await other.response(for: fixture.request("/a.jpg", sizes[1]))
    await other.flush()
    isStored.append(true)
    gate.open()
    #expect(try await slow.value.origin == .source)
    let again = try await fixture.restarted().response(for: fixture.request("/a.jpg", sizes[1]))
    #expect(again.origin == .source && again.thumbnail.data != old.thumbnail.data)
    #expect(fixture.pipeline.statistics.replacements == 1)
  }

  @Test func aSizeThatIsNotStoredTakesTheBodyInOneRequest() async throws {
    let fixture = try RevalidationFixture()
    try await fixture.fetch(thenWait: 61)
    let variants = [Variant(size: PixelSize(40, 40), fit: .cover), Variant(size: PixelSize(100, 20), fit: .cover)]
    let results = await fixture.pipeline.responses(for: fixture.request().source, variants: variants)
    #expect(try results.map { try $0.get().origin } == [.source, .source])
    #expect(fixture.asked == ["-", "-"])
  }

  @Test func whoAsksForANewSizeWhileTheServerIsAskedGetsTheBodyAfterwards() async throws {
    let gate = Gate()
    let picture = try ChangingPicture()
    let clock = WallClock()
    let fixture = try PipelineFixture(configuring: { $0.now = { clock.now } }) { request in
      let answer = picture.answer(request)
      return request.value(of: "If-None-Match") == nil ? answer : answer.held(by: gate)
    }
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    clock.advance(by: 61)
    let stale = Task { try await fixture.pipeline.response(for: fixture.request()).origin }
    await poll { fixture.origin.requests.count == 2 }
    let joined = Task {
      try await fixture.pipeline.response(for: fixture.request("/a.jpg", PixelSize(100, 20))).origin
    }
    await poll { fixture.pipeline.statistics.joins == 1 }
    gate.open()
    #expect(try await stale.value == .revalidated)
    #expect(try await joined.value == .source)
    #expect(fixture.origin.requests.count == 3)
    #expect(fixture.pipeline.statistics.replacements == 0)
  }

  @Test func aSmallerSizeIsShrunkFromAStaleOneOnceThatIsConfirmed() async throws {
    let fixture = try RevalidationFixture()
    _ = try await fixture.origin(PixelSize(100, 100))
    fixture.clock.advance(by: 61)
    let smaller = try await fixture.origin(PixelSize(40, 40))
    #expect(smaller == .revalidated)
    #expect(fixture.asked == ["-", "\"one\""])
    #expect(try await fixture.origin(PixelSize(40, 40)) == .memory)
    #expect(try await fixture.origin(PixelSize(40, 40), of: fixture.restarted()) == .disk)
  }

  @Test func aTagIsSentToTheURLThatItCameFromOnly() async throws {
    let fixture = try RevalidationFixture()
    let origin = fixture.fixture.origin
    func request(_ path: String, _ side: Int) -> ThumbnailRequest {
      ThumbnailRequest(
        ImageSource(origin.url(path), identity: "photo"), variant: Variant(size: PixelSize(side, side), fit: .cover))
    }
    _ = try await fixture.pipeline.thumbnail(for: request("/small.jpg", 40))
    fixture.clock.advance(by: 61)
    // Another form of the same picture, of which nothing is known.
    _ = try await fixture.pipeline.thumbnail(for: request("/large.jpg", 40))
    #expect(fixture.asked == ["-", "-"])
    fixture.clock.advance(by: 61)
    #expect(try await fixture.pipeline.response(for: request("/large.jpg", 40)).origin == .revalidated)
    #expect(fixture.asked == ["-", "-", "\"one\""])
  }

  @Test func aTagIsNotSentAlongARedirectThatLeadsElsewhere() async throws {
    let clock = WallClock()
    let picture = try ChangingPicture()
    let target = Recorder<String>()
    target.append("/first")
    let fixture = try PipelineFixture(configuring: { $0.now = { clock.now } }) { request in
      request.path == "/a.jpg" ? .redirect(to: target.values.last ?? "/") : picture.answer(request)
    }
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    clock.advance(by: 61)
    #expect(try await fixture.pipeline.response(for: fixture.request()).origin == .revalidated)
    target.append("/second")
    clock.advance(by: 61)
    #expect(try await fixture.pipeline.response(for: fixture.request()).origin == .source)
    let tags = fixture.origin.requests.map { $0.path + ($0.request.value(of: "If-None-Match") ?? "") }
    #expect(tags == ["/a.jpg", "/first", "/a.jpg", "/first\"one\"", "/a.jpg", "/second"])
  }

  @Test func aPictureIsAskedAboutByItsTimeWhereItHasNoTag() async throws {
    let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    let fixture = try RevalidationFixture({
      $0.etag = nil
      $0.headers = [("Last-Modified", modified), ("Cache-Control", "max-age=60")]
    })
    try await fixture.fetch(thenWait: 61)
    #expect(try await fixture.origin() == .source)
    #expect(fixture.fixture.origin.requests.last?.request.value(of: "If-Modified-Since") == modified)
  }

  @Test func whatMayNotBeStoredIsKeptNowhere() async throws {
    let fixture = try RevalidationFixture({ $0.headers = [("Cache-Control", "no-store, max-age=60")] })
    for _ in 0..<2 { #expect(try await fixture.origin() == .source) }
    #expect(fixture.pipeline.cachedThumbnail(for: fixture.request().key) == nil)
    #expect(try await fixture.origin(of: fixture.restarted()) == .source)
    #expect(fixture.statistics.storedBytes == 0)
    let disk = try DiskCache(directory: fixture.fixture.directory.url, byteLimit: nil)
    #expect(try disk.statistics().thumbnails == 0)
  }

  @Test(arguments: [true, false]) func whatMayNotBeStoredAnyMoreGoes(isConfirmed: Bool) async throws {
    let fixture = try RevalidationFixture()
    _ = try await fixture.origin(PixelSize(50, 20))
    try await fixture.fetch(thenWait: 61)
    fixture.picture.change {
      $0.headers = [("Cache-Control", "no-store")]
      if !isConfirmed { $0.etag = "\"two\"" }
    }
    let response = try await fixture.pipeline.response(for: fixture.request())
    #expect(response.origin == (isConfirmed ? .revalidated : .source) && !response.isStored)
    await fixture.pipeline.flush()
    let disk = try DiskCache(directory: fixture.fixture.directory.url, byteLimit: nil)
    #expect(try disk.statistics().thumbnails == 0)
    #expect(fixture.pipeline.cachedThumbnail(for: fixture.request().key) == nil)
    #expect(try await fixture.origin() == .source)
  }

  @Test func theBeginningOfWhatMayNotBeStoredIsNotKept() async throws {
    let body = try TestImages.bytes("formats/jpeg-420.jpg") + Data(count: 3 << 20)
    let fixture = try PipelineFixture { request in
      .ok(body).header("ETag", "\"a\"").header("Accept-Ranges", "bytes")
        .header("Cache-Control", request.path == "/secret" ? "no-store" : "max-age=60").reset(after: 2 << 20)
    }
    let partial = fixture.directory.url.appendingPathComponent("partial")
    for (path, isKept) in [("/secret", false), ("/plain", true)] {
      await #expect(throws: ThumbnailError.self) {
        _ = try await fixture.pipeline.thumbnail(for: fixture.request(path))
      }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: partial.path)) ?? []
      #expect(names.isEmpty != isKept, "\(path): \(names)")
    }
  }

  @Test(arguments: [[("Cache-Control", "no-cache")], [("Cache-Control", "max-age=60"), ("Vary", "*")]])
  func whatIsToBeAskedAboutEveryTimeIs(headers: [(String, String)]) async throws {
    let fixture = try RevalidationFixture({ $0.headers = headers.map { (name: $0.0, value: $0.1) } })
    _ = try await fixture.origin()
    for _ in 0..<2 { #expect(try await fixture.origin() == .revalidated) }
    #expect(try await fixture.origin(of: fixture.restarted()) == .revalidated)
    // A size of its own takes the body; those that are there stay, since the tag is the same.
    let contained = fixture.request(PixelSize(100, 20), fit: .contain)
    #expect(try await fixture.pipeline.response(for: contained).origin == .source)
    #expect(try await fixture.origin() == .revalidated)
    #expect(fixture.asked == ["-", "\"one\"", "\"one\"", "\"one\"", "-", "\"one\""])
  }

  @Test func withoutADiskCacheTheServerIsAskedAsWell() async throws {
    let fixture = try RevalidationFixture(configuring: { $0.diskCacheLimit = ByteSize(bytes: 0) })
    try await fixture.fetch(thenWait: 61)
    #expect(try await fixture.origin() == .revalidated)
    #expect(try await fixture.origin() == .memory)
  }

  @Test func aClockThatWasSetBackOrForwardLeadsToAQuestion() async throws {
    for jump in [-3600.0, -1e9, 1e9] {
      let fixture = try RevalidationFixture()
      try await fixture.fetch(thenWait: jump)
      #expect(try await fixture.origin() == .revalidated)
      #expect(try await fixture.origin() == .memory)
      #expect(try await fixture.origin(of: fixture.restarted()) == .disk)
      #expect(fixture.asked.count == 2)
    }
  }

  @Test func aLocalFileIsNeverAskedAbout() async throws {
    let fixture = try RevalidationFixture(configuring: { $0.cacheMode = .maximumAge(.zero) })
    let file = ThumbnailRequest(
      .file(at: TestImages.url("formats/jpeg-420.jpg").path), variant: Variant(size: PixelSize(40, 40), fit: .cover))
    _ = try await fixture.pipeline.thumbnail(for: file)
    fixture.clock.advance(by: 1e9)
    #expect(try await fixture.pipeline.response(for: file).origin == .memory)
    let restarted = try await fixture.restarted { $0.cacheMode = .refresh }
    #expect(try await restarted.response(for: file).origin == .disk)
  }

  @Test func anotherProcessKnowsWhatThisOneWasTold() async throws {
    let fixture = try RevalidationFixture()
    let other = try await fixture.restarted { $0.memoryCacheLimit = ByteSize(bytes: 0) }
    _ = try await fixture.origin()
    await fixture.pipeline.flush()
    #expect(try await fixture.origin(of: other) == .disk)
    fixture.clock.advance(by: 61)
    #expect(try await fixture.origin() == .revalidated)
    await fixture.pipeline.flush()
    #expect(try await fixture.origin(of: other) == .disk)
    // And the other way round: what the other one has replaced is not confirmed by an old tag.
    fixture.clock.advance(by: 61)
    try fixture.picture.replace()
    #expect(try await fixture.origin(of: other) == .source)
    await other.flush()
    #expect(try await fixture.origin() == .disk)
    #expect(fixture.asked == ["-", "\"one\"", "\"one\""])
  }
}
