package import ImageCodec
package import ThumbnailCore

/// What a helper is to make of an image, and what is made of its pixels.
package struct HelperJob: Sendable {
  /// The format that the pipeline has sniffed.
  package var format: ImageFormat
  package var variants: [Variant]
  /// From whom the image is: no helper decodes those of two sites. Empty for the user's own files, nil for an image that
  /// is alone in its site, such as an upload.
  package var site: String? = ""
  package var limits: DecodeLimits
  /// The image's header, if the pipeline can parse it.
  package var probe: ImageProbe?
  /// The most bytes that all thumbnails may have together.
  package var mostBytes: Int
  /// What the plan was made for that it carries out; nil if the helper is to plan for itself.
  package var terms: PlanTerms?
  /// Whether to salvage what can be read of a damaged image. With terms, they decide.
  package var acceptsDamage = false
  /// How many times the deadline it may take in wall-clock time. The CPU time stays limited to the deadline, but on a
  /// busy machine that takes longer.
  package var patience = 1
  /// Whether the helper may use a second processor while it decodes this image.
  package var hasSpareProcessor = false
  /// See `HelperRequest`.
  package var index: RowIndex?

  package init(
    _ format: ImageFormat, _ variants: [Variant], limits: DecodeLimits, probe: ImageProbe? = nil, mostBytes: Int? = nil
  ) {
    (self.format, self.variants, self.limits, self.probe) = (format, variants, limits, probe)
    self.mostBytes = mostBytes ?? ResponseRules.mostBytes(for: variants, of: probe)
  }

  /// What has to decode it.
  var kind: HelperKind { probe.map { HelperKind(for: $0, variants) } ?? .full }

  /// Whether a second processor is of use.
  package var canUseTwoProcessors: Bool { terms?.readsPreview != true && probe?.canUseTwoProcessors == true }

  var rules: ResponseRules {
    let mostFrames = probe.map { probe in variants.map { $0.mostFrames(of: probe) }.max() ?? 1 } ?? 1
    return ResponseRules(
      variants: variants, format: format, size: probe?.size, limits: limits, mostFrames: mostFrames,
      acceptsDamage: terms?.isTolerant ?? acceptsDamage, mostBytes: mostBytes, takesIndex: index != nil)
  }

  func request(for image: ByteSource) -> HelperRequest {
    let isInline = if case .memory = image { true } else { false }
    return HelperRequest(
      format: format, byteCount: image.count, isInline: isInline, variants: variants.map(\.token), limits: limits,
      terms: terms, acceptsDamage: acceptsDamage, hasSpareProcessor: hasSpareProcessor, index: index)
  }
}
