import JPEGCoefficients
package import ThumbnailCore

/// How thumbnails are made from an image's embedded preview.
package struct PreviewPlan: Sendable {
  let probe: ImageProbe
  package let preview: EmbeddedPreview
  /// The plan for decoding the preview instead of the image.
  package let plan: DecodePlan
  /// Its predicted peak memory in bytes, the comparison with the image included.
  package let predictedBytes: Int

  /// The kind of preview for reports.
  package var kind: UsedPreview { preview.heif?.compared?.tiles.isEmpty == false ? .checked : .unchecked }

  /// Nil if the preview is too small, does not match, may not be used, or costs more than `memoryBudget` bytes.
  ///
  /// - Parameter isBodyWhole: Whether the body has more than the bytes that the preview needs.
  package init?(
    _ variants: [Variant], probe: ImageProbe, memoryBudget: Int, previews: PreviewUse = .on, isBodyWhole: Bool = true
  ) {
    guard let preview = probe.preview, preview.isPermitted(previews), preview.serves(variants, of: probe) else {
      return nil
    }
    let isJPEG = preview.heif == nil
    var stand = ImageProbe(format: isJPEG ? .jpeg : probe.format, storedSize: preview.size)
    stand.orientation = probe.orientation
    stand.frameCount = 1
    stand.hasAlpha = false
    // The preview's coding process is not parsed, so assume the most expensive one.
    stand.isProgressive = isJPEG
    (stand.heif, stand.codedLight) = (preview.heif, preview.heif?.codedLight)
    stand.heif?.compared?.isBodyWhole = isBodyWhole
    guard
      let plan = try? DecodePlan.make(
        probe: stand, bodyLength: preview.range.count, variants: variants, memoryBudget: memoryBudget,
        sourceSize: probe.size)
    else { return nil }
    // The comparison decodes a JPEG at 1/8 (three planes of 16 bits and the raster), or one tile of a HEIC.
    let compared =
      isJPEG
      ? JPEGScale.eighth.size(of: probe.storedSize).pixelCount * 10
      : probe.heif.map { DecodeCost.tile(of: $0.image) } ?? 0
    guard plan.predictedBytes + compared <= memoryBudget else { return nil }
    (self.probe, self.preview, self.plan, predictedBytes) = (probe, preview, plan, plan.predictedBytes + compared)
  }
}

extension EmbeddedPreview {
  /// Whether a preview of its kind may be used.
  func isPermitted(_ previews: PreviewUse) -> Bool {
    previews == .on || previews == .auto && heif?.compared?.isWorthwhile == true
  }

  /// Whether it can replace the image: as large as all the thumbnails need, twice that for `Scaling.best`. Never in
  /// linear light, because the program that made it averaged display values.
  func serves(_ variants: [Variant], of probe: ImageProbe) -> Bool {
    Self.covers(Orientation(exif: probe.orientation).upright(size), variants, of: probe)
  }

  /// The same for a preview of this upright size.
  static func covers(_ upright: PixelSize, _ variants: [Variant], of probe: ImageProbe) -> Bool {
    let isLargeEnough = [DecodePlan.Step](variants, of: probe.size).allSatisfy { step in
      let factor = step.variant.scaling == .best ? 2 : 1
      return factor * step.geometry.whole.width <= upright.width
        && factor * step.geometry.whole.height <= upright.height
    }
    return !variants.isEmpty && isLargeEnough && variants.allSatisfy { $0.light == .display }
  }
}
