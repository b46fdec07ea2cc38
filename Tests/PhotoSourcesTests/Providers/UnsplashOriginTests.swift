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
    return try ProviderSpecification.unsplash.provider(
      environment: ["UNSPLASH_ACCESS_KEY": key ?? origin.accessKey], baseURL: origin.baseURL.absoluteString,
      client: loopbackClient())
  }

  @Test func aSearchIsReadToItsEnd() async throws {
    let provider = try provider()
    let pages = try await provider.pages(of: PhotoQuery("lac leman", pageSize: 50))
    #expect(pages.map(\.count) == [30, 30, 5])
    #expect(pages.flatMap { $0 } == (1...65).map { "lake\($0)" })
    #expect(
      unsplash.apiRequests.map(\.target) == (1...3).map { "/search/photos?query=lac%20leman&page=\($0)&per_page=30" })
    let first = try await provider.search(PhotoQuery("lac"), at: nil)
    #expect(first.total == 65)
    #expect(try await provider.search(PhotoQuery("lac"), at: PageCursor("9")) == PhotoPage(photos: [], next: nil))
    #expect(try await provider.search(PhotoQuery("desert"), at: nil).photos.isEmpty)
    #expect(try await provider.pages(of: PhotoQuery("", pageSize: 30)).map(\.count) == [30, 30, 6])
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
