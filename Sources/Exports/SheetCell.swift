package import Foundation
package import ThumbnailCore

/// An image on a contact sheet: its first thumbnail with name, size, source and author below it, or the reason why
/// there is no thumbnail.
package struct SheetCell: Sendable {
  /// The image's name.
  package var name: String
  /// The image's page, or the `publicAddress` of the image itself. Only `http` and `https` URLs become links.
  package var url: URL?
  /// The author's name.
  package var author: String?
  /// The author's page.
  package var authorURL: URL?
  /// The credit line; replaces the author.
  package var attribution: String?
  /// The licence's name.
  package var licence: String?
  /// The licence's URL.
  package var licenceURL: URL?
  /// The metadata of the source image.
  package var source: SourceDescription?
  /// Its thumbnails. The first is shown, the others are listed.
  package var pictures: [Thumbnail]
  /// The error in one line; nil if there was none.
  package var failure: String?

  /// A cell with a name only.
  package init(name: String, url: URL? = nil, pictures: [Thumbnail] = [], failure: String? = nil) {
    (self.name, self.url, self.pictures, self.failure) = (name, url, pictures, failure)
  }

  /// The URL of an image without query, user and password, which may contain secrets such as the key of a signed URL:
  /// the sheet may be sent to others. Without its query the URL may lead to another size of the image, or nowhere.
  package static func publicAddress(of url: URL) -> URL? {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
    (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
    return parts.url
  }
}
