import Thumbnailer

import TestSupport

@Suite(.timeLimit(.minutes(5))) struct RequestOptionsExampleTests {
  @Test func thePageShowsThisCode() throws {
    #expect(try Snippet("Options").isShown(in: "Sources/Thumbnailer/Thumbnailer.docc/Extending.md"))
  }

  @Test func oneRequestWantsOtherwise() async throws {
    let example = try Example()
    let (pipeline, url) = (example.pipeline, example.origin.url("/a.jpg"))
    // Options begins
    var request = ThumbnailRequest(url, size: PixelSize(400, 400))
    request.timeout = .seconds(5)  // for this request alone; whoever else waits for the image goes on waiting
    request.options.cacheMode = .refresh  // or .standard, .maximumAge(.seconds(60)), .offline, .noStore
    request.options.maximumSourceBytes = .mebibytes(20)
    request.options.maximumPixels = 50_000_000
    let response = try await pipeline.response(for: request)
    // Options ends
    #expect(response.origin == .source)
  }
}
