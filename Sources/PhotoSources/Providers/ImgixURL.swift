import Foundation
import ThumbnailCore

/// URLs of pictures at servers that make any size of them, as imgix does.
enum ImgixURL {
  /// Parameters that say how the picture is to be made. All others stay as they are: `ixid` tells Unsplash who shows
  /// the photo, and its terms want it kept.
  private static let rendering: Set<String> = [
    "w", "h", "fit", "crop", "q", "fm", "dpr", "auto", "ar", "max-w", "max-h", "cs",
  ]

  private static let standardManner = [("fit", "max"), ("q", "85"), ("fm", "jpg"), ("dpr", "1")]
  /// What Pexels' own answers have. Its `auto=compress` chooses the quality, not the format.
  private static let pexelsManner = [("auto", "compress"), ("cs", "tinysrgb"), ("dpr", "1")]

  /// The URL of the whole picture, just large enough that the thumbnail need not be enlarged.
  ///
  /// The server never crops: the gravity is ours to decide, and another thumbnail of the picture may need the rest.
  /// JPEG by name, since a server that chooses for itself may choose AVIF, which costs 25 times the memory to decode.
  ///
  /// - Parameters:
  ///   - source: The picture's own size in pixels.
  ///   - box: The thumbnail's size in device pixels.
  ///   - server: Whose parameters are used.
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

  /// The box to ask the server for: the whole picture, in its own proportions, scaled to hold the thumbnail.
  static func serverSize(source: PixelSize, box: PixelSize, fit: Fit) -> PixelSize {
    let width = Double(max(source.width, 1))
    let height = Double(max(source.height, 1))
    let scales = (Double(max(box.width, 1)) / width, Double(max(box.height, 1)) / height)
    let scale = min(1, fit == .contain ? min(scales.0, scales.1) : max(scales.0, scales.1))
    return PixelSize(side(width * scale), side(height * scale))
  }

  /// A hair less before rounding up, so that the side that the box decides comes out as itself.
  private static func side(_ exact: Double) -> Int { Int((exact - 1e-6).rounded(.up).clamped(to: 1...1e6)) }
}

extension Comparable {
  fileprivate func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
