import Foundation

/// A photo in the API's response; only fields without a `?` are required.
struct OpenversePhoto: Decodable, Sendable {
  let id: String
  let url: String
  let license: String
  @Tolerant var licenseVersion: String?
  @Tolerant var licenseURL: String?
  @Tolerant var title: String?
  @Tolerant var creator: String?
  @Tolerant var creatorURL: String?
  @Tolerant var foreignLandingURL: String?
  @Tolerant var thumbnail: String?
  @Tolerant var width: Int?
  @Tolerant var height: Int?

  enum CodingKeys: String, CodingKey {
    case id, url, license, title, creator, thumbnail, width, height
    case licenseVersion = "license_version"
    case licenseURL = "license_url"
    case creatorURL = "creator_url"
    case foreignLandingURL = "foreign_landing_url"
  }

  /// Converts to a `Photo`.
  func photo() throws(ItemFault) -> Photo {
    let id = try PhotoItems.id(id)
    let original = try PhotoItems.url(url, "url")
    let size = width.flatMap { width in height.flatMap { try? PhotoItems.size(width, $0) } }
    var photo = Photo(
      id: id, provider: OpenverseProvider.name, title: PhotoItems.text(title), size: size,
      location: .served(
        PhotoForms(server: .openverse, url: PhotoItems.webURL(thumbnail) ?? original, original: original)))
    photo.author = PhotoItems.text(creator)
    photo.authorURL = PhotoItems.webURL(creatorURL)
    photo.pageURL = PhotoItems.webURL(foreignLandingURL)
    photo.licence = PhotoLicence(name: licenceName, url: PhotoItems.webURL(licenseURL))
    let work = [photo.title.map { "“\($0)”" }, photo.author.map { "by \($0)" }].compactMap { $0 }
      .joined(separator: " ")
    photo.attribution = [work.isEmpty ? nil : work, licenceName, "via Openverse"].compactMap { $0 }
      .joined(separator: ", ")
    return photo
  }

  /// The licence as Creative Commons writes it: `CC BY-SA 2.0` for `by-sa` and `2.0`.
  private var licenceName: String {
    let name =
      switch license.lowercased() {
      case "pdm": "Public Domain Mark"
      case "cc0": "CC0"
      case let code: "CC \(code.uppercased())"
      }
    return PhotoItems.text([name, licenseVersion ?? ""].joined(separator: " ")) ?? name
  }
}

/// The response to a search.
struct OpenverseResponse: Decodable, Sendable {
  @Tolerant var resultCount: Int?
  @Tolerant var pageCount: Int?
  let results: [Lenient<OpenversePhoto>]

  enum CodingKeys: String, CodingKey {
    case results
    case resultCount = "result_count"
    case pageCount = "page_count"
  }
}
