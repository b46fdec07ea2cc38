import CVips
import ThumbnailCore

/// One decode and the thumbnails that come of it.
struct RenderPass {
  let plan: DecodePlan
  let pass: DecodePlan.Pass
  let decoder: PictureDecoder
  let source: SourceDescription
  let cancellation: CancellationFlag
  /// What of the picture's metadata goes with the thumbnails.
  var kept: KeptMetadata?

  /// All steps of a pass have one policy.
  private var keepsProfile: Bool { pass.steps.first?.variant.metadata == .profile }

  private var orientation: Orientation { Orientation(exif: plan.probe.orientation) }

  /// Makes the thumbnails in the order of the steps. What fails in decoding fails for all; later failures are each
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

  /// What the steps are made of that have no larger one to be made of.
  private enum Base {
    /// The first step's raster itself; there is no other such step.
    case firstStep(Raster)
    /// A raster as stored that every such step can be made of, and how much of it the picture fills, where not all.
    case shared(Raster, fills: PixelExtent?)
  }

  /// Reads the picture. What the decoder took is free on return.
  private func decode(for first: DecodePlan.Step) throws(CodecError) -> Base {
    // libvips encodes, whoever decodes. Left to itself it starts at its first call, with other settings, and two threads
    // that call first see it half started.
    try Codec.start()
    if case .coefficients(let scale) = pass.reader {
      let stored = plan.probe.storedSize
      let side = Double(scale.rawValue)
      let fills = PixelExtent(width: Double(stored.width) / side, height: Double(stored.height) / side)
      return .shared(try decoder.readCoefficients(at: scale), fills: fills)
    }
    // libvips gives its rows once, so it is asked for one raster.
    guard let shared = pass.sharedView else {
      return .firstStep(
        try decoder.decode { picture throws(CodecError) in try shrunk(try displayable(picture), for: first) })
    }
    let raster = try decoder.decode { picture throws(CodecError) in
      try displayable(picture).resized(to: orientation.stored(shared)).standardColours(keepingProfile: keepsProfile)
    }
    return .shared(raster, fills: nil)
  }

  /// A picture of floating-point samples as screens show it, all others as they are.
  ///
  /// Light is linear in such samples and may be many times as bright as white: shrunk before it is cut off at white, a
  /// lamp would outshine its surroundings, and every other format is shrunk in its display values, too.
  private func displayable(_ picture: VipsPicture) throws(CodecError) -> VipsPicture {
    guard picture.isFloatingPoint else { return picture }
    // A copy, of which the profile can be taken: it told what the samples were before.
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

  /// Reduces a raster, as stored, to a step's view, and to its cut where that is known beforehand: by our resampler
  /// where it can, else by libvips. `extent` is how much of the raster the picture fills, where not all.
  private func reduced(
    _ raster: Raster, extent: PixelExtent? = nil, for step: DecodePlan.Step
  ) throws(CodecError) -> Raster {
    let view = orientation.stored(step.geometry.view)
    // What is larger than the raster is left to libvips, which enlarges in another way.
    guard raster.canBeResampled, view.width <= raster.size.width, view.height <= raster.size.height else {
      defer { withExtendedLifetime(raster) {} }
      return try Raster(computing: try shrunk(try raster.picture(), for: step))
    }
    return try raster.resampled(to: view, extent: extent, crop: cut(of: step, in: view)).standardColours(
      keepingProfile: keepsProfile)
  }

  /// The same for a picture of libvips'.
  private func shrunk(_ picture: VipsPicture, for step: DecodePlan.Step) throws(CodecError) -> VipsPicture {
    let view = orientation.stored(step.geometry.view)
    let resized = try picture.resized(to: view)
    guard let cut = cut(of: step, in: view) else { return try resized.standardColours(keepingProfile: keepsProfile) }
    return try resized.cropped(to: cut).standardColours(keepingProfile: keepsProfile)
  }

  /// The part of a step's stored view that it needs. Nil: all of it.
  private func cut(of step: DecodePlan.Step, in view: PixelSize) -> PixelRectangle? {
    step.needsWholeView ? nil : orientation.stored(step.geometry.cutRectangle(step.variant.gravity), in: view)
  }

  /// Turns a step's raster upright, crops it where that was left, enlarges it where that was asked, and encodes it.
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
    // The picture reads the raster's memory, which nothing else keeps alive.
    withExtendedLifetime(pixels) {}
    return Thumbnail(
      data: data, size: picture.size, format: format, source: source, isDamaged: plan.isTolerant)
  }
}
