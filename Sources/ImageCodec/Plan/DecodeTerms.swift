package import JPEGCoefficients
package import ThumbnailCore

/// What a decode may use: the memory, and what there is of the file.
package struct DecodeTerms: Equatable, Sendable {
  /// The existing part of a body that is not whole.
  package struct Part: Equatable, Sendable {
    /// The bytes that exist; the others read as zeros.
    package var known: RangeSet<Int>
    /// The finest scale at which the scans that exist can be decoded.
    package var finestScale: JPEGScale?
    /// Whether there may be bytes behind gaps: parts that were requested, which may be wrong.
    package var hasGaps: Bool

    package init(known: RangeSet<Int>, finestScale: JPEGScale? = nil, hasGaps: Bool = false) {
      (self.known, self.finestScale, self.hasGaps) = (known, finestScale, hasGaps)
    }

    func has(_ ranges: RangeSet<Int>) -> Bool { ranges.isSubset(of: known) }
  }

  /// The reserved memory in bytes: no decode that takes more is begun.
  package var memory: Int
  /// The most bytes that a decode takes beside others: plans are made within them, if that is possible.
  package var share: Int
  /// The most bytes that it takes alone.
  package var most: Int
  /// Nil for a whole body.
  package var part: Part?
  /// Whether a preview may be read in place of the image.
  package var previews = PreviewUse.off
  /// Whether the readable part of a damaged image is salvaged.
  package var acceptsDamage = false
  /// Whether an image that is not small may only be read where a part of it is cut before it is decoded.
  package var isCutOnly = false

  package init(memory: Int = .max, share: Int = .max, most: Int = .max) {
    (self.memory, self.share, self.most) = (memory, share, most)
  }

  /// The same within a limit of the process that decodes.
  package func limited(to limit: Int) -> DecodeTerms {
    var terms = self
    (terms.memory, terms.share, terms.most) = (min(memory, limit), min(share, limit), min(most, limit))
    return terms
  }
}

/// What an image needs beyond its terms.
package enum DecodeNeed: Error, Equatable, Sendable {
  /// So many bytes of memory, for what was not begun: the decode, or what follows one that has failed.
  case memory(Int)
  /// Its preview does not match, and the part of the body may lack what the image needs.
  case bodyOfImage
  /// The part of the body does not suffice.
  case wholeBody
  /// No thumbnail of it can be made, of whatever size.
  case refusal(CodecError)
}

extension ImageProbe {
  /// What its decode usually takes at most, in bytes: what is reserved before it is planned.
  package func usualMemory(for variants: [Variant]) -> Int { DecodeCost.usual(self, variants) }

  /// Whether an index of its rows may make a thumbnail of a part cheaper.
  package func mayUseIndex(for variants: [Variant]) -> Bool {
    storedSize.pixelCount > DecodePlan.mostPixelsWithoutIndex
      && (isRAW || jpeg != nil && variants.contains { $0.framing.crop != nil })
  }
}
