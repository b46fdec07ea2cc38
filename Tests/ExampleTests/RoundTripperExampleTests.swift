import HTTPSemantics
import HTTPTransport
import TestSupport
import Thumbnailer

// Archive begins
/// Serves images from a dictionary in place of the network.
struct Archive: HTTPRoundTripper {
  let images: [String: Data]

  func roundTrip(_ request: HTTPRequest) async throws -> HTTPStreamedResponse {
    guard let image = images[request.url.path] else { return HTTPStreamedResponse(status: 404) }
    let validator = HTTPHeader("ETag", "\"\(image.count)\"")
    if request.headers.contains(where: { $0.name == "If-None-Match" && $0.value == validator.value }) {
      return HTTPStreamedResponse(status: 304, headers: [validator])
    }
    let length = HTTPHeader("Content-Length", "\(image.count)")
    return HTTPStreamedResponse(status: 200, headers: [validator, length], body: image)
  }
}
// Archive ends

@Suite(.timeLimit(.minutes(5))) struct RoundTripperExampleTests {
  @Test(arguments: ["Archive", "Client"])
  func thePageShowsThisCode(snippet: String) throws {
    #expect(try Snippet(snippet).isShown(in: "Sources/Thumbnailer/Thumbnailer.docc/Extending.md"))
  }

  @Test func aPipelineFetchesByAClientOfTheProgramsOwn() async throws {
    let directory = try TemporaryDirectory()
    let images = ["/a.jpg": try TestImages.bytes("formats/jpeg-420.jpg")]
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    // Client begins
    configuration.roundTripper = Archive(images: images)
    let pipeline = try ThumbnailPipeline(configuration)
    let url = URL(string: "https://archive.example/a.jpg")!
    let thumbnail = try await pipeline.thumbnail(for: ThumbnailRequest(url, size: PixelSize(400, 400)))
    // Client ends
    #expect(!thumbnail.data.isEmpty)
    var again = ThumbnailRequest(url, size: PixelSize(400, 400))
    again.options.cacheMode = .refresh
    #expect(try await pipeline.response(for: again).origin == .revalidated)
    let missing = ThumbnailRequest(URL(string: "https://archive.example/b.jpg")!, size: PixelSize(40, 40))
    await #expect(throws: ThumbnailError.self) { _ = try await pipeline.thumbnail(for: missing) }
  }
}
