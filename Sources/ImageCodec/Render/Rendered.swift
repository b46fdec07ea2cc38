package import ThumbnailCore

/// The result for one variant, or its error.
package struct Rendered<Product> {
  /// The requested variant.
  package let variant: Variant
  /// The product, or the error.
  package let result: Result<Product, CodecError>
  /// How long it took to make the product of the pixels: to encode them.
  package let encoding: Duration

  package init(variant: Variant, result: Result<Product, CodecError>, encoding: Duration = .zero) {
    self.variant = variant
    self.result = result
    self.encoding = encoding
  }

  /// Whether there is nothing because the image is damaged.
  package var isOfDamagedImage: Bool { if case .failure(let error) = result { error.isDamage } else { false } }
}

extension Rendered: Sendable where Product: Sendable {}

/// The thumbnail of one variant, or its error.
package typealias RenderedVariant = Rendered<Thumbnail>

/// A thumbnail before it is encoded: upright, cropped, in standard colours. A helper process sends it in this form, so
/// that no bytes from a helper are decoded.
package struct ThumbnailRaster {
  package let variant: Variant
  /// The thumbnail's size, or that of each of its frames, in pixels. It exceeds the raster's if a small image is
  /// enlarged, or put on a canvas.
  package let size: PixelSize
  /// The pixels, of all frames stacked vertically if it is animated.
  package let raster: Raster
  /// The timing of its frames; nil for a still one.
  package let timing: AnimationTiming?
  /// The image's metadata that it keeps.
  package let kept: KeptMetadata?
  /// Whether the image was damaged, and this is its readable part.
  package let isDamaged: Bool

  package init(
    variant: Variant, size: PixelSize, raster: Raster, timing: AnimationTiming?, kept: KeptMetadata?, isDamaged: Bool
  ) {
    (self.variant, self.size, self.raster, self.timing) = (variant, size, raster, timing)
    (self.kept, self.isDamaged) = (kept, isDamaged)
  }
}
