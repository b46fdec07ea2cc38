public import Foundation
public import ThumbnailCore

/// A photo of a provider: its metadata and its source.
///
/// Can be encoded, to be stored with a page of a search. The request headers of its source are left out, since they may
/// be credentials.
public struct Photo: Identifiable, Equatable, Sendable, Codable {
  /// The provider's id of the photo, the same in every response.
  public let id: String
  /// The name of the provider.
  public let provider: String
  /// Its line in a list of URLs, from 1.
  package var line: Int?
  /// A short description.
  public var title: String?
  /// The photo's own size in pixels, if the provider reports it.
  public var size: PixelSize?
  /// The author's name.
  public var author: String?
  /// The author's page, as the provider requires it to be linked.
  public var authorURL: URL?
  /// The credit line: `Photo by Ada on Unsplash`.
  public var attribution: String?
  /// The photo's page, as the provider requires it to be linked.
  public var pageURL: URL?
  /// The licence.
  public var licence: PhotoLicence?
  /// The URL that reports a use of the photo: see `PhotoProvider.reportUse(of:)`.
  public var downloadLocation: URL?

  private let location: PhotoLocation

  /// A photo that exists in one size only.
  public init(
    id: String, provider: String, title: String? = nil, size: PixelSize? = nil, author: String? = nil,
    authorURL: URL? = nil, pageURL: URL? = nil, licence: PhotoLicence? = nil, source: ImageSource
  ) {
    self.init(id: id, provider: provider, title: title, size: size, location: .single(source))
    (self.author, self.authorURL, self.pageURL, self.licence) = (author, authorURL, pageURL, licence)
  }

  init(id: String, provider: String, title: String?, size: PixelSize? = nil, location: PhotoLocation) {
    (self.id, self.provider, self.title, self.size, self.location) = (id, provider, title, size, location)
  }

  /// Identifies the photo within its provider: its id, and for a photo with a single source also the source's key.
  var fingerprint: [UInt8] {
    if case .single(let source) = location { return Array(id.utf8) + [0] + source.key.bytes }
    return Array(id.utf8)
  }

  /// The source of the smallest form on the provider's server that is large enough for a thumbnail.
  ///
  /// For several thumbnails, use the largest: one download serves all, and all forms of a photo share one identity in
  /// the cache. For a file this reads its length and modification time, which takes a few microseconds.
  ///
  /// - Parameters:
  ///   - size: The thumbnail's box, in device pixels.
  ///   - fit: How the photo fits the box.
  public func source(for size: PixelSize, fit: Fit) -> ImageSource {
    switch location {
    case .single(let source): return source
    case .file(let path): return .file(at: path)
    case .served(let forms):
      let urls = forms.urls(ofSize: self.size, for: PhotoForms.Cell(box: size, fit: fit))
      return ImageSource(
        urls[0], identity: "\(provider):\(id)", alternates: Array(urls.dropFirst()),
        downloadsPerHost: forms.downloadsPerHost)
    }
  }

  /// The source of the smallest form of the photo that is large enough for all of these thumbnails.
  func source(for variants: [Variant]) -> ImageSource {
    let boxes = variants.map(\.size)
    let box = PixelSize(boxes.map(\.width).max() ?? 1, boxes.map(\.height).max() ?? 1)
    return source(for: box, fit: variants.first?.fit ?? .cover)
  }
}

/// A licence.
public struct PhotoLicence: Hashable, Sendable, Codable {
  /// The licence's name.
  public var name: String
  /// The URL of its text.
  public var url: URL?

  /// Makes a licence.
  public init(name: String, url: URL? = nil) {
    self.name = name
    self.url = url
  }
}

/// The place from which a photo is loaded.
enum PhotoLocation: Equatable, Sendable {
  /// A single URL.
  case single(ImageSource)
  /// A file named by the user, or in a folder named by the user.
  case file(RawPath)
  /// A provider's server, which has several sizes. To the cache they are all the same image.
  case served(PhotoForms)
}

extension PhotoLocation: Codable {
  private enum CodingKeys: CodingKey { case url, identity, path, forms }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    if let forms = try values.decodeIfPresent(PhotoForms.self, forKey: .forms) {
      self = .served(forms)
    } else if let path = try values.decodeIfPresent(String.self, forKey: .path) {
      self = .file(RawPath(text: path))
    } else {
      self = .single(
        ImageSource(
          try values.decode(URL.self, forKey: .url),
          identity: try values.decodeIfPresent(String.self, forKey: .identity)))
    }
  }

  func encode(to encoder: any Swift.Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .served(let forms): try values.encode(forms, forKey: .forms)
    case .file(let path): try values.encode(path.text, forKey: .path)
    case .single(let source):
      try values.encode(source.url, forKey: .url)
      if source.identity != source.url.absoluteString { try values.encode(source.identity, forKey: .identity) }
    }
  }
}
