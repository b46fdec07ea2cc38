package import ThumbnailCore

/// Carries out a plan: decodes once, then downsamples every thumbnail. The result is only pixels, so it can run in the
/// pipeline's process or in a helper.
///
/// Its methods block the calling thread, which must be one of a pool that calls `Codec.threadWillEnd()` when it ends.
package enum Downsampler {
  /// The pixels of a plan's thumbnails, one result per variant, the largest first. `index` is the row index of a JPEG.
  package static func pixels(
    of body: ByteSource, plan: DecodePlan, onTwoThreads: Bool = false, index: SharedIndex? = nil,
    cancellation: CancellationFlag
  ) -> [Rendered<ThumbnailRaster>] {
    plan.passes.flatMap { pass in
      RenderPass(
        decoder: ImageDecoder(
          body: body, plan: plan, pass: pass, cancellation: cancellation, usesTwoThreads: onTwoThreads, index: index)
      ).run()
    }
  }

  /// The same from the preview in the body; nil if it cannot be read or does not match the image.
  package static func pixels(
    of body: ByteSource, preview: PreviewPlan, cancellation: CancellationFlag
  ) -> [Rendered<ThumbnailRaster>]? {
    // The reader of the items compares them with the image itself.
    let rendered = pixels(of: body, plan: preview.plan, cancellation: cancellation)
    return rendered.allSatisfy { (try? $0.result.get()) != nil } ? rendered : nil
  }

  /// The results after `again` has re-read the image for damaged variants: each keeps its first error if that fails
  /// too.
  package static func salvaging<Product>(
    _ results: [Rendered<Product>], again: (_ damaged: [Variant]) throws(CodecError) -> [Rendered<Product>]
  ) -> [Rendered<Product>] {
    let damaged = results.filter(\.isOfDamagedImage).map(\.variant)
    guard !damaged.isEmpty, let second = try? again(damaged) else { return results }
    return results.map { made in
      second.first { $0.variant == made.variant && (try? $0.result.get()) != nil } ?? made
    }
  }
}

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
