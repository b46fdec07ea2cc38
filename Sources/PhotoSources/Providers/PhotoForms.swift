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
    /// Certain widths only. `url` has one of them.
    case commons
  }

  /// The use for which a form has to be large enough.
  struct Cell {
    /// The thumbnail's box, in device pixels.
    var box: PixelSize
    /// How the photo fits the box.
    var fit: Fit

    /// The size of the whole photo in its aspect ratio, scaled down until it just covers or fits the box. A photo of
    /// unknown size counts as a 3:2 landscape.
    func scaledSize(of size: PixelSize?) -> PixelSize {
      let (width, height) = (Double(max(size?.width ?? 30_000, 1)), Double(max(size?.height ?? 20_000, 1)))
      let scales = (Double(max(box.width, 1)) / width, Double(max(box.height, 1)) / height)
      let scale = min(1, fit == .contain ? min(scales.0, scales.1) : max(scales.0, scales.1))
      // Rounds up, with a tolerance for floating-point error, so that the side set by the box stays exact.
      func side(_ exact: Double) -> Int { Int(min(max((exact - 1e-6).rounded(.up), 1), 1e6)) }
      return PixelSize(side(width * scale), side(height * scale))
    }
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
  ///   - cell: The cell for which the form has to be large enough.
  func urls(ofSize size: PixelSize?, for cell: Cell) -> [URL] {
    switch server {
    case .imgix, .pexels:
      guard let size else { return [url] }
      return [imgixURL(ofSize: size, for: cell)]
    case .commons: return commonsURLs(ofSize: size, for: cell)
    }
  }

  /// The most concurrent downloads that the server allows; nil if unknown.
  ///
  /// Commons renders at most four thumbnails at a time for one client address, and throttles clients that request more.
  var downloadsPerHost: Int? { server == .commons ? 2 : nil }
}

/// The thumbnails that Wikimedia Commons offers of a file.
///
/// Only certain widths are served; others are refused. The URLs differ only in the width before `px-` at the end of the
/// path; no other part of them is assumed.
extension PhotoForms {
  /// The available widths, in pixels.
  private static let commonsWidths = [20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840]

  /// The URLs to try, in order. The original comes first only if no thumbnail is large enough, with the largest
  /// thumbnail as its fallback, since Commons may refuse originals to programs.
  func commonsURLs(ofSize size: PixelSize?, for cell: Cell) -> [URL] {
    let original = original ?? url
    let smaller = Self.commonsWidths.filter { $0 < size?.width ?? .max }
    let wanted = cell.scaledSize(of: size).width
    if let width = smaller.first(where: { $0 >= wanted }),
      let thumbnail = commonsThumbnail(ofWidth: width)
    {
      let text = url.absoluteString
      let isEnough = Self.widthRange(in: text).flatMap { Int(text[$0]) }.map { $0 >= wanted } ?? false
      return thumbnail != url && isEnough ? [thumbnail, url, original] : [thumbnail, original]
    }
    return [original] + [smaller.last.flatMap(commonsThumbnail(ofWidth:))].compactMap(\.self)
  }

  private func commonsThumbnail(ofWidth width: Int) -> URL? {
    // A file smaller than the requested thumbnail has none.
    var text = url.absoluteString
    guard url != original, let range = Self.widthRange(in: text) else { return nil }
    text.replaceSubrange(range, with: "\(width)")
    return URL(string: text)
  }

  /// The range of the width: the digits before `px-` in the last path component.
  private static func widthRange(in text: String) -> Range<String.Index>? {
    let match = text.firstMatch(of: /^[^?#]*\/[^\/?#]*?([0-9]+)px-[^\/?#]*(?:[?#]|$)/)
    return match.map { $0.1.startIndex..<$0.1.endIndex }
  }
}

/// URLs for servers that scale images on demand, with the parameters of imgix.
extension PhotoForms {
  /// The rendering parameters, which are replaced. All others are kept: Unsplash's terms require `ixid`, which
  /// identifies the application.
  private static let rendering: Set<String> = [
    "w", "h", "fit", "crop", "q", "fm", "dpr", "auto", "ar", "max-w", "max-h", "cs",
  ]

  private static let standardManner = [("fit", "max"), ("q", "85"), ("fm", "jpg"), ("dpr", "1")]
  /// As in the URLs of Pexels' API. Its `auto=compress` affects the quality, not the format.
  private static let pexelsManner = [("auto", "compress"), ("cs", "tinysrgb"), ("dpr", "1")]

  /// The URL of the whole image, just large enough that the thumbnail is not upscaled.
  ///
  /// The server never crops: the gravity is applied here, and other thumbnails of the image may need the rest. The
  /// format is fixed to JPEG, because content negotiation may yield AVIF, which takes 25 times the memory to decode.
  func imgixURL(ofSize size: PixelSize, for cell: Cell) -> URL {
    guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
    let kept = (components.percentEncodedQueryItems ?? []).filter { !Self.rendering.contains($0.name) }
    let scaled = cell.scaledSize(of: size)
    let sides = [("w", "\(scaled.width)"), ("h", "\(scaled.height)")]
    let manner = server == .pexels ? Self.pexelsManner : Self.standardManner
    components.percentEncodedQueryItems = kept + (sides + manner).map { URLQueryItem(name: $0.0, value: $0.1) }
    return components.url ?? url
  }
}
