import CVips

/// One decode and the thumbnails that come of it.
struct RenderPass {
  let plan: DecodePlan
  let pass: DecodePlan.Pass
  let decoder: PictureDecoder
  let source: SourceDescription
  let cancellation: CancellationFlag

  private var orientation: Orientation { Orientation(exif: plan.probe.orientation) }

  /// Makes the thumbnails in the order of the steps. What fails in decoding fails for all; later failures are each
  /// step's own.
  func run() -> [RenderedVariant] {
    guard let first = pass.steps.first else { return [] }
    let decoded: Raster
    do throws(CodecError) {
      // A decoder gives its rows once, so it is asked for one raster; its memory goes when this returns.
      if let shared = pass.sharedView {
        decoded = try decoder.decode { picture throws(CodecError) in
          try picture.resized(to: orientation.stored(shared)).standardColours()
        }
      } else {
        decoded = try decoder.decode { picture throws(CodecError) in try shrunk(picture, for: first) }
      }
    } catch {
      return pass.steps.map { RenderedVariant(variant: $0.variant, result: .failure(error)) }
    }
    var rasters: [Int: Raster] = [:]
    return pass.steps.enumerated().map { index, step in
      do throws(CodecError) {
        if cancellation.isSet { throw .cancelled }
        let raster: Raster
        switch step.parent {
        case .base where pass.sharedView == nil: raster = decoded
        case .base: raster = try Raster(computing: try shrunk(try decoded.picture(), for: step))
        case .step(let parent):
          guard let view = rasters[parent] else { throw .damaged(.shrink, detail: "the larger thumbnail failed") }
          raster = try Raster(computing: try shrunk(try view.picture(), for: step))
        }
        if step.isParent { rasters[index] = raster }
        return RenderedVariant(variant: step.variant, result: .success(try finish(raster, step: step)))
      } catch {
        return RenderedVariant(variant: step.variant, result: .failure(cancellation.isSet ? .cancelled : error))
      }
    }
  }

  /// Reduces a picture, as stored, to a step's view, and to its cut where that is known beforehand.
  private func shrunk(_ picture: VipsPicture, for step: DecodePlan.Step) throws(CodecError) -> VipsPicture {
    let view = orientation.stored(step.layout.view)
    let resized = try picture.resized(to: view)
    guard !step.needsWholeView else { return try resized.standardColours() }
    return try resized.cropped(to: orientation.stored(step.layout.cutRectangle(step.variant.gravity), in: view))
      .standardColours()
  }

  /// Turns a step's raster upright, crops it where that was left, enlarges it where that was asked, and encodes it.
  private func finish(_ raster: Raster, step: DecodePlan.Step) throws(CodecError) -> Thumbnail {
    let layout = step.layout
    var pixels = raster
    if step.needsWholeView && layout.crops {
      let upright = try raster.picture().upright(orientation)
      let cut =
        switch step.variant.gravity {
        case .attention, .entropy: try upright.croppedBySight(to: layout.cut, gravity: step.variant.gravity)
        default: try upright.cropped(to: layout.cutRectangle(step.variant.gravity))
        }
      pixels = try Raster(computing: cut)
    }
    var picture = try pixels.picture()
    if pixels === raster { picture = try picture.upright(orientation) }
    picture = try picture.resized(to: layout.output)
    let (data, format) = try Encoder.encode(picture, isOpaque: pixels.isOpaque, for: step.variant)
    // The pictures read the rasters' memory, which nothing else keeps alive.
    withExtendedLifetime((raster, pixels)) {}
    return Thumbnail(data: data, size: picture.size, format: format, source: source)
  }
}
