@testable import PipelineTestSupport
@testable import Thumbnailer

/// Servers whose words about a picture contradict each other.
@Suite(.timeLimit(.minutes(5))) struct LyingServerTests {
  @Test func aBodyUnderTheSameTagIsBelievedMoreThanTheTag() async throws {
    let fixture = try RevalidationFixture()
    let old = try await fixture.pipeline.thumbnail(for: fixture.request())
    try fixture.picture.replace(etag: "\"one\"")
    fixture.picture.change { $0.confirms = false }
    fixture.clock.advance(by: 61)
    let response = try await fixture.pipeline.response(for: fixture.request())
    #expect(response.origin == .source && response.thumbnail.data != old.data)
    #expect(fixture.asked == ["-", "\"one\""] && fixture.statistics.replacements == 1)
  }

  @Test func anotherLengthUnderTheSameTagIsAnotherPicture() async throws {
    let fixture = try RevalidationFixture()
    _ = try await fixture.origin()
    try fixture.picture.replace(etag: "\"one\"")
    // Fresh, but of a body that another size brings to light.
    #expect(try await fixture.origin(PixelSize(100, 20)) == .source)
    #expect(try await fixture.origin() == .source)
    #expect(fixture.statistics.replacements == 1)
  }

  @Test func aConfirmationOfAnotherTagIsNone() async throws {
    let picture = try ChangingPicture()
    let clock = WallClock()
    let fixture = try PipelineFixture(configuring: { $0.now = { clock.now } }) { request in
      request.value(of: "If-None-Match") == nil
        ? picture.answer(request) : OriginResponse(status: 304, headers: [("ETag", "\"other\"")])
    }
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    clock.advance(by: 61)
    #expect(try await fixture.pipeline.response(for: fixture.request()).origin == .source)
    #expect(fixture.origin.requests.map { $0.request.value(of: "If-None-Match") } == [nil, "\"one\"", nil])
  }

  @Test func manyConfirmationsOfOtherTagsDoNotWaitForEachOther() async throws {
    let picture = try ChangingPicture()
    let clock = WallClock()
    let fixture = try PipelineFixture(
      configuring: {
        $0.now = { clock.now }
        ($0.downloads, $0.jobs, $0.memoryBudget) = (1, 1, .mebibytes(16))
      },
      answer: { request in
        request.value(of: "If-None-Match") == nil
          ? picture.answer(request) : OriginResponse(status: 304, headers: [("ETag", "\"other\"")])
      })
    let requests = (0..<8).map { fixture.request("/\($0)") }
    for _ in 0..<2 {
      for await (_, result) in fixture.pipeline.thumbnails(for: requests) {
        #expect(try result.get().origin == .source)
      }
      clock.advance(by: 61)
    }
    #expect(fixture.origin.requests.count == 24)
  }

  @Test func aConfirmationOfAnotherTimeIsNone() async throws {
    let picture = try ChangingPicture({
      $0.etag = nil
      $0.headers = [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Cache-Control", "max-age=60")]
    })
    let clock = WallClock()
    // A server that compares which is later, after its picture was put back to what it was before.
    let earlier = [(name: "Last-Modified", value: "Sat, 05 Nov 1994 08:49:37 GMT")]
    let fixture = try PipelineFixture(configuring: { $0.now = { clock.now } }) { request in
      request.value(of: "If-Modified-Since") == nil
        ? picture.answer(request) : OriginResponse(status: 304, headers: earlier)
    }
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    clock.advance(by: 61)
    #expect(try await fixture.pipeline.response(for: fixture.request()).origin == .source)
    #expect(fixture.origin.requests.map { $0.request.value(of: "If-Modified-Since") != nil } == [false, true, false])
  }

  @Test(arguments: ["*", "\"one\", *", "one, two"])
  func aTagThatWouldStandForAnythingIsNotSent(tag: String) async throws {
    let fixture = try RevalidationFixture({ $0.etag = tag })
    _ = try await fixture.origin()
    try fixture.picture.replace(etag: tag)
    fixture.clock.advance(by: 61)
    #expect(try await fixture.origin() == .source)
    #expect(fixture.asked == ["-", "-"])
  }

  @Test func aConfirmationThatNobodyAskedForIsAnError() async throws {
    let fixture = try PipelineFixture { _ in OriginResponse(status: 304) }
    let error = try #require(await fixture.pipeline.failure(fixture.request()))
    #expect(error.code == "refused" && error.message.contains("304") && error.message.hasSuffix("try again later"))
  }

  @Test(arguments: [
    "max-age=soon", "max-age=-1", "=;=,,\"", "max-age=60, max-age=0", "max-age=60; no-cache",
  ])
  func fieldsThatMakeNoSenseDoNoHarm(text: String) async throws {
    let fixture = try RevalidationFixture({
      $0.headers = [
        ("Cache-Control", text), ("Expires", "never"), ("Date", "today"), ("Age", "old"), ("Last-Modified", "once"),
      ]
    })
    #expect(try await fixture.origin() == .source)
    fixture.clock.advance(by: 1)
    #expect(try await fixture.origin() == .revalidated)
  }

  @Test func aFoldedLineThatForbidsStoringIsHeeded() async throws {
    let fixture = try PipelineFixture { _ in
      .picture.line("Cache-Control: max-age=60,".utf8).line(" no-store".utf8)
    }
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    #expect(try await fixture.pipeline.response(for: fixture.request()).origin == .source)
    #expect(fixture.origin.requests.count == 2)
  }

  @Test(arguments: [["10", "20"], ["10, 20"], ["ten"], ["10", "ten"]])
  func aLengthInDoubtIsNoPicture(lengths: [String]) async throws {
    let bytes = try TestImages.bytes("formats/jpeg-420.jpg")
    let fixture = try PipelineFixture { _ in
      // The last one is true, where it is one at all.
      lengths.reduce(.picture.untilClose()) { $0.header("Content-Length", $1 == "20" ? "\(bytes.count)" : $1) }
    }
    let error = try #require(await fixture.pipeline.failure(fixture.request()))
    #expect(error.code == "unreachable" && error.message.contains("Content-Length"), "\(error.message)")
    #expect(error.message.contains("makes no sense"), "\(error.message)")
    #expect(fixture.origin.requests.count == 1)
  }
}
