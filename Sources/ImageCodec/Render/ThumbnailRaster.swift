package import ThumbnailCore

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
