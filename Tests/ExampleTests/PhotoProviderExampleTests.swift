import HTTPTransport
import PhotoSources
import TestSupport
import Thumbnailer

// provider begins
/// The photos of a museum. Its API answers `GET works?q=lake&page=2` with
/// `{"works": [{"id": 7, "title": "Lake", "image": "https://…"}], "pages": 9}`.
struct MuseumProvider: PhotoProvider {
  let name = "museum"
  let capabilities = ProviderCapabilities(largestPageSize: 50, mayLoop: true)
  private let api: ProviderAPI

  init(baseURL: URL, client: any HTTPClient) {
    // Two requests a second on average; connections, timeouts and retries are the client's.
    api = ProviderAPI(name: name, baseURL: baseURL, interval: .milliseconds(500), client: client)
  }

  func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let page = cursor.flatMap { Int($0.token) } ?? 1
    let found = try await api.decode(Found.self, at: api.url("works", [("q", query.text), ("page", "\(page)")]))
    let photos = found.works.map { work in
      Photo(id: "\(work.id)", provider: name, title: work.title, source: ImageSource(work.image))
    }
    return PhotoPage(photos: photos, next: page < found.pages ? PageCursor("\(page + 1)") : nil)
  }

  private struct Found: Decodable {
    struct Work: Decodable {
      let id: Int
      let title: String?
      let image: URL
    }
    let works: [Work]
    let pages: Int
  }
}
// provider ends

// client begins
/// Responds from memory, for tests of a provider.
struct CannedClient: HTTPClient {
  let status: Int
  let body: String

  func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    HTTPResponse(status: status, body: Data(body.utf8))
  }
}
// client ends

/// The examples of `docs/photo-sources.md`, compiled and run.
@Suite(.timeLimit(.minutes(5))) struct PhotoProviderExampleTests {
  @Test(arguments: ["provider", "client", "gallery"]) func thePagesExampleIsThisCode(mark: String) throws {
    let here = URL(fileURLWithPath: #filePath)
    let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let lines = try String(contentsOf: here, encoding: .utf8).components(separatedBy: "\n")
    func line(_ text: String) throws -> Int {
      try #require(lines.firstIndex { $0.trimmingCharacters(in: .whitespaces) == "// \(mark) \(text)" })
    }
    let (begin, end) = (try line("begins"), try line("ends"))
    let indent = lines[begin].prefix { $0 == " " }.count
    let example = lines[(begin + 1)..<end].map { String($0.dropFirst(indent)) }.joined(separator: "\n")
    let page = try String(contentsOf: root.appendingPathComponent("docs/photo-sources.md"), encoding: .utf8)
    #expect(page.contains("```swift\n\(example)\n```"))
  }

  @Test func aGalleryShowsTheThirdPartysPhotos() async throws {
    let origin = try Origin { request in
      guard request.path == "/api/works" else { return .picture }
      let (page, host) = (request.query["page"] ?? "", request.value(of: "Host") ?? "")
      let work = #"{"id": \#(page), "title": "\#(request.query["q"] ?? "")", "image": "http://\#(host)/\#(page).jpg"}"#
      return .json(#"{"works": [\#(work)], "pages": 2}"#)
    }
    defer { origin.stop() }
    let directory = try TemporaryDirectory()
    let baseURL = origin.url("/api")
    // gallery begins
    let pipeline = try ThumbnailPipeline(.init(cacheDirectory: directory.url))
    let provider = MuseumProvider(baseURL: baseURL, client: pipeline.httpClient)

    // All thumbnails of a search; or `Gallery(provider: provider, pipeline: pipeline)` for somebody who scrolls.
    let variant = Variant(size: PixelSize(200, 200), fit: .cover)
    for try await case .photo(let outcome) in QueryPrefetch(
      provider: provider, query: "lake", pipeline: pipeline, variants: [variant])
    {
      print(outcome.photo.title ?? outcome.photo.id, outcome.firstError?.message ?? "made")
    }
    // gallery ends
    #expect(origin.requests.map(\.path).sorted() == ["/1.jpg", "/2.jpg", "/api/works", "/api/works"])
  }

  @Test func errorsOfTheServiceAreErrorsOfTheProvider() async throws {
    let base = try #require(URL(string: "https://museum.example"))
    let limited = MuseumProvider(baseURL: base, client: CannedClient(status: 429, body: "slow down"))
    await #expect(throws: ProviderError.rateLimited(provider: "museum", retryAfter: .seconds(60))) {
      try await limited.search(PhotoQuery("lake"), at: nil)
    }
    let broken = MuseumProvider(baseURL: base, client: CannedClient(status: 200, body: "{}"))
    await #expect(throws: ProviderError.malformed(provider: "museum", snippet: "works is missing: {}")) {
      try await broken.search(PhotoQuery("lake"), at: nil)
    }
    await #expect(throws: ProviderError.self) { try await broken.random(count: 1) }
  }
}
