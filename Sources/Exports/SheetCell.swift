public import Foundation
public import ThumbnailCore

/// A picture as a contact sheet shows it: its first thumbnail, and under it what it is called, how large it is, where it
/// comes from and whom it is by; or why there is no thumbnail.
public struct SheetCell: Sendable {
  /// One thumbnail of the picture.
  public struct Picture: Sendable {
    /// Where its bytes are.
    public enum Content: Sendable {
      /// They go into the sheet.
      case embedded(Data, ImageFormat)
      /// They are in a file at this address, from the sheet on.
      case linked(address: String)
    }

    /// Its size in pixels, where known.
    public var size: PixelSize?
    /// The length of its file in bytes, where known.
    public var byteCount: Int?
    /// Where its bytes are.
    public var content: Content

    /// Describes a thumbnail.
    public init(size: PixelSize?, byteCount: Int?, content: Content) {
      (self.size, self.byteCount, self.content) = (size, byteCount, content)
    }

    /// A thumbnail that goes into the sheet.
    public init(_ thumbnail: Thumbnail) {
      self.init(
        size: thumbnail.size, byteCount: thumbnail.data.count,
        content: .embedded(thumbnail.data, thumbnail.format))
    }
  }

  /// What the picture is called.
  public var name: String
  /// The page of the picture, or the `publicAddress` of the picture itself. Only addresses of the web become links.
  public var url: URL?
  /// Who made it.
  public var author: String?
  /// The author's page.
  public var authorURL: URL?
  /// Whom to thank, in one line; stands in place of the author.
  public var attribution: String?
  /// Under what terms it may be used.
  public var licence: String?
  /// Where the terms can be read.
  public var licenceURL: URL?
  /// What is known of the picture itself.
  public var source: SourceDescription?
  /// Its thumbnails. The first is shown, the others are named.
  public var pictures: [Picture]
  /// What went wrong, in one line; nil when nothing did.
  public var failure: String?

  /// A cell with a name and nothing else yet.
  public init(name: String, url: URL? = nil, pictures: [Picture] = [], failure: String? = nil) {
    (self.name, self.url, self.pictures, self.failure) = (name, url, pictures, failure)
  }

  /// The address of a picture itself, without its query, name and password: these may be keys that were meant for whoever
  /// makes the sheet and not for whom it is sent to, as in addresses that are signed. Without its query the address may
  /// lead to the picture in another size, or nowhere.
  public static func publicAddress(of url: URL) -> URL? {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
    (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
    return parts.url
  }

  /// The address of a URL that may become a link: of the web, and without the name and password in it. Anything else,
  /// `javascript:` above all, does not come into a page.
  static func address(_ url: URL?) -> String? {
    guard let url, ["http", "https"].contains(url.scheme?.lowercased() ?? ""),
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return nil }
    (parts.user, parts.password) = (nil, nil)
    return parts.string
  }
}
