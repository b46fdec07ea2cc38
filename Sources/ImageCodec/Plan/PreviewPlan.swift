package import ThumbnailCore

/// How thumbnails are made from an image's embedded preview.
package struct PreviewPlan: Sendable {
  package let preview: EmbeddedPreview
  /// The plan for decoding the preview instead of the image.
  package let plan: DecodePlan
  /// Its predicted peak memory in bytes, the comparison with the image included.
  package let predictedBytes: Int

  /// Nil if the preview is too small, does not match, may not be used, or costs more than `memoryBudget` bytes.
  ///
  /// - Parameter isBodyWhole: Whether the body has more than the bytes that the preview needs.
  package init?(
    _ variants: [Variant], probe: ImageProbe, memoryBudget: Int, previews: PreviewUse = .auto, isBodyWhole: Bool = true
  ) {
    guard previews == .auto, let preview = probe.preview, let image = probe.heif?.image,
      preview.serves(variants, of: probe)
    else { return nil }
    var stand = ImageProbe(format: probe.format, storedSize: preview.size)
    stand.orientation = probe.orientation
    stand.frameCount = 1
    stand.hasAlpha = false
    (stand.heif, stand.codedLight) = (preview.heif, preview.heif.codedLight)
    stand.heif?.compared?.isBodyWhole = isBodyWhole
    guard
      let plan = try? DecodePlan.make(
        probe: stand, bodyLength: preview.byteCount, variants: variants, memoryBudget: memoryBudget,
        sourceSize: probe.size)
    else { return nil }
    // The comparison decodes one tile at a time.
    let bytes = plan.predictedBytes + DecodeCost.tile(of: image)
    guard bytes <= memoryBudget else { return nil }
    (self.preview, self.plan, predictedBytes) = (preview, plan, bytes)
  }
}

extension EmbeddedPreview {
  /// Whether it can replace the image: as large as all the thumbnails need.
  func serves(_ variants: [Variant], of probe: ImageProbe) -> Bool {
    Self.covers(Orientation(exif: probe.orientation).upright(size), variants, of: probe)
  }

  /// The same for a preview of this upright size.
  static func covers(_ upright: PixelSize, _ variants: [Variant], of probe: ImageProbe) -> Bool {
    let isLargeEnough = [DecodePlan.Step](variants, of: probe.size).allSatisfy { step in
      step.geometry.whole.width <= upright.width && step.geometry.whole.height <= upright.height
    }
    return !variants.isEmpty && isLargeEnough
  }
}
