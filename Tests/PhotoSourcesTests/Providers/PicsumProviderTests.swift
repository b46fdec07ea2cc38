import TestSupport

@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct PicsumProviderTests {
  private func provider(_ picsum: PhotoServiceOrigin) throws -> any PhotoProvider {
    try PhotoSourcesTests.provider(.picsum, picsum)
  }

  @Test func theListIsReadToItsEnd() async throws {
    let picsum = try PhotoServiceOrigin.picsum(lakes(250))
    #expect(try await provider(picsum).pages(of: PhotoQuery("", pageSize: 500)).map(\.count) == [100, 100, 50])
    #expect(picsum.apiRequests.map(\.target) == (1...3).map { "/v2/list?page=\($0)&limit=100" })
  }

  @Test func theFirstPagesLinkIsNotBelievedForEver() async throws {
    let picsum = try PhotoServiceOrigin.picsum(lakes(3))
    #expect(try await provider(picsum).pages(of: PhotoQuery("", pageSize: 30)).map(\.count) == [3, 0])
  }

  @Test func itCannotSearch() async throws {
    let picsum = try PhotoServiceOrigin.picsum(lakes(3))
    #expect(try await searchError(try provider(picsum))?.code == "unsupported")
    #expect(picsum.apiRequests.isEmpty)
  }

  @Test func readsAPhoto() async throws {
    let picsum = try PhotoServiceOrigin.picsum([OriginPicture(id: "7", description: "", width: 4728, height: 3168)])
    let photo = try #require(try await provider(picsum).search(PhotoQuery(), at: nil).photos.first)
    #expect(photo.id == "7" && photo.author == "Test E" && photo.size == PixelSize(4728, 3168))
    #expect(photo.attribution == "Photo by Test E on Unsplash, via Lorem Picsum")
    #expect(photo.pageURL?.absoluteString == "https://unsplash.com/photos/7")
    let source = photo.source(for: PixelSize(300, 300), fit: .cover)
    #expect(source.url == picsum.origin.url("/id/7/448/300.jpg") && source.identity == "picsum:7")
  }

  @Test func photosByChance() async throws {
    let picsum = try PhotoServiceOrigin.picsum(lakes(40))
    #expect(Set(try await provider(picsum).random(count: 10).map(\.id)).count == 10)
    #expect(try await provider(picsum).random(count: 0).isEmpty)
  }
}
