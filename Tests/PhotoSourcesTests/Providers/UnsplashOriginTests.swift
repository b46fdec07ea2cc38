@testable import HTTPTransport
@testable import PhotoSources
@testable import ThumbnailCore

/// The provider and the real client against a copy of the API on loopback.
@Suite(.timeLimit(.minutes(5))) struct UnsplashOriginTests {
  private let unsplash: UnsplashOrigin

  init() throws {
    let lakes = (1...65).map {
      UnsplashOrigin.Picture(id: "lake\($0)", description: "Lac Léman \($0)", body: [1, 2, 3])
    }
    unsplash = try UnsplashOrigin(pictures: lakes + [.init(id: "sea", description: "sea")])
  }

  private func provider(_ other: UnsplashOrigin? = nil, key: String? = nil) throws -> any PhotoProvider {
    let origin = other ?? unsplash
    return try ProviderSpecification.service(.unsplash, at: origin.baseURL.absoluteString).provider(
      environment: ["UNSPLASH_ACCESS_KEY": key ?? origin.accessKey], client: loopbackClient())
  }

  @Test func aPictureIsFetchedInTheSizeThatIsNeededAndWithoutTheKey() async throws {
    let page = try await provider().search(PhotoQuery("sea"), at: nil)
    let source = try #require(page.photos.first).source(for: PixelSize(300, 300), fit: .cover)
    let response = try await loopbackClient().get(HTTPRequest(url: source.url))
    #expect(response.status == 200)
    let record = try #require(unsplash.imageRequests.first)
    #expect(record.path == "/images/photo-sea")
    #expect(record.request.query["w"] == "450" && record.request.query["h"] == "300")
    #expect(record.request.query["ixid"] == "T1")
    #expect(record.request.value(of: "Authorization") == nil)
  }
}
