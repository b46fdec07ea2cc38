import Foundation

/// A photo as Pexels' API describes it: the fields that are used, of which only those without a `?` are needed.
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

  /// The photo as the library knows it.
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

/// The answer to a search, or to the question for the photos of the day.
struct PexelsResponse: Decodable, Sendable {
  @Tolerant var totalResults: Int?
  /// Only whether it is there counts: where it leads is wrong (`/v1/v1/search`).
  @Tolerant var nextPage: String?
  let photos: [Lenient<PexelsPhoto>]

  enum CodingKeys: String, CodingKey {
    case photos
    case totalResults = "total_results"
    case nextPage = "next_page"
  }
}
