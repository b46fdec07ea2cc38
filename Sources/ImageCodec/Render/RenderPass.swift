import CVips
import ThumbnailCore

/// One decode and the thumbnails made from it.
struct RenderPass {
  let plan: DecodePlan
  let pass: DecodePlan.Pass
  let decoder: ImageDecoder
  let source: SourceDescription
  let cancellation: CancellationFlag
  /// The source image's metadata to embed in the thumbnails.
  var kept: KeptMetadata?

  /// All steps of a pass have one metadata policy.
  private var keepsProfile: Bool { pass.steps.first?.variant.metadata == .profile }

  private var orientation: Orientation { Orientation(exif: plan.probe.orientation) }

  /// Makes the thumbnails in the order of the steps. A decoding error is the result of all; later errors are each
  /// step's own.
  func run() -> [RenderedVariant] {
    guard let first = pass.steps.first else { return [] }
    let base: Base
    do throws(CodecError) {
      base = try decode(for: first)
    } catch {
      return pass.steps.map { RenderedVariant(variant: $0.variant, result: .failure(error)) }
    }
    var rasters: [Int: Raster] = [:]
    return pass.steps.enumerated().map { index, step in
      do throws(CodecError) {
        if cancellation.isSet { throw .cancelled }
        let raster: Raster
        switch step.parent {
        case .base: raster = try made(from: base, for: step)
        case .step(let parent):
          guard let view = rasters[parent] else { throw .damaged(.shrink, detail: "the larger thumbnail failed") }
          raster = try reduced(view, for: step)
        }
        if step.isParent { rasters[index] = raster }
        return RenderedVariant(variant: step.variant, result: .success(try finish(raster, step: step)))
      } catch {
        return RenderedVariant(variant: step.variant, result: .failure(cancellation.isSet ? .cancelled : error))
      }
    }
  }

  /// The source of the steps that are not derived from a larger one.
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
      let stored = plan.probe.storedSize
      let side = Double(scale.rawValue)
      let fills = PixelExtent(width: Double(stored.width) / side, height: Double(stored.height) / side)
      return .shared(try decoder.readCoefficients(at: scale), fills: fills)
    }
    // libvips outputs its rows once, so it computes one raster.
    guard let shared = pass.sharedView else {
      return .firstStep(
        try decoder.decode { picture throws(CodecError) in try shrunk(try displayable(picture), for: first) })
    }
    let raster = try decoder.decode { picture throws(CodecError) in
      try displayable(picture).resized(to: orientation.stored(shared)).standardColours(keepingProfile: keepsProfile)
    }
    return .shared(raster, fills: nil)
  }

  /// An image of floating-point samples converted to display values, others unchanged.
  ///
  /// Such samples are linear light and may be many times as bright as white. Downsampled before they are clipped to
  /// white, a lamp would outshine its surroundings; all other formats are downsampled in display values too.
  private func displayable(_ picture: LibvipsImage) throws(CodecError) -> LibvipsImage {
    guard picture.isFloatingPoint else { return picture }
    // A copy to remove the profile from, which described the samples before conversion.
    let shown = try picture.standardColours().applying { cvips_copy($0, $1) }
    vips_image_remove(shown.pointer, VIPS_META_ICC_NAME)
    return shown
  }

  private func made(from base: Base, for step: DecodePlan.Step) throws(CodecError) -> Raster {
    switch base {
    case .firstStep(let raster): raster
    case .shared(let raster, let extent): try reduced(raster, extent: extent, for: step)
    }
  }

  /// Resamples a raster, as stored, to a step's view, and crops it if the crop is known in advance: with our resampler
  /// where it applies, else with libvips. `extent` is the part of the raster that the image covers, if not all.
  private func reduced(
    _ raster: Raster, extent: PixelExtent? = nil, for step: DecodePlan.Step
  ) throws(CodecError) -> Raster {
    let view = orientation.stored(step.geometry.view)
    // Enlarging is left to libvips, which uses another method.
    guard raster.canBeResampled, view.width <= raster.size.width, view.height <= raster.size.height else {
      defer { withExtendedLifetime(raster) {} }
      return try Raster(computing: try shrunk(try raster.picture(), for: step))
    }
    return try raster.resampled(to: view, extent: extent, crop: cut(of: step, in: view)).standardColours(
      keepingProfile: keepsProfile)
  }

  /// The same for a libvips image.
  private func shrunk(_ picture: LibvipsImage, for step: DecodePlan.Step) throws(CodecError) -> LibvipsImage {
    let view = orientation.stored(step.geometry.view)
    let resized = try picture.resized(to: view)
    guard let cut = cut(of: step, in: view) else { return try resized.standardColours(keepingProfile: keepsProfile) }
    return try resized.cropped(to: cut).standardColours(keepingProfile: keepsProfile)
  }

  /// The part of a step's stored view that it needs. Nil: all of it.
  private func cut(of step: DecodePlan.Step, in view: PixelSize) -> PixelRectangle? {
    step.needsWholeView ? nil : orientation.stored(step.geometry.cutRectangle(step.variant.gravity), in: view)
  }

  /// Rotates a step's raster upright, applies the remaining crop and enlargement, and encodes it.
  private func finish(_ raster: Raster, step: DecodePlan.Step) throws(CodecError) -> Thumbnail {
    let geometry = step.geometry
    var pixels = try raster.upright(orientation)
    if step.needsWholeView && geometry.crops {
      let view = pixels
      let cut =
        switch step.variant.gravity {
        case .attention, .entropy:
          try view.picture().croppedBySight(to: geometry.cut, gravity: step.variant.gravity)
        default: try view.picture().cropped(to: geometry.cutRectangle(step.variant.gravity))
        }
      pixels = try Raster(computing: cut)
      withExtendedLifetime(view) {}
    }
    let picture = try pixels.picture().resized(to: geometry.output)
    let (data, format) = try Encoder.encode(
      picture, isOpaque: pixels.isOpaque, for: step.variant, source: source.format, kept: kept)
    // The image points into the raster's memory, which nothing else keeps alive.
    withExtendedLifetime(pixels) {}
    return Thumbnail(
      data: data, size: picture.size, format: format, source: source, isDamaged: plan.isTolerant)
  }
}
