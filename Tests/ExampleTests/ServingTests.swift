import Thumbnailer

import TestSupport

// Serving begins
/// What a web server sends for a request: the thumbnail, or an error with its own status.
func serve(
  _ request: ThumbnailRequest, from pipeline: ThumbnailPipeline
) async -> (status: Int, headers: [String: String], body: Data) {
  do throws(ThumbnailError) {
    let thumbnail = try await pipeline.thumbnail(for: request)
    return (200, ["Content-Type": thumbnail.mediaType], thumbnail.data)
  } catch {
    var headers = ["Content-Type": "text/plain; charset=utf-8"]
    if let pause = error.retryAfter { headers["Retry-After"] = "\(max(1, pause.components.seconds))" }
    return (error.httpStatus, headers, Data(error.message.utf8))
  }
}
// Serving ends

@Suite(.timeLimit(.minutes(5))) struct ServingTests {
  @Test func thePageShowsThisCode() throws {
    #expect(try Snippet("Serving").isShown(in: "Sources/Thumbnailer/Thumbnailer.docc/Extending.md"))
  }

  @Test func aThumbnailIsServedWithItsMediaType() async throws {
    let example = try Example()
    let served = await serve(example.request("/a.jpg"), from: example.pipeline)
    #expect(served.status == 200 && served.headers["Content-Type"] == "image/jpeg" && served.body.count > 500)
  }

  @Test func anErrorIsServedWithItsStatus() async throws {
    let example = try Example()
    let missing = await serve(example.request("/missing"), from: example.pipeline)
    #expect(missing.status == 404 && missing.headers["Retry-After"] == nil)
    let busy = await serve(example.request("/busy"), from: example.pipeline)
    #expect(busy.status == 503 && Int(busy.headers["Retry-After"] ?? "") ?? 0 >= 1)
  }
}
