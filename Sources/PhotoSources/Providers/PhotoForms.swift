import Foundation
import ThumbnailCore

/// The sizes that a provider's server has of a photo, and how their URLs are written.
struct PhotoForms: Hashable, Sendable, Codable {
  /// The manners of servers.
  enum Server: String, Codable {
    /// Any size, by the parameters of imgix.
    case imgix
    /// Any size, by those parameters of imgix that Pexels uses itself.
    case pexels
    /// The widths of `CommonsThumbnail.steps`. `url` is one of them.
    case commons
    /// One small form, which is `url`, and the original.
    case openverse
    /// Any size, as the end of the path. `url` is the part before.
    case picsum
  }

  /// What a form has to be large enough for.
  struct Cell {
    /// The thumbnail's box, in device pixels.
    var box: PixelSize
    /// How the photo is laid into it.
    var fit: Fit
  }

  var server: Server
  /// What the URLs of all forms are made of.
  var url: URL
  /// The photo as it was uploaded, where `url` does not lead to it.
  var original: URL?

  /// Where the photo is to be had, the best place first; the others stand in for it. Never empty.
  ///
  /// - Parameters:
  ///   - size: The photo's own size in pixels, where it is known.
  ///   - cell: What it has to be large enough for; nil for the photo as it was uploaded.
  func urls(ofSize size: PixelSize?, for cell: Cell?) -> [URL] {
    switch server {
    case .imgix, .pexels:
      guard let cell, let size else { return [url] }
      return [ImgixURL.variant(of: url, source: size, box: cell.box, fit: cell.fit, server: server)]
    case .commons: return CommonsThumbnail(url: url, original: original ?? url).urls(ofSize: size, for: cell)
    case .openverse: return OpenverseThumbnail(url: url, original: original ?? url).urls(ofSize: size, for: cell)
    case .picsum: return [PicsumURL.variant(of: url, source: size, for: cell)]
    }
  }

  /// The most downloads at once that the server wants to be asked for; nil where it does not say.
  ///
  /// Commons renders at most four thumbnails at once for one address, and throttles whoever asks for more.
  var downloadsPerHost: Int? { server == .commons ? 2 : nil }
}

extension PhotoForms.Cell {
  /// The whole photo, in its own proportions, scaled until it is large enough. Without its size, it is taken for a
  /// landscape of 3:2.
  func scaledSize(of size: PixelSize?) -> PixelSize {
    ImgixURL.serverSize(source: size ?? PixelSize(30_000, 20_000), box: box, fit: fit)
  }
}
