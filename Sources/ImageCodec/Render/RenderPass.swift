import CVips
import ThumbnailCore

/// One decode and the thumbnails made from it.
struct RenderPass {
  let decoder: ImageDecoder
  let source: SourceDescription

  private var pass: DecodePlan.Pass { decoder.pass }
  private var orientation: Orientation { Orientation(exif: decoder.plan.probe.orientation) }
  /// All steps of a pass have one metadata policy.
  private var keepsProfile: Bool { pass.steps.first?.variant.metadata == .profile }

  /// Makes the thumbnails in the order of the steps. A decoding error is the result of all; later errors are each
  /// step's own.
  func run() -> [RenderedVariant] {
    guard let first = pass.steps.first else { return [] }
    let kept = decoder.metadata(first.variant.metadata)
    do throws(CodecError) {
      if pass.reader == .frames {
        let animation = try Animation(decoder)
        return zip(pass.steps, animation.strips).map { step, strip in
          result(of: step) { () throws(CodecError) in try encode(strip, step, kept, animation) }
        }
      }
      let base = try decode(for: first)
      var views: [Int: Raster] = [:]
      return pass.steps.enumerated().map { index, step in
        result(of: step) { () throws(CodecError) in
          let raster = try reduced(from: base, views, for: step)
          if step.isParent { views[index] = raster }
          return try finish(raster, step, kept)
        }
      }
    } catch {
      return pass.steps.map { RenderedVariant(variant: $0.variant, result: .failure(error)) }
    }
  }

  private func result(
    of step: DecodePlan.Step, _ make: () throws(CodecError) -> Thumbnail
  ) -> RenderedVariant {
    do throws(CodecError) {
      if decoder.cancellation.isSet { throw .cancelled }
      return RenderedVariant(variant: step.variant, result: .success(try make()))
    } catch {
      return RenderedVariant(
        variant: step.variant, result: .failure(decoder.cancellation.isSet ? .cancelled : error))
    }
  }

  /// What the steps that are not derived from a larger one are made from.
  private enum Base {
    /// The first step's raster itself; there is no other such step.
    case firstStep(Raster)
    /// A raster as stored for all such steps, and the part of it that the image covers, if not all.
    case shared(Raster, fills: PixelExtent?)
  }

  /// Decodes the image. The decoder's memory is free on return.
  private func decode(for first: DecodePlan.Step) throws(CodecError) -> Base {
    // libvips encodes in any case. If not started here it would initialise itself at its first call, with other
    // settings, and two threads calling first would see it half initialised.
    try Codec.start()
    if case .coefficients(let scale) = pass.reader {
      let plan = decoder.plan
      let (stored, side) = (plan.probe.storedSize, Double(scale.rawValue))
      let fills = PixelExtent(width: Double(stored.width) / side, height: Double(stored.height) / side)
      let coefficients = decoder.coefficients(
        at: scale, isTolerant: plan.isTolerant, expectsEnd: plan.isBodyWhole && !plan.isTolerant)
      return .shared(try Raster(coefficients), fills: fills)
    }
    // libvips outputs its rows once, so it computes one raster.
    guard let shared = pass.sharedView else {
      return .firstStep(
        try decoder.decode { image throws(CodecError) in try shrunk(try displayable(image), for: first) })
    }
    let raster = try decoder.decode { image throws(CodecError) in
      try displayable(image).resized(to: orientation.stored(shared)).standardColours(keepingProfile: keepsProfile)
    }
    return .shared(raster, fills: nil)
  }

  /// An image of floating-point samples converted to display values, others unchanged.
  ///
  /// Such samples are linear light and may be many times as bright as white. Downsampled before they are clipped to
  /// white, a lamp would outshine its surroundings; all other formats are downsampled in display values too.
  private func displayable(_ image: LibvipsImage) throws(CodecError) -> LibvipsImage {
    guard image.isFloatingPoint else { return image }
    // A copy to remove the profile from, which described the samples before conversion.
    let shown = try image.standardColours().copied()
    vips_image_remove(shown.pointer, VIPS_META_ICC_NAME)
    return shown
  }

  /// A step's view, as stored, cropped if the crop is known in advance: resampled from the base or from an earlier
  /// step's view, with our resampler where it applies, else with libvips.
  private func reduced(
    from base: Base, _ views: [Int: Raster], for step: DecodePlan.Step
  ) throws(CodecError) -> Raster {
    let larger: Raster
    var extent: PixelExtent?
    switch (step.parent, base) {
    case (.step(let parent), _):
      guard let view = views[parent] else { throw .damaged(.shrink, detail: "the larger thumbnail failed") }
      larger = view
    case (.base, .shared(let raster, let fills)): (larger, extent) = (raster, fills)
    case (.base, .firstStep(let raster)): return raster
    }
    let view = orientation.stored(step.geometry.view)
    // Enlarging is left to libvips, which uses another method.
    guard larger.canBeResampled, view.width <= larger.size.width, view.height <= larger.size.height else {
      defer { withExtendedLifetime(larger) {} }
      return try Raster(computing: try shrunk(try larger.image(), for: step))
    }
    return try larger.resampled(to: view, extent: extent, crop: cut(of: step, in: view)).standardColours(
      keepingProfile: keepsProfile)
  }

  /// The same for a libvips image.
  private func shrunk(_ image: LibvipsImage, for step: DecodePlan.Step) throws(CodecError) -> LibvipsImage {
    let view = orientation.stored(step.geometry.view)
    let resized = try image.resized(to: view)
    guard let cut = cut(of: step, in: view) else { return try resized.standardColours(keepingProfile: keepsProfile) }
    return try resized.cropped(to: cut).standardColours(keepingProfile: keepsProfile)
  }

  /// The part of a step's stored view that it needs. Nil: all of it.
  private func cut(of step: DecodePlan.Step, in view: PixelSize) -> PixelRectangle? {
    step.needsWholeView ? nil : orientation.stored(step.geometry.cutRectangle(step.variant.gravity), in: view)
  }

  /// Rotates a step's raster upright, applies the remaining crop, and encodes it.
  private func finish(_ raster: Raster, _ step: DecodePlan.Step, _ kept: KeptMetadata?) throws(CodecError) -> Thumbnail
  {
    let geometry = step.geometry
    var pixels = try raster.upright(orientation)
    if step.needsWholeView && geometry.crops {
      let view = pixels
      let image = try view.image()
      let part =
        switch step.variant.gravity {
        case .attention, .entropy: try image.partBySight(of: geometry.cut, gravity: step.variant.gravity)
        default: geometry.cutRectangle(step.variant.gravity)
        }
      pixels = try Raster(computing: try image.cropped(to: part))
      withExtendedLifetime(view) {}
    }
    return try encode(pixels, step, kept)
  }

  /// Enlarges upright pixels, if that was requested, and encodes them.
  private func encode(
    _ pixels: Raster, _ step: DecodePlan.Step, _ kept: KeptMetadata?, _ animation: Animation? = nil
  ) throws(CodecError) -> Thumbnail {
    // The image points into the raster's memory, which nothing else keeps alive.
    defer { withExtendedLifetime(pixels) {} }
    let size = step.geometry.output
    let image = try pixels.image()
    let (data, format) = try Encoder.encode(
      animation == nil ? try image.resized(to: size) : image, isOpaque: pixels.isOpaque, for: step.variant,
      source: source.format, kept: kept, animation: animation)
    return Thumbnail(data: data, size: size, format: format, source: source, isDamaged: decoder.plan.isTolerant)
  }
}
