import ThumbnailCore

extension Photo {
  /// The source of the smallest form of the photo that is large enough for all of these thumbnails.
  ///
  /// - Parameter original: Whether to use the photo as uploaded instead.
  func source(for variants: [Variant], original: Bool = false) -> ImageSource {
    let boxes = variants.map { variant in
      // Best scaling needs twice the pixels. A service's own reduction is never in linear light.
      let scale = variant.scaling == .best || variant.light == .linear ? 2 : 1
      return PixelSize(variant.size.width * scale, variant.size.height * scale)
    }
    let box = PixelSize(boxes.map(\.width).max() ?? 1, boxes.map(\.height).max() ?? 1)
    return source(for: box, fit: variants.first?.fit ?? .cover, original: original)
  }
}
