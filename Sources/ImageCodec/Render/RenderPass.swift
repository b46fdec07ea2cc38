import CVips
import ThumbnailCore

/// One decode and the thumbnails made from it.
struct RenderPass {
  let decoder: ImageDecoder

  private var pass: DecodePlan.Pass { decoder.pass }

  private var orientation: Orientation { Orientation(exif: decoder.plan.probe.orientation) }

  /// Renders the thumbnails in the order of the steps. A decoding error is the result of all; later errors are each
  /// step's own.
  func run() -> [Rendered<ThumbnailRaster>] {
    guard let first = pass.steps.first else { return [] }
    Codec.setUpAllocator()
    let shortages = Codec.memoryShortages
    // All steps of a pass have one metadata policy.
    let kept = decoder.metadata(first.variant.metadata)
    do throws(CodecError) {
      if pass.reader == .frames {
        let animation = try Animation(decoder, keepingProfile: kept?.profile != nil)
        return zip(pass.steps, animation.strips).map { step, strip in
          result(of: step, since: shortages) { () throws(CodecError) in
            pixels(strip, step, kept, animation.timing)
          }
        }
      }
      var views = try decode(keepingProfile: kept?.profile != nil)
      try Codec.checkMemory(since: shortages)
      return pass.steps.enumerated().map { index, step in
        result(of: step, since: shortages) { () throws(CodecError) in
          if case .step(let parent) = step.parent { views[index] = try reduced(views[parent], for: step) }
          guard let raster = views[index] else { throw .damaged(.shrink, detail: "a view is missing") }
          if !step.isParent { views[index] = nil }
          return pixels(try upright(raster, step), step, kept)
        }
      }
    } catch {
      return pass.steps.map { Rendered(variant: $0.variant, result: .failure(error)) }
    }
  }

  /// A step's pixels, unless libvips had no memory since the count was `shortages`.
  private func result(
    of step: DecodePlan.Step, since shortages: Int, _ pixels: () throws(CodecError) -> ThumbnailRaster
  ) -> Rendered<ThumbnailRaster> {
    do throws(CodecError) {
      if decoder.cancellation.isSet { throw .cancelled }
      let pixels = try pixels()
      try Codec.checkMemory(since: shortages)
      return Rendered(variant: step.variant, result: .success(pixels))
    } catch {
      return Rendered(variant: step.variant, result: .failure(decoder.cancellation.isSet ? .cancelled : error))
    }
  }

  private func pixels(
    _ raster: Raster, _ step: DecodePlan.Step, _ kept: KeptMetadata?, _ timing: AnimationTiming? = nil
  ) -> ThumbnailRaster {
    ThumbnailRaster(
      variant: step.variant, size: step.geometry.output, raster: raster, timing: timing, kept: kept,
      isDamaged: decoder.plan.isTolerant)
  }

  /// Decodes the image, and returns the views of all steps that are not derived from a larger one, by their index: as
  /// stored, cropped if the crop is known in advance. The decoder's memory is free on return.
  private func decode(keepingProfile: Bool) throws(CodecError) -> [Int: Raster] {
    let steps = pass.steps.indices.filter { pass.steps[$0].parent == .base }
    let decoder = try decoder.ofWindow()
    let source = try decoder.rows()
    var rasters = try render(source, steps)
    // Saturated edges look different if each pixel is clipped before it is averaged.
    if decoder.canConvertRows, source.layout.colour == .ycc, let first = rasters.first, first.losesChroma {
      // One reading's views at a time are in memory.
      rasters = []
      if let source = source as? CoefficientRowSource {
        rasters = try render(try source.converted(), steps)
      } else {
        do throws(CodecError) {
          rasters = try render(try decoder.convertedRows(), steps)
        } catch {
          guard error.isDamage else { throw error }
          rasters = try render(try decoder.rows(), steps)
        }
      }
    }
    var views: [Int: Raster] = [:]
    for (index, raster) in zip(steps, rasters) {
      views[index] = try raster.standardColours(keepingProfile: keepingProfile)
    }
    return views
  }

  private func render(_ source: any RowSource, _ steps: [Int]) throws(CodecError) -> [Raster] {
    let layout = source.layout
    let renderer = try ViewRenderer(layout, views: steps.map { view(of: pass.steps[$0], layout) })
    return try renderer.render(source, fillsDamage: decoder.plan.isTolerant, cancellation: decoder.cancellation)
  }

  private func view(of step: DecodePlan.Step, _ layout: RowLayout) -> ViewRenderer.View {
    let size = orientation.stored(step.geometry.view)
    var view = ViewRenderer.View(size: size, part: cut(of: step, in: size), keepsPlanes: keepsPlanes(step, layout))
    let probe = decoder.plan.probe
    view.region = step.share(probe)
    if let window = pass.window { view.region = view.region?.within(window, of: probe.storedSize) }
    return view
  }

  /// Whether a thumbnail is written from luma and chroma as they are: a JPEG whose pixels nothing else reads.
  private func keepsPlanes(_ step: DecodePlan.Step, _ layout: RowLayout) -> Bool {
    let isJPEG =
      Encoder.written(as: step.variant.format, source: decoder.plan.probe.format, isTransparent: false) == .jpeg
    let isSRGB = layout.profile.flatMap { ICCProfile($0) }?.isSRGB != false
    return isJPEG && isSRGB && layout.weights == .jfif && !step.needsWholeView
      && step.geometry.output == step.geometry.cut && step.variant.metadata == .none && step.variant.processor == nil
  }

  /// A step's view, as stored, cropped if the crop is known in advance: resampled from an earlier step's view.
  private func reduced(_ larger: Raster?, for step: DecodePlan.Step) throws(CodecError) -> Raster {
    guard let larger else { throw .damaged(.shrink, detail: "the larger thumbnail failed") }
    let view = orientation.stored(step.geometry.view)
    return try larger.resampled(to: view, crop: cut(of: step, in: view))
  }

  /// The part of a step's stored view that it needs.
  private func cut(of step: DecodePlan.Step, in view: PixelSize) -> PixelRectangle {
    step.needsWholeView
      ? PixelRectangle(x: 0, y: 0, size: view) : orientation.stored(step.geometry.cutRectangle, in: view)
  }

  /// Rotates a step's raster upright, and applies the remaining crop.
  private func upright(_ raster: Raster, _ step: DecodePlan.Step) throws(CodecError) -> Raster {
    let geometry = step.geometry
    let view = try raster.upright(orientation)
    guard step.needsWholeView && geometry.crops else { return view }
    defer { withExtendedLifetime(view) {} }
    let image = try view.image()
    let part =
      if let search = geometry.search {
        try image.partBySight(of: geometry.cut, gravity: search)
      } else {
        geometry.cutRectangle
      }
    return try Raster(computing: try image.cropped(to: part))
  }
}
