import Foundation
import ThumbnailCore

/// The sizes of a photo on a provider's server, and the scheme of their URLs.
struct PhotoForms: Hashable, Sendable, Codable {
  /// The URL schemes of servers.
  enum Server: String, Codable {
    /// Any size, with the parameters of imgix.
    case imgix
    /// Any size, with the imgix parameters that Pexels uses itself.
    case pexels
    /// Certain widths. `url` has one of them.
    case commons
    /// One small form, `url`, and the original.
    case openverse
    /// Any size, as the end of the path. `url` is the part before it.
    case picsum
  }

  /// What a form has to be large enough for.
  struct Cell {
    /// The thumbnail's box, in device pixels.
    var box: PixelSize
    /// How the photo fits the box.
    var fit: Fit
  }

  var server: Server
  /// The URL that the others are derived from.
  var url: URL
  /// The photo as uploaded, if `url` is not that.
  var original: URL?

  /// The URLs to try, the best first; the others are fallbacks. Never empty.
  ///
  /// - Parameters:
  ///   - size: The photo's own size in pixels, if known.
  ///   - cell: What the form has to be large enough for; nil for the photo as uploaded.
  func urls(ofSize size: PixelSize?, for cell: Cell?) -> [URL] {
    switch server {
    case .imgix, .pexels:
      guard let cell, let size else { return [url] }
      return [imgixURL(ofSize: size, for: cell)]
    case .commons: return commonsURLs(ofSize: size, for: cell)
    case .openverse: return openverseURLs(ofSize: size, for: cell)
    case .picsum: return [picsumURL(ofSize: size, for: cell)]
    }
  }

  /// The largest width of Openverse's only thumbnail of a photo, in pixels; photos are not upscaled.
  private static let openverseWidth = 600
  /// The longest side that Lorem Picsum renders, in pixels.
  private static let picsumSide = PixelSize(5000, 5000)

  /// Openverse's thumbnail fails with status 424 if its proxy cannot fetch the photo, even when the original, on another
  /// server, is available.
  private func openverseURLs(ofSize size: PixelSize?, for cell: Cell?) -> [URL] {
    let original = original ?? url
    guard let cell, url != original else { return [original] }
    let isEnough = min(cell.scaledSize(of: size).width, size?.width ?? .max) <= Self.openverseWidth
    return isEnough ? [url, original] : [original]
  }

  /// The aspect ratio is kept, since Lorem Picsum crops to any other. `url` is `https://picsum.photos/id/7`.
  private func picsumURL(ofSize size: PixelSize?, for cell: Cell?) -> URL {
    var size = cell?.scaledSize(of: size) ?? size ?? Self.picsumSide
    if size.longerSide > Self.picsumSide.width {
      size = Cell(box: Self.picsumSide, fit: .contain).scaledSize(of: size)
    }
    return url.appending(path: "\(size.width)/\(size.height).jpg")
  }

  /// The most concurrent downloads that the server allows; nil if unknown.
  ///
  /// Commons renders at most four thumbnails at a time for one client address, and throttles clients that request more.
  var downloadsPerHost: Int? { server == .commons ? 2 : nil }
}

extension PhotoForms.Cell {
  /// The size of the whole photo in its aspect ratio, scaled down until it just covers or fits the box. A photo of
  /// unknown size is taken for a 3:2 landscape.
  func scaledSize(of size: PixelSize?) -> PixelSize {
    let (width, height) = (Double(max(size?.width ?? 30_000, 1)), Double(max(size?.height ?? 20_000, 1)))
    let scales = (Double(max(box.width, 1)) / width, Double(max(box.height, 1)) / height)
    let scale = min(1, fit == .contain ? min(scales.0, scales.1) : max(scales.0, scales.1))
    // Rounds up, with a tolerance for floating-point error, so that the side set by the box stays exact.
    func side(_ exact: Double) -> Int { Int(min(max((exact - 1e-6).rounded(.up), 1), 1e6)) }
    return PixelSize(side(width * scale), side(height * scale))
  }
}
