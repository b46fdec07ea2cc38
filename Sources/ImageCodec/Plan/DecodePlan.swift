package import JPEGCoefficients
package import ThumbnailCore

/// The decoder of an image and the order of its thumbnails, with the predicted cost.
package struct DecodePlan: Sendable, Equatable {
  /// The decoder that reads the image, and its reduction.
  enum Reader: Sendable, Equatable {
    /// The decoder of its format, all pixels.
    case whole
    /// The coefficient decoder, which skips most of the file; at full size all rows of a progressive JPEG, or of one whose
    /// chroma is halved.
    case coefficients(JPEGScale)
    /// libjpeg computes one pixel for each square of `reduction` × `reduction` pixels: 1, 2, 4 or 8.
    case jpeg(reduction: Int)
    /// libwebp scales each row to this size as it decodes.
    case scaledWebP(PixelSize)
    /// libvips, all frames of an animated image, one after the other.
    case frames
  }

  /// The making of one thumbnail.
  struct Step: Sendable, Equatable {
    /// The image that it is downsampled from.
    enum Parent: Sendable, Equatable {
      /// The decoder's output.
      case base
      /// The whole view of an earlier step of the same pass.
      case step(Int)
    }

    let variant: Variant
    let geometry: ThumbnailGeometry
    var parent = Parent.base
    /// Whether a later step is derived from this one's whole view.
    var isParent = false

    /// The thumbnail of a source image of this upright size.
    init(_ variant: Variant, of source: PixelSize, isDrawing: Bool = false) {
      self.variant = variant
      geometry = ThumbnailGeometry(source: source, variant: variant, isDrawing: isDrawing)
    }

    /// The part of the stored image that it shows; nil for all of it.
    func share(_ probe: ImageProbe) -> ImageShare? {
      let orientation = Orientation(exif: probe.orientation)
      let image = orientation.stored(geometry.source)
      let region = orientation.stored(geometry.region, in: image)
      if region.size == image && probe.visible == nil { return nil }
      // Around the visible part the stored image has borders.
      let visible = probe.visible ?? PixelRectangle(x: 0, y: 0, size: probe.storedSize)
      return ImageShare(of: region, in: image, of: visible, in: probe.storedSize)
    }

    /// Whether the whole uncropped view is needed: for later steps, or to find where to crop.
    var needsWholeView: Bool { isParent || geometry.search != nil }
  }

  /// One decode of the image.
  struct Pass: Sendable, Equatable {
    var reader: Reader
    /// The decoded size, as stored (before orientation).
    var baseSize: PixelSize
    /// The part of a JPEG that becomes a file of its own, which is read in place of the image; nil for all of it.
    var window: PixelRectangle?
    /// Whether chroma is read at 1/2, and luma whole.
    var halvesChroma = false
    /// The thumbnails, largest first.
    var steps: [Step]

    /// Whether only a JPEG's coefficients of one row of blocks are kept, unless the file is damaged.
    func readsByRows(_ probe: ImageProbe) -> Bool {
      guard case .coefficients(let scale) = reader else { return false }
      return probe.jpeg?.isReadByRows(at: scale) == true
    }

    /// Whether luma and chroma become RGB during decoding: for a WebP that is not reduced, because libwebp's own
    /// conversion is then exact. A JPEG needs no RGB.
    func readsRGB(_ probe: ImageProbe) -> Bool {
      probe.format == .webp
        && steps.contains { step in
          step.geometry.whole == probe.size
            && Encoder.written(as: step.variant.format, source: probe.format, isTransparent: false) != .jpeg
        }
    }
  }

  /// The header that the plan was made for.
  package var probe: ImageProbe
  /// One pass; or one per variant if a common one takes too much memory.
  var passes: [Pass]
  /// The predicted peak memory of carrying out the plan, in bytes, without the body and the thumbnails themselves.
  package var predictedBytes: Int
  /// Whether a truncated file yields the rows so far instead of an error.
  package var isTolerant: Bool
  /// Whether the body is the whole file. A download that was stopped early holds only the needed coefficients.
  package let isBodyWhole: Bool

  /// The finest scale at which the first scans of the file suffice for all thumbnails; nil if more of it is needed.
  package var coefficientScale: JPEGScale? {
    var finest: JPEGScale?
    for pass in passes {
      // Full size needs all scans.
      guard case .coefficients(let scale) = pass.reader, scale != .full else { return nil }
      finest = max(finest ?? scale, scale)
    }
    return finest
  }

  /// The bytes of the file that the plan reads, besides the header; nil if it may read any.
  package var neededRanges: RangeSet<Int>? {
    let keepsNothing = passes.allSatisfy { pass in pass.steps.allSatisfy { $0.variant.metadata == .none } }
    return keepsNothing && !isTolerant ? probe.heif?.ranges : nil
  }

  /// The most pixels of a JPEG whose rows are skipped so quickly that an index of them is not worthwhile.
  static let mostPixelsWithoutIndex = 8_000_000

  /// Whether an index of the file's rows makes it cheaper.
  package var usesIndex: Bool {
    probe.storedSize.pixelCount > Self.mostPixelsWithoutIndex && passes.contains { $0.window != nil }
  }

  /// Whether an image that is not small is cut before it is decoded.
  package var isCut: Bool {
    probe.storedSize.pixelCount <= Self.mostPixelsWithoutIndex || passes.allSatisfy { $0.window != nil }
  }

  /// Makes the cheapest plan that is good enough.
  ///
  /// All thumbnails come from one decode. If that exceeds `memoryBudget` bytes, each gets its own decode; if that is
  /// still too much, the image is read as small as the thumbnails, which shows.
  ///
  /// - Parameters:
  ///   - bodyLength: The length of the body in bytes; 0 if it is not known yet.
  ///   - isBodyWhole: False if the body is the beginning of a file.
  ///   - mayReadCoefficients: False for a file that the coefficient decoder, or the reader of a HEIC's items, has
  ///     handed over, and where those readers are not worthwhile.
  ///   - sourceSize: The upright size of the source image if `probe` is of a smaller image in its place. It decides
  ///     the thumbnails' sizes.
  /// - Throws: `.invalidSize` for a box that no thumbnail can have; `.exceedsMemoryBudget` with the number of bytes of
  ///   the cheapest plan.
  package static func make(
    probe: ImageProbe, bodyLength: Int, variants: [Variant], memoryBudget: Int, isTolerant: Bool = false,
    isBodyWhole: Bool = true, mayReadCoefficients: Bool = true, sourceSize: PixelSize? = nil
  ) throws(CodecError) -> DecodePlan {
    // libheif reads more of a damaged image.
    let probe = mayReadCoefficients && !isTolerant ? probe : probe.asWhole
    for variant in variants where !variant.size.isValidThumbnailSize { throw .invalidSize(variant.size) }
    let steps = try [Step](variants, of: sourceSize ?? probe.origin?.size ?? probe.size).checked()
    let rule = ScaleRule(probe, bodyLength: isBodyWhole && bodyLength > 0 ? bodyLength : nil)
    var cheapest = Int.max
    for isCoarse in [false, true] {
      for groups in [steps.together(probe), steps.map { [$0] }] {
        let passes = groups.map {
          Pass(
            probe: probe, steps: $0, rule: rule, isCoarse: isCoarse,
            mayReadCoefficients: mayReadCoefficients, mayCropLosslessly: mayReadCoefficients && !isTolerant)
        }
        let cost = passes.map { DecodeCost.peak(of: $0, probe: probe, bodyLength: bodyLength) }.max() ?? 0
        if cost <= memoryBudget {
          return DecodePlan(
            probe: probe, passes: passes, predictedBytes: cost, isTolerant: isTolerant, isBodyWhole: isBodyWhole)
        }
        cheapest = min(cheapest, cost)
      }
    }
    throw .exceedsMemoryBudget(needed: cheapest, budget: memoryBudget)
  }
}

extension Array<DecodePlan.Step> {
  /// The thumbnails of these variants of a source image of this upright size, largest first.
  init(_ variants: [Variant], of size: PixelSize, isDrawing: Bool = false) {
    self = variants.map { DecodePlan.Step($0, of: size, isDrawing: isDrawing) }
      .sorted { $0.geometry.view.pixelCount > $1.geometry.view.pixelCount }
  }

  /// The steps, if their thumbnails can be made.
  ///
  /// - Throws: `.invalidSize`; `.cropOutside` for a part that the image does not have.
  func checked() throws(CodecError) -> [Element] {
    for step in self {
      if step.geometry.lacksCrop { throw .cropOutside(of: step.geometry.source) }
      guard step.geometry.output.isValidThumbnailSize else { throw .invalidSize(step.geometry.output) }
    }
    return self
  }

  /// The smallest upright size that a scaling decoder should deliver; with `isCoarse` that of the thumbnails.
  func neededSize(isCoarse: Bool) -> PixelSize {
    var needed = PixelSize(1, 1)
    let factor = isCoarse ? 1 : 2
    for step in self {
      needed.width = Swift.max(needed.width, factor * step.geometry.whole.width)
      needed.height = Swift.max(needed.height, factor * step.geometry.whole.height)
    }
    return needed
  }

  /// Groups that one decode can serve: same frames, same colours.
  fileprivate func together(_ probe: ImageProbe) -> [[Element]] {
    var groups: [[Element]] = []
    for step in self {
      let index = groups.firstIndex {
        guard let other = $0.first?.variant else { return false }
        return other.metadata == step.variant.metadata
          && other.showsAllFrames(of: probe) == step.variant.showsAllFrames(of: probe)
      }
      if let index { groups[index].append(step) } else { groups.append([step]) }
    }
    return groups
  }
}

extension Variant {
  /// Whether a thumbnail of this image is animated.
  func showsAllFrames(of probe: ImageProbe) -> Bool {
    guard frames == .all, probe.frameCount != 1 else { return false }
    return [.webp, .gif].contains(probe.format) && [.auto, .same, .webp].contains(format)
  }

  /// The most frames that a thumbnail of this image can have.
  package func mostFrames(of probe: ImageProbe) -> Int {
    showsAllFrames(of: probe) ? max(1, probe.frameCount ?? DecodeCost.assumedFrames) : 1
  }
}
