@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct PexelsProviderTests {
  private static let key = "SECRET-key_2"

  private func provider(_ pexels: PhotoServiceOrigin, key: String = key) throws -> any PhotoProvider {
    try PhotoSourcesTests.provider(.pexels, pexels, environment: ["PEXELS_API_KEY": key])
  }

  @Test func aSearchIsReadToItsEndAlthoughTheLinkLeadsNowhereAndAPageIsShort() async throws {
    let pexels = try PhotoServiceOrigin.pexels(lakes(45), accessKey: Self.key, shortPage: 2)
    let provider = try provider(pexels)
    #expect(try await provider.pages(of: PhotoQuery("lake", pageSize: 20)).map(\.count) == [20, 19, 5])
    #expect(pexels.apiRequests.map(\.target) == (1...3).map { "/v1/search?query=lake&page=\($0)&per_page=20" })
    #expect(pexels.apiRequests.allSatisfy { $0.request.value(of: "Authorization") == Self.key })
    #expect(try await provider.search(PhotoQuery("lake"), at: nil).total == 45)
  }

  @Test func withoutWordsItGivesItsRecommendations() async throws {
    let pexels = try PhotoServiceOrigin.pexels(lakes(100), accessKey: Self.key)
    #expect(try await provider(pexels).search(PhotoQuery(" ", pageSize: 1000), at: nil).photos.count == 80)
    #expect(pexels.apiRequests.map(\.path) == ["/v1/curated"])
    #expect(try await provider(pexels).search(PhotoQuery("desert"), at: nil).photos.isEmpty)
  }

  @Test func readsAPhoto() async throws {
    let pexels = try PhotoServiceOrigin.pexels(lakes(1), accessKey: Self.key)
    let photo = try #require(try await provider(pexels).search(PhotoQuery("lake"), at: nil).photos.first)
    #expect(photo.id == "1" && photo.provider == "pexels" && photo.title == "lake 1")
    #expect(photo.author == "Test C" && photo.authorURL?.absoluteString == "https://www.pexels.com/@c")
    #expect(photo.attribution == "Photo by Test C on Pexels" && photo.licence?.name == "Pexels License")
    #expect(photo.pageURL?.absoluteString == "https://www.pexels.com/photo/1/")
    let source = photo.source(for: PixelSize(400, 400), fit: .cover)
    #expect(source.identity == "pexels:1" && source.url.query()?.contains("w=600&h=400") == true)
  }

  @Test func theKeyDoesNotGoAlongARedirect() async throws {
    let elsewhere = try Origin { _ in .json(#"{"photos":[]}"#) }
    let pexels = try PhotoServiceOrigin.pexels(lakes(1), accessKey: Self.key)
    pexels.failNext(with: .redirect(to: elsewhere.url("/v1/search").absoluteString))
    #expect(try await provider(pexels).search(PhotoQuery("lake"), at: nil).photos.isEmpty)
    #expect(elsewhere.requests.map { $0.request.value(of: "Authorization") } == [nil])
  }

}
