import Foundation

/// A photo in the API's response; only fields without a `?` are required.
struct PexelsPhoto: Decodable, Sendable {
  struct Sources: Decodable, Sendable {
    let original: String
  }

  let id: Int
  let width: Int
  let height: Int
  @Tolerant var url: String?
  @Tolerant var photographer: String?
  @Tolerant var photographerURL: String?
  @Tolerant var alt: String?
  let src: Sources

  enum CodingKeys: String, CodingKey {
    case id, width, height, url, photographer, alt, src
    case photographerURL = "photographer_url"
  }

  /// Converts to a `Photo`.
  func photo() throws(ItemFault) -> Photo {
    let size = try PhotoItems.size(width, height)
    let original = try PhotoItems.url(src.original, "src.original")
    var photo = Photo(
      id: "\(id)", provider: PexelsProvider.name, title: PhotoItems.text(alt), size: size,
      location: .served(PhotoForms(server: .pexels, url: original)))
    photo.author = PhotoItems.text(photographer)
    photo.authorURL = PhotoItems.webURL(photographerURL)
    photo.pageURL = PhotoItems.webURL(url)
    photo.attribution = photo.author.map { "Photo by \($0) on Pexels" } ?? "Photo on Pexels"
    photo.licence = PhotoLicence(name: "Pexels License", url: URL(string: "https://www.pexels.com/license/"))
    return photo
  }
}

/// The response to a search or to a request for curated photos.
struct PexelsResponse: Decodable, Sendable {
  @Tolerant var totalResults: Int?
  /// Used only as a flag, since the URL is wrong (`/v1/v1/search`).
  @Tolerant var nextPage: String?
  let photos: [Lenient<PexelsPhoto>]

  enum CodingKeys: String, CodingKey {
    case photos
    case totalResults = "total_results"
    case nextPage = "next_page"
  }
}
