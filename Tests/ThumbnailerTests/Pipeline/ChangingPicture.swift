@testable import PipelineTestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// A picture on a server that names it by a tag, and that a test can change.
final class ChangingPicture: Sendable {
  struct State {
    var bytes: Data
    /// Nil: the server names the picture by nothing.
    var etag: String? = "\"one\""
    var headers: [(name: String, value: String)] = [("Cache-Control", "max-age=60")]
    /// Whether the server answers that nothing has changed.
    var confirms = true
    /// A status in place of everything else.
    var status: Int?
  }

  private let state: Mutex<State>

  init(_ change: (inout State) -> Void = { _ in }) throws {
    var state = State(bytes: try TestImages.bytes("formats/jpeg-420.jpg"))
    change(&state)
    self.state = Mutex(state)
  }

  /// Changes what the server answers from now on.
  func change(_ change: (inout sending State) -> Void) { state.withLock { change(&$0) } }

  /// Puts another picture in its place.
  func replace(etag: String? = "\"two\"") throws {
    let bytes = try TestImages.bytes("formats/jpeg-gray.jpg")
    change { ($0.bytes, $0.etag) = (bytes, etag) }
  }

  func answer(_ request: OriginRequest) -> OriginResponse {
    let state = state.withLock { $0 }
    if let status = state.status { return OriginResponse(status: status, headers: state.headers) }
    let headers = state.headers + (state.etag.map { [("ETag", $0)] } ?? [])
    if state.confirms, let etag = state.etag, request.value(of: "If-None-Match") == etag {
      return OriginResponse(status: 304, headers: headers)
    }
    return OriginResponse(status: 200, headers: headers, body: Array(state.bytes))
  }
}

/// A pipeline that fetches a picture that can change, with a clock that the test moves.
struct RevalidationFixture {
  let clock: WallClock
  let picture: ChangingPicture
  let fixture: PipelineFixture

  var pipeline: ThumbnailPipeline { fixture.pipeline }
  var statistics: PipelineStatistics { fixture.pipeline.statistics }
  /// What the server was asked, in words: the tag that was sent, or `-`.
  var asked: [String] { fixture.origin.requests.map { $0.request.value(of: "If-None-Match") ?? "-" } }

  /// - Parameter gate: What holds the answers to whoever has the picture already.
  init(
    _ change: (inout ChangingPicture.State) -> Void = { _ in }, gate: Gate? = nil,
    configuring configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) throws {
    let clock = WallClock()
    let picture = try ChangingPicture(change)
    self.clock = clock
    self.picture = picture
    fixture = try PipelineFixture(configuring: {
      $0.now = { clock.now }
      configure(&$0)
    }) { request in
      let answer = picture.answer(request)
      guard let gate, request.value(of: "If-None-Match") != nil else { return answer }
      return answer.held(by: gate)
    }
  }

  /// Fetches the picture, and lets some seconds pass.
  func fetch(thenWait seconds: TimeInterval) async throws {
    _ = try await origin()
    clock.advance(by: seconds)
  }

  /// After some seconds a request ends with this error, and the server has been asked that often.
  func expect(
    _ code: String, asked count: Int, after seconds: TimeInterval = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    clock.advance(by: seconds)
    #expect(await self.code() == code, sourceLocation: sourceLocation)
    #expect(asked.count == count, sourceLocation: sourceLocation)
  }

  /// Another pipeline on the same cache folder and clock, as after a restart.
  func restarted(
    configuring configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) async throws -> ThumbnailPipeline {
    try await fixture.restarted { [clock] in
      $0.now = { clock.now }
      configure(&$0)
    }
  }

  func request(
    _ size: PixelSize = PixelSize(40, 40), _ path: String = "/a.jpg", fit: Fit = .cover
  ) -> ThumbnailRequest {
    ThumbnailRequest(ImageSource(fixture.origin.url(path)), variant: Variant(size: size, fit: fit))
  }

  /// Where the thumbnail comes from.
  func origin(
    _ size: PixelSize = PixelSize(40, 40), of other: ThumbnailPipeline? = nil
  ) async throws -> ThumbnailResponse.Origin {
    try await (other ?? pipeline).response(for: request(size)).origin
  }

  /// The short name of the error that a request ends with.
  func code(_ size: PixelSize = PixelSize(40, 40), of other: ThumbnailPipeline? = nil) async -> String? {
    do throws(ThumbnailError) {
      _ = try await (other ?? pipeline).response(for: request(size))
      return nil
    } catch {
      return error.code
    }
  }
}
