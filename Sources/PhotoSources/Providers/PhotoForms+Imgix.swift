import Foundation
import ThumbnailCore

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
  /// format is fixed to JPEG, since content negotiation may yield AVIF, which takes 25 times the memory to decode.
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
