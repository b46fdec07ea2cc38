import ThumbnailCore

/// A form of an image that a gallery shows, as in its address: `400x400-cover`.
struct GalleryForm: Hashable, Sendable {
  /// The largest side that is made for a page.
  private static let longestSide = 4096

  let variant: Variant

  init?(box: some StringProtocol, fit: some StringProtocol) {
    guard let size = PixelSize(parsing: box), size.isValidThumbnailSize, size.longerSide <= Self.longestSide,
      let fit = Fit(rawValue: String(fit))
    else { return nil }
    variant = Variant(size: size, fit: fit)
  }

  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    self.init(box: parts[0], fit: parts[1])
  }
}
