import Foundation

/// A photo in the API's response; only fields without a `?` are required.
struct UnsplashPhoto: Decodable, Sendable {
  struct URLs: Decodable, Sendable {
    let raw: String
  }

  struct Links: Decodable, Sendable {
    @Tolerant var html: String?
    @Tolerant var downloadLocation: String?

    enum CodingKeys: String, CodingKey {
      case html
      case downloadLocation = "download_location"
    }
  }

  struct User: Decodable, Sendable {
    let username: String
    @Tolerant var name: String?
    @Tolerant var links: Links?
  }

  let id: String
  let width: Int
  let height: Int
  @Tolerant var description: String?
  /// Not in Unsplash's specification, but always sent.
  @Tolerant var altDescription: String?
  let urls: URLs
  @Tolerant var links: Links?
  let user: User

  enum CodingKeys: String, CodingKey {
    case id, width, height, description, urls, links, user
    case altDescription = "alt_description"
  }

  /// Converts to a `Photo`. Links to Unsplash name the application as referrer, as its terms require.
  func photo(application: String) throws(ItemFault) -> Photo {
    let id = try PhotoItems.id(id)
    let size = try PhotoItems.size(width, height)
    let raw = try PhotoItems.url(urls.raw, "urls.raw")
    // Watermarked photos of Unsplash+ should not be in the API, but some have been returned.
    guard raw.host()?.lowercased() != "plus.unsplash.com" else {
      throw .init(reason: "it is an Unsplash+ photo, which is not free to use", isMalformed: false)
    }
    var photo = Photo(
      id: id, provider: UnsplashProvider.name, title: PhotoItems.text(description) ?? PhotoItems.text(altDescription),
      size: size,
      location: .served(PhotoForms(server: .imgix, url: raw)))
    photo.author = PhotoItems.text(user.name) ?? PhotoItems.text(user.username)
    photo.authorURL = Self.credited(user.links?.html, application)
    photo.pageURL = Self.credited(links?.html, application)
    photo.attribution = photo.author.map { "Photo by \($0) on Unsplash" } ?? "Photo on Unsplash"
    photo.licence = PhotoLicence(name: "Unsplash License", url: URL(string: "https://unsplash.com/license"))
    photo.downloadLocation = PhotoItems.webURL(links?.downloadLocation)
    return photo
  }

  private static func credited(_ link: String?, _ application: String) -> URL? {
    guard let url = PhotoItems.webURL(link) else { return nil }
    return url.appending(queryItems: [
      URLQueryItem(name: "utm_source", value: application), URLQueryItem(name: "utm_medium", value: "referral"),
    ])
  }
}

/// The response to a search.
struct UnsplashSearchResponse: Decodable, Sendable {
  @Tolerant var total: Int?
  @Tolerant var totalPages: Int?
  let results: [Lenient<UnsplashPhoto>]

  enum CodingKeys: String, CodingKey {
    case total, results
    case totalPages = "total_pages"
  }
}

/// The response to a request for random photos: one, or a list.
enum UnsplashRandomResponse: Decodable, Sendable {
  case one(Lenient<UnsplashPhoto>)
  case several([Lenient<UnsplashPhoto>])

  init(from decoder: any Decoder) throws {
    if let list = try? [Lenient<UnsplashPhoto>](from: decoder) {
      self = .several(list)
    } else {
      self = .one(Lenient<UnsplashPhoto>(from: decoder))
    }
  }

  /// The photos, valid and invalid.
  var photos: [Lenient<UnsplashPhoto>] {
    switch self {
    case .one(let photo): [photo]
    case .several(let photos): photos
    }
  }
}
