import Foundation
import HTTPTransport

extension PhotoService {
  /// The images of Lorem Picsum (picsum.photos).
  static let picsum = PhotoService(
    dialect: ProviderDialect(name: "picsum"), baseURL: "https://picsum.photos", largestPage: 100, searches: false,
    request: { page in ("v2/list", [("page", "\(page.number)"), ("limit", "\(page.size)")]) },
    content: { (json, response, page) throws(ItemFault) in
      let items = try json.list("")
      // The first page always links to a next one, so an empty page ends the list, too.
      return (items, page.next(after: items, linkedIn: response), nil)
    },
    photo: Picsum.photo, random: Picsum.random)
}

private enum Picsum {
  /// The least number of full pages of the list; random photos come from one of these.
  private static let fullPages = 9

  /// Random images, all from one page of the list: at most 100.
  @Sendable static func random(_ provider: ServiceProvider, _ count: Int) async throws(ProviderError) -> [Photo] {
    let query = PhotoQuery("", pageSize: .max)
    var photos = try await provider.page(of: query, at: PageCursor("\(Int.random(in: 1...fullPages))")).photos
    if photos.isEmpty { photos = try await provider.page(of: query).photos }
    return Array(photos.shuffled().prefix(count))
  }

  @Sendable static func photo(_ item: JSON) throws(ItemFault) -> Photo {
    let (id, size, download) = (try item.id("id"), try item.size(), try item.url("download_url"))
    // `https://picsum.photos/id/7/4728/3168`: replacing width and height gives the same image scaled.
    guard download.pathComponents.suffix(2) == ["\(size.width)", "\(size.height)"] else {
      throw ItemFault(reason: "download_url does not end with the picture's size")
    }
    let picture = download.deletingLastPathComponent().deletingLastPathComponent()
    var photo = Photo(
      id: id, provider: "picsum", title: nil, size: size, location: .served(PhotoForms(server: .picsum, url: picture)))
    photo.author = item.line("author")
    photo.pageURL = item.webURL("url")
    photo.attribution = (photo.author.map { "Photo by \($0)" } ?? "Photo") + " on Unsplash, via Lorem Picsum"
    photo.licence = .unsplash
    return photo
  }
}
