package import JPEGCoefficients
package import ThumbnailCore

/// How a picture is read and in which order its thumbnails are made of it, with what that costs.
package struct DecodePlan: Sendable, Equatable {
  /// The decoder that reads the picture, and how much it leaves out.
  enum Reader: Sendable, Equatable {
    /// libvips, every pixel.
    case libvips
    /// The coefficient reader, which leaves out most of the file.
    case coefficients(JPEGScale)
    /// libjpeg computes one pixel for `factor` × `factor`: 2, 4 or 8.
    case shrunkJPEG(factor: Int)
    /// libwebp scales each row to this size as it decodes.
    case scaledWebP(PixelSize)
    /// libvips, every frame of an animated picture, one after the other.
    case frames
  }

  /// One thumbnail.
  struct Step: Sendable, Equatable {
    /// Where its pixels come from.
    enum Parent: Sendable, Equatable {
      /// The decoder, or the shared raster where there is one.
      case base
      /// The whole view of an earlier step of the same pass.
      case step(Int)
    }

    var variant: Variant
    var geometry: ThumbnailGeometry
    var parent = Parent.base
    /// Whether a later step needs the whole view of this one.
    var isParent = false
  }

  /// One reading of the picture.
  struct Pass: Sendable, Equatable {
    var reader: Reader
    /// The size that the decoder gives, as stored.
    var baseSize: PixelSize
    /// A raster of this upright size is made first, when several steps need the decoder's rows, which come only once.
    var sharedView: PixelSize?
    /// The thumbnails, the largest first.
    var steps: [Step]
  }

  /// What the plan was made for.
  package var probe: ImageProbe
  /// One pass; one for each variant where doing all at once takes too much memory.
  var passes: [Pass]
  /// The most bytes that carrying out the plan takes at a time, beside the body and the thumbnails themselves.
  package var predictedBytes: Int
  /// Whether a file that breaks off gives the rows so far instead of an error.
  var isTolerant: Bool
  /// Whether the body is all of the file. Of one that a download has stopped, only the coefficients are there.
  package var isBodyWhole = true

  /// The finest scale at which the coefficient reader is to read the file; nil where something else reads it too.
  package var coefficientScale: JPEGScale? {
    var finest: JPEGScale?
    for pass in passes {
      guard case .coefficients(let scale) = pass.reader else { return nil }
      finest = max(finest ?? scale, scale)
    }
    return finest
  }

  /// Makes the cheapest plan that is good enough.
  ///
  /// All thumbnails come from one decode. If that exceeds `memoryBudget` bytes, each takes a decode of its own; if that
  /// is still too much, `Scaling.best` gives way to `Scaling.fast`.
  ///
  /// - Parameters:
  ///   - mayReadCoefficients: False for a file that the coefficient reader has handed over, and where that reader is
  ///     not worthwhile.
  ///   - pictureSize: The upright size of the picture where `probe` is of a smaller one that stands for it. That decides
  ///     the thumbnails' sizes.
  /// - Throws: `.invalidSize` for a box that no thumbnail can have; `.exceedsMemoryBudget` with the number of bytes of
  ///   the cheapest plan.
  package static func make(
    probe: ImageProbe, bodyLength: Int, variants: [Variant], memoryBudget: Int, isTolerant: Bool = false,
    mayReadCoefficients: Bool = true, pictureSize: PixelSize? = nil
  ) throws(CodecError) -> DecodePlan {
    for variant in variants where !variant.size.isValidThumbnailSize { throw .invalidSize(variant.size) }
    let geometries = variants.map {
      (variant: $0, geometry: ThumbnailGeometry(picture: pictureSize ?? probe.size, variant: $0))
    }
    .sorted { $0.geometry.view.pixelCount > $1.geometry.view.pixelCount }
    var cheapest = Int.max
    for scaling in [nil, Scaling.fast] {
      for groups in [geometries.together(probe), geometries.map { [$0] }] {
        let passes = groups.map {
          Pass(probe: probe, geometries: $0, scaling: scaling, mayReadCoefficients: mayReadCoefficients)
        }
        let cost = passes.map { DecodeCost.peak(of: $0, probe: probe, bodyLength: bodyLength) }.max() ?? 0
        if cost <= memoryBudget {
          return DecodePlan(probe: probe, passes: passes, predictedBytes: cost, isTolerant: isTolerant)
        }
        cheapest = min(cheapest, cost)
      }
    }
    throw .exceedsMemoryBudget(needed: cheapest, budget: memoryBudget)
  }
}

extension Array<(variant: Variant, geometry: ThumbnailGeometry)> {
  /// Those that one reading of the picture can serve: the same frames, and the same colours.
  fileprivate func together(_ probe: ImageProbe) -> [[Element]] {
    var groups: [[Element]] = []
    for entry in self {
      let index = groups.firstIndex {
        guard let other = $0.first?.variant else { return false }
        return other.metadata == entry.variant.metadata
          && other.showsAllFrames(of: probe) == entry.variant.showsAllFrames(of: probe)
      }
      if let index { groups[index].append(entry) } else { groups.append([entry]) }
    }
    return groups
  }
}

extension Variant {
  /// Whether a thumbnail of this picture is animated.
  func showsAllFrames(of probe: ImageProbe) -> Bool {
    guard frames == .all, probe.frameCount != 1 else { return false }
    return [.webp, .gif].contains(probe.format) && [.auto, .same, .webp].contains(format)
  }
}
