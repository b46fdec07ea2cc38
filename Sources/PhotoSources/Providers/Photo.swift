public import Foundation
public import ThumbnailCore

/// A photo of a provider: what it is called, whom it is by, and where to get it.
///
/// Can be encoded, to be stored with a page of a search. Header fields that its source is asked with are left out: they
/// may be credentials.
public struct Photo: Identifiable, Equatable, Sendable, Codable {
  /// What the provider knows the photo by; the same in every answer.
  public let id: String
  /// The name of the provider.
  public let provider: String
  /// A few words on what is to be seen.
  public var title: String?
  /// The photo's own size in pixels, where the provider tells.
  public var size: PixelSize?
  /// Who made it.
  public var author: String?
  /// The author's page, as the provider wants it linked.
  public var authorURL: URL?
  /// Whom to thank, in one line: `Photo by Ada on Unsplash`.
  public var attribution: String?
  /// The photo's page, as the provider wants it linked.
  public var pageURL: URL?
  /// Under what terms it may be used.
  public var licence: PhotoLicence?
  /// Where the provider wants to be told that the photo is put to use: see `PhotoProvider.reportUse(of:)`.
  public var downloadLocation: URL?

  private let location: PhotoLocation

  /// A photo that is to be had in one size only.
  public init(
    id: String, provider: String, title: String? = nil, size: PixelSize? = nil, author: String? = nil,
    authorURL: URL? = nil, pageURL: URL? = nil, licence: PhotoLicence? = nil, source: ImageSource
  ) {
    self.init(id: id, provider: provider, title: title, size: size, location: .single(source))
    self.author = author
    self.authorURL = authorURL
    self.pageURL = pageURL
    self.licence = licence
  }

  init(id: String, provider: String, title: String?, size: PixelSize? = nil, location: PhotoLocation) {
    self.id = id
    self.provider = provider
    self.title = title
    self.size = size
    self.location = location
  }

  /// What tells the photo from all others of its provider: its id, and its place where that is the provider's only one.
  var fingerprint: [UInt8] {
    if case .single(let source) = location { return Array(id.utf8) + [0] + source.key.bytes }
    return Array(id.utf8)
  }

  /// The smallest form of the photo that the provider's server has and that is large enough for a thumbnail.
  ///
  /// Of several thumbnails, ask for the largest: one download serves all, and all forms of a photo have one identity in
  /// the cache. For a file this looks up its length and time of modification, a few microseconds.
  ///
  /// - Parameters:
  ///   - size: The thumbnail's box, in device pixels. For `Scaling.best`, twice that.
  ///   - fit: How the photo is laid into the box.
  ///   - original: Whether the photo is to be had as it was uploaded, whatever the box.
  public func source(for size: PixelSize, fit: Fit, original: Bool = false) -> ImageSource {
    switch location {
    case .single(let source): return source
    case .file(let path): return .file(at: path)
    case .served(let forms):
      let urls = forms.urls(ofSize: self.size, for: original ? nil : PhotoForms.Cell(box: size, fit: fit))
      return ImageSource(
        urls[0], identity: "\(provider):\(id)", alternates: Array(urls.dropFirst()),
        downloadsPerHost: forms.downloadsPerHost)
    }
  }
}

/// The terms a photo may be used under.
public struct PhotoLicence: Hashable, Sendable, Codable {
  /// What the terms are called.
  public var name: String
  /// Where they can be read.
  public var url: URL?

  /// Names terms.
  public init(name: String, url: URL? = nil) {
    self.name = name
    self.url = url
  }
}
