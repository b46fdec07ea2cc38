package import ImageCodec
import JPEGCoefficients
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
  /// What the decode may use.
  package var terms = DecodeTerms()
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
  package var canUseTwoProcessors: Bool { probe?.canUseTwoProcessors == true }
}

extension HelperRequest: HelperCoded {
  static let blank = HelperRequest(.jpeg, [])

  mutating func code(_ message: inout MessageCoder) {
    message.code(&format)
    message.code(&variants)
    limits.code(&message)
    terms.code(&message)
    message.code(&hasSpareProcessor)
    message.code(&index)
    message.code(&byteCount)
    message.code(&isInline)
  }
}

extension DecodeTerms: HelperCoded {
  static let blank = DecodeTerms()

  mutating func code(_ message: inout MessageCoder) {
    message.code(&memory)
    message.code(&share)
    message.code(&most)
    message.code(&part)
    message.code(&previews)
    message.code(&acceptsDamage)
    message.code(&isCutOnly)
  }
}

extension DecodeTerms.Part: HelperCoded {
  static let blank = Self(known: RangeSet())

  mutating func code(_ message: inout MessageCoder) {
    var ends = known.ranges.flatMap { [$0.lowerBound, $0.upperBound] }
    message.code(&ends)
    var scale = finestScale?.rawValue ?? 0
    message.code(&scale)
    message.code(&hasGaps)
    guard message.isReading else { return }
    finestScale = JPEGScale(rawValue: scale)
    let pairs = stride(from: 0, to: ends.count & ~1, by: 2).map { (ends[$0], ends[$0 + 1]) }
    known = RangeSet(pairs.filter { $0 < $1 }.map { $0..<$1 })
  }
}
