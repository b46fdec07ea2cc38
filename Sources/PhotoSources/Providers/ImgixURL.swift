import Foundation
import ThumbnailCore

/// URLs for servers that scale images on demand, with the parameters of imgix.
enum ImgixURL {
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
  ///
  /// - Parameters:
  ///   - source: The image's own size in pixels.
  ///   - box: The thumbnail's size in device pixels.
  ///   - server: The server whose parameters are used.
  static func variant(
    of raw: URL, source: PixelSize, box: PixelSize, fit: Fit, server: PhotoForms.Server = .imgix
  ) -> URL {
    let size = serverSize(source: source, box: box, fit: fit)
    guard var components = URLComponents(url: raw, resolvingAgainstBaseURL: true) else { return raw }
    let kept = (components.percentEncodedQueryItems ?? []).filter { !rendering.contains($0.name) }
    let manner = server == .pexels ? pexelsManner : standardManner
    let sides = [("w", "\(size.width)"), ("h", "\(size.height)")]
    components.percentEncodedQueryItems = kept + (sides + manner).map { URLQueryItem(name: $0.0, value: $0.1) }
    return components.url ?? raw
  }

  /// The size to request: the whole image, in its aspect ratio, scaled to cover or fit the thumbnail.
  static func serverSize(source: PixelSize, box: PixelSize, fit: Fit) -> PixelSize {
    let width = Double(max(source.width, 1))
    let height = Double(max(source.height, 1))
    let scales = (Double(max(box.width, 1)) / width, Double(max(box.height, 1)) / height)
    let scale = min(1, fit == .contain ? min(scales.0, scales.1) : max(scales.0, scales.1))
    return PixelSize(side(width * scale), side(height * scale))
  }

  /// Rounds up, with a tolerance for floating-point error, so that the side set by the box stays exact.
  private static func side(_ exact: Double) -> Int { Int(min(max((exact - 1e-6).rounded(.up), 1), 1e6)) }
}
