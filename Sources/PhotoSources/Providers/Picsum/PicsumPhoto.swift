import Foundation

/// An image in Lorem Picsum's list; only fields without a `?` are required.
struct PicsumPhoto: Decodable, Sendable {
  let id: String
  let width: Int
  let height: Int
  @Tolerant var author: String?
  @Tolerant var url: String?
  let downloadURL: String

  enum CodingKeys: String, CodingKey {
    case id, width, height, author, url
    case downloadURL = "download_url"
  }

  /// Converts to a `Photo`.
  func photo() throws(ItemFault) -> Photo {
    let id = try PhotoItems.id(id)
    let size = try PhotoItems.size(width, height)
    let download = try PhotoItems.url(downloadURL, "download_url")
    // `https://picsum.photos/id/7/4728/3168`: replacing width and height gives the same image scaled.
    guard download.pathComponents.suffix(2) == ["\(width)", "\(height)"] else {
      throw ItemFault(reason: "download_url does not end with the picture's size")
    }
    let picture = download.deletingLastPathComponent().deletingLastPathComponent()
    var photo = Photo(
      id: id, provider: PicsumProvider.name, title: nil, size: size,
      location: .served(PhotoForms(server: .picsum, url: picture)))
    photo.author = PhotoItems.text(author)
    photo.pageURL = PhotoItems.webURL(url)
    photo.attribution = (photo.author.map { "Photo by \($0)" } ?? "Photo") + " on Unsplash, via Lorem Picsum"
    photo.licence = PhotoLicence(name: "Unsplash License", url: URL(string: "https://unsplash.com/license"))
    return photo
  }
}
