import Foundation

/// A photo as Unsplash's API describes it: the fields that are used, of which only those without a `?` are needed.
struct UnsplashPhoto: Decodable, Sendable {
  struct URLs: Decodable, Sendable {
    let raw: String
  }

  struct Links: Decodable, Sendable {
    let html: String?
    let downloadLocation: String?

    enum CodingKeys: String, CodingKey {
      case html
      case downloadLocation = "download_location"
    }
  }

  struct User: Decodable, Sendable {
    let username: String
    let name: String?
    let links: Links?
  }

  let id: String
  let width: Int
  let height: Int
  let description: String?
  /// Not in Unsplash's own specification, and yet always sent.
  let altDescription: String?
  let urls: URLs
  let links: Links?
  let user: User

  enum CodingKeys: String, CodingKey {
    case id, width, height, description, urls, links, user
    case altDescription = "alt_description"
  }

  /// The longest side that is believed, in pixels.
  private static let longestSide = 1_000_000

  /// The photo as the library knows it. Links to Unsplash say who sent the visitor, as its terms want it.
  func photo(application: String) throws(ItemFault) -> Photo {
    guard (1...200).contains(id.utf8.count), id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw .init(reason: "id cannot be used")
    }
    guard (1...Self.longestSide).contains(width), (1...Self.longestSide).contains(height) else {
      throw .init(reason: "it claims to be \(width) × \(height) pixels")
    }
    guard let raw = Self.webURL(urls.raw), let host = raw.host()?.lowercased() else {
      throw .init(reason: "urls.raw is not a URL of the web")
    }
    // The API does not offer them, and yet some have come through it, with a watermark.
    guard host != "plus.unsplash.com" else {
      throw .init(reason: "it is an Unsplash+ photo, which is not free to use", isMalformed: false)
    }
    let size = PixelSize(width, height)
    var photo = Photo(
      id: id, provider: UnsplashProvider.name, title: Self.text(description) ?? Self.text(altDescription), size: size,
      location: .served(PhotoForms(server: .imgix, url: raw)))
    let author = Self.text(user.name) ?? user.username
    photo.author = author
    photo.authorURL = Self.credited(user.links?.html, application)
    photo.pageURL = Self.credited(links?.html, application)
    photo.attribution = "Photo by \(author) on Unsplash"
    photo.licence = PhotoLicence(name: "Unsplash License", url: URL(string: "https://unsplash.com/license"))
    photo.downloadLocation = links?.downloadLocation.flatMap(Self.webURL)
    return photo
  }

  private static func text(_ text: String?) -> String? {
    let line = text.map { Snippet.line($0, limit: 500) } ?? ""
    return line.isEmpty ? nil : line
  }

  private static func credited(_ link: String?, _ application: String) -> URL? {
    guard let url = link.flatMap(webURL) else { return nil }
    return url.appending(queryItems: [
      URLQueryItem(name: "utm_source", value: application), URLQueryItem(name: "utm_medium", value: "referral"),
    ])
  }

  private static func webURL(_ text: String) -> URL? {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      let host = url.host(), !host.isEmpty
    else { return nil }
    return url
  }
}

/// The answer to a search.
struct UnsplashSearchAnswer: Decodable, Sendable {
  let total: Int?
  let totalPages: Int?
  let results: [Lenient<UnsplashPhoto>]

  enum CodingKeys: String, CodingKey {
    case total, results
    case totalPages = "total_pages"
  }
}

/// The answer to a request for photos by chance: one, or a list.
enum UnsplashRandomAnswer: Decodable, Sendable {
  case one(Lenient<UnsplashPhoto>)
  case several([Lenient<UnsplashPhoto>])

  init(from decoder: any Decoder) throws {
    if let list = try? [Lenient<UnsplashPhoto>](from: decoder) {
      self = .several(list)
    } else {
      self = .one(Lenient<UnsplashPhoto>(from: decoder))
    }
  }

  /// The photos, good and bad.
  var photos: [Lenient<UnsplashPhoto>] {
    switch self {
    case .one(let photo): [photo]
    case .several(let photos): photos
    }
  }
}
