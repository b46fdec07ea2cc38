package import ImageCodec
package import ThumbnailCore

/// The work on one image: for a helper, which gets the first fields with the image's file or bytes, or for the
/// pipeline's own process.
package struct HelperRequest: Equatable, Sendable {
  /// The most bytes of an image that are sent after the request, because that is faster than making a file.
  static let longestInline = 128 << 10

  /// The format that the pipeline has sniffed.
  package private(set) var format: ImageFormat
  package private(set) var variants: [Variant]
  package private(set) var limits: DecodeLimits
  /// The terms of the pipeline's plan; nil if the helper makes its own plan.
  package var options: PlanOptions?
  /// Whether to salvage the readable part of a damaged image. With options, they decide.
  package var acceptsDamage = false
  /// Whether the helper may use a second processor while it decodes this image.
  package var hasSpareProcessor = false
  /// The row index of a JPEG; nil if it is of no use.
  package var index: RowIndex?
  /// The length of the image in bytes.
  var byteCount = 0
  /// Whether the image's bytes follow, and no file is attached.
  var isInline = false

  // The other fields are not sent.

  /// The image's header, if the pipeline can parse it.
  package var probe: ImageProbe?
  /// The site of the image: no helper decodes images of two sites. Empty for the user's own files, nil for an image
  /// that is a site of its own, such as an upload.
  package var site: String? = ""
  /// The most bytes of all thumbnails together: the memory reserved for their samples.
  package var mostBytes: Int
  /// The most frames that an animation can have.
  var mostFrames: Int
  /// The limit of wall-clock time, as a multiple of the deadline. The CPU time stays limited to the deadline, but takes
  /// longer on a busy machine.
  package var patience = 1

  package init(
    _ format: ImageFormat, _ variants: [Variant], limits: DecodeLimits = DecodeLimits(), probe: ImageProbe? = nil,
    mostBytes: Int? = nil
  ) {
    (self.format, self.variants, self.limits, self.probe) = (format, variants, limits, probe)
    mostFrames = probe.map { probe in variants.map { $0.mostFrames(of: probe) }.max() ?? 1 } ?? 1
    self.mostBytes = mostBytes ?? Self.mostBytes(for: variants, of: probe)
  }

  /// The kind of helper that it needs.
  var kind: HelperKind { probe.map { HelperKind(for: $0, variants) } ?? .full }

  /// Whether a second processor is of use.
  package var canUseTwoProcessors: Bool { options?.readsPreview != true && probe?.canUseTwoProcessors == true }
}

/// The terms of a decode plan, with which another process makes the same plan.
package struct PlanOptions: Equatable, Sendable {
  /// The memory of the plan in bytes.
  package private(set) var memoryBudget: Int
  /// See `DecodePlan.make`.
  package var isTolerant = false
  /// See `DecodePlan.make`.
  package var mayReadCoefficients = true
  /// See `DecodePlan.make`.
  package var isBodyWhole = true
  /// Whether the preview in the file is read instead of the image.
  package var readsPreview = false

  package init(memoryBudget: Int) { self.memoryBudget = memoryBudget }
}

extension HelperRequest: HelperCoded {
  static let blank = HelperRequest(.jpeg, [])

  mutating func code(_ message: inout MessageCoder) {
    message.code(&format)
    message.code(&variants)
    limits.code(&message)
    message.code(&options)
    message.code(&acceptsDamage)
    message.code(&hasSpareProcessor)
    message.code(&index)
    message.code(&byteCount)
    message.code(&isInline)
  }
}

extension PlanOptions: HelperCoded {
  static let blank = PlanOptions(memoryBudget: 0)

  mutating func code(_ message: inout MessageCoder) {
    message.code(&memoryBudget)
    message.code(&isTolerant)
    message.code(&mayReadCoefficients)
    message.code(&isBodyWhole)
    message.code(&readsPreview)
  }
}
