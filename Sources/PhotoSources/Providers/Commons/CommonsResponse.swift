import Foundation

/// The response of Wikimedia Commons to a search.
struct CommonsResponse: Decodable, Sendable {
  struct Query: Decodable, Sendable {
    /// Unordered: `index` is the position.
    let pages: [Lenient<CommonsPage>]
  }

  /// The parameters to repeat in the request for the next page; nil on the last page.
  let `continue`: [String: FlexibleText]?
  /// Nil when nothing was found.
  let query: Query?

  enum CodingKeys: CodingKey { case `continue`, query }
}

/// A string that may also be encoded as a number.
struct FlexibleText: Decodable, Sendable {
  let text: String

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let number = try? value.decode(Int.self) {
      text = "\(number)"
    } else if let number = try? value.decode(Double.self) {
      text = "\(number)"
    } else {
      text = try value.decode(String.self)
    }
  }
}

/// A file in the API's response; only fields without a `?` are required.
struct CommonsPage: Decodable, Sendable {
  struct Image: Decodable, Sendable {
    let url: String
    let width: Int
    let height: Int
    let mime: String?
    let thumburl: String?
    let descriptionurl: String?
    let extmetadata: [String: Field]

    enum CodingKeys: CodingKey { case url, width, height, mime, thumburl, descriptionurl, extmetadata }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      url = try values.decode(String.self, forKey: .url)
      width = try values.decode(Int.self, forKey: .width)
      height = try values.decode(Int.self, forKey: .height)
      mime = try? values.decode(String.self, forKey: .mime)
      thumburl = try? values.decode(String.self, forKey: .thumburl)
      descriptionurl = try? values.decode(String.self, forKey: .descriptionurl)
      // The API encodes an empty object as a list.
      extmetadata = (try? values.decode([String: Field].self, forKey: .extmetadata)) ?? [:]
    }
  }

  struct Field: Decodable, Sendable {
    let value: String?

    enum CodingKeys: CodingKey { case value }

    init(from decoder: any Decoder) throws {
      value = try? decoder.container(keyedBy: CodingKeys.self).decode(FlexibleText.self, forKey: .value).text
    }
  }

  let pageid: Int
  let title: String
  @Tolerant var index: Int?
  /// Missing if the response was too long; the next response has it.
  let imageinfo: [Image]?

  /// The accepted types; the search returns TIFF and GIF, too.
  private static let kinds: Set<String> = ["image/jpeg", "image/png", "image/webp"]

  /// Converts to a `Photo`; nil for a file of another kind, or one whose data come with a later response.
  func photo() throws(ItemFault) -> Photo? {
    guard let image = imageinfo?.first else { return nil }
    if let mime = image.mime, !Self.kinds.contains(mime.lowercased()) { return nil }
    let size = try PhotoItems.size(image.width, image.height)
    let original = try PhotoItems.url(image.url, "url")
    var photo = Photo(
      id: "\(pageid)", provider: CommonsProvider.name, title: text("ObjectName", of: image) ?? plainTitle, size: size,
      location: .served(
        PhotoForms(server: .commons, url: PhotoItems.webURL(image.thumburl) ?? original, original: original)))
    let artist = image.extmetadata["Artist"]?.value
    photo.author = PhotoItems.text(artist)
    photo.authorURL = artist.flatMap { PhotoItems.webURL(HTMLText.firstLink($0)) }
    photo.pageURL = PhotoItems.webURL(image.descriptionurl)
    photo.licence = text("LicenseShortName", of: image).map {
      PhotoLicence(name: $0, url: PhotoItems.webURL(image.extmetadata["LicenseUrl"]?.value))
    }
    photo.attribution = [photo.author, photo.licence?.name, "via Wikimedia Commons"].compactMap { $0 }
      .joined(separator: ", ")
    return photo
  }

  private func text(_ field: String, of image: Image) -> String? { PhotoItems.text(image.extmetadata[field]?.value) }

  /// `File:Test lake.jpg` without prefix and extension.
  private var plainTitle: String? {
    let name = title.hasPrefix("File:") ? title.dropFirst(5) : title[...]
    return PhotoItems.text(String(name.lastIndex(of: ".").map { name[..<$0] } ?? name))
  }
}
