import JPEGCoefficients
import ThumbnailCore

extension DecodePlan.Pass {
  /// Plans one decode for thumbnails, largest first. With `isCoarse` the image is read as small as the thumbnails.
  init(
    probe: ImageProbe, steps: [DecodePlan.Step], rule: ScaleRule, isCoarse: Bool = false,
    mayReadCoefficients: Bool = false, mayCropLosslessly: Bool = false
  ) {
    let orientation = Orientation(exif: probe.orientation)
    self.steps = steps
    if steps.contains(where: { $0.variant.showsAllFrames(of: probe) }) {
      (reader, baseSize) = (.frames, probe.storedSize)
      return
    }
    let stored = probe.storedSize
    func permits(_ divisor: Int) -> Bool {
      steps.allSatisfy { step in
        rule.permits(
          divisor, stored: stored, view: orientation.stored(step.geometry.whole), isCoarse: isCoarse)
      }
    }
    if mayReadCoefficients, let traits = probe.jpeg, traits.obstacle == nil,
      let scale = JPEGScale.reduced.first(where: { permits($0.rawValue) }),
      scale != .half || Self.readsWellAtHalf(probe)
    {
      (reader, baseSize) = (.coefficients(scale), scale.size(of: stored))
    } else if probe.format == .jpeg {
      let reduction = [8, 4, 2].first(where: permits) ?? 1
      (reader, baseSize) = (.jpeg(reduction: reduction), JPEGScale.size(of: stored, reducedBy: reduction))
      if mayReadCoefficients, reduction == 1, probe.jpeg?.isReadByRows(at: .full) == true {
        halvesChroma = Self.halvesChroma(of: probe, steps)
        if probe.isProgressive || halvesChroma { reader = .coefficients(.full) }
      }
    } else {
      let needed = orientation.stored(steps.neededSize(isCoarse: isCoarse))
      (reader, baseSize) = Self.reader(for: probe, needed: needed)
    }
    if mayCropLosslessly, let window = Self.window(of: steps, probe) {
      self.window = window
      baseSize = reducedSize(of: window.size)
    }
    chainSteps()
  }

  /// Whether the chroma of a sequential JPEG that is read whole, and has as much of it as luma, is read at 1/2: if that is
  /// still 1.5 times the thumbnails' size.
  private static func halvesChroma(of probe: ImageProbe, _ steps: [DecodePlan.Step]) -> Bool {
    let (stored, orientation) = (probe.storedSize, Orientation(exif: probe.orientation))
    return probe.samplesPerPixel == 3 && !probe.isProgressive
      && steps.allSatisfy { step in
        let view = orientation.stored(step.geometry.whole)
        return stored.width >= 3 * view.width && stored.height >= 3 * view.height
      }
  }

  /// The needed part of a sequential JPEG, in whole MCUs; nil if it is more than half of the image.
  private static func window(of steps: [DecodePlan.Step], _ probe: ImageProbe) -> PixelRectangle? {
    guard let traits = probe.jpeg, traits.isCroppedLosslessly else { return nil }
    let shares = steps.compactMap { $0.share(probe) }
    guard shares.count == steps.count, !shares.isEmpty else { return nil }
    let stored = probe.storedSize
    let part = PixelRectangle(around: shares.map { $0.pixels(of: stored) })
    // Interpolated chroma looks at the next sample beyond the part.
    func mcus(_ range: Range<Int>, _ side: Int, _ length: Int) -> Range<Int> {
      max(0, range.lowerBound / side - 1) * side..<min(length, ((range.upperBound + side - 1) / side + 1) * side)
    }
    let window = PixelRectangle(
      columns: mcus(part.columns, traits.mcu.width, stored.width),
      rows: mcus(part.rows, traits.mcu.height, stored.height))
    return 2 * window.size.pixelCount <= stored.pixelCount ? window : nil
  }

  /// The size of a part of the stored image as it is decoded.
  private func reducedSize(of size: PixelSize) -> PixelSize {
    switch reader {
    case .coefficients(let scale): scale.size(of: size)
    case .jpeg(let reduction): JPEGScale.size(of: size, reducedBy: reduction)
    default: size
    }
  }

  /// The reduction above which a thumbnail does not show whether the edges of blocks were smoothed.
  private static let blockEdgeReduction = 4

  /// Whether all thumbnails are so small that a decoder need not smooth the edges of blocks.
  var hidesBlockEdges: Bool {
    steps.allSatisfy { step in
      let (view, factor) = (step.geometry.whole, Self.blockEdgeReduction)
      return factor * view.longerSide <= baseSize.longerSide
    }
  }

  /// Derives each step from the smallest earlier view of the same part that is at least twice as large in both directions.
  private mutating func chainSteps() {
    for index in steps.indices {
      let (view, region) = (steps[index].geometry.view, steps[index].geometry.region)
      let parent = steps.indices.prefix(index).last { candidate in
        let other = steps[candidate].geometry
        guard other.region == region else { return false }
        // The uncropped view of a very elongated image would cost more to keep than it saves.
        let isCheap = other.view.pixelCount <= 4 * other.cut.pixelCount
        return isCheap && other.view.width >= 2 * view.width && other.view.height >= 2 * view.height
      }
      if let parent {
        steps[index].parent = .step(parent)
        steps[parent].isParent = true
      }
    }
  }

  /// Whether the coefficient decoder is better at 1/2 than libjpeg: it leaves out the last scans of a progressive file,
  /// which are half of it. In a sequential file it reads too much of chroma that is halved along one axis only.
  private static func readsWellAtHalf(_ probe: ImageProbe) -> Bool {
    probe.isProgressive || [1, 1.5, 3].contains(probe.samplesPerPixel)
  }

  private static func reader(for probe: ImageProbe, needed: PixelSize) -> (DecodePlan.Reader, PixelSize) {
    let stored = probe.storedSize
    switch probe.format {
    case .webp where probe.frameCount == 1:
      let scale = max(
        Double(needed.width) / Double(stored.width), Double(needed.height) / Double(stored.height))
      let size = PixelSize(
        max(1, Int((Double(stored.width) * scale).rounded())), max(1, Int((Double(stored.height) * scale).rounded())))
      if scale < 1 { return (.scaledWebP(size), size) }
    default: break
    }
    return (.whole, stored)
  }
}

extension DecodePlan: CustomStringConvertible {
  /// The reader and the sizes of each pass: `jpeg 1/8, 750x500 → 256x171, 64x43`.
  package var description: String {
    passes.map { pass in
      let reader =
        switch pass.reader {
        case .whole, .jpeg(1): probe.format.rawValue
        case .coefficients(let scale): "jpeg coefficients 1/\(scale.rawValue)"
        case .jpeg(let reduction): "jpeg 1/\(reduction)"
        case .scaledWebP: "webp scaled"
        case .frames: "\(probe.format.rawValue), all frames"
        }
      let part = pass.window.map { " of \($0.size)+\($0.x)+\($0.y)" } ?? ""
      return "\(reader)\(part), \(pass.baseSize) → "
        + pass.steps.map { "\($0.geometry.output)" }.joined(separator: ", ")
    }.joined(separator: "; ")
  }
}

extension JPEGScale {
  /// The size of an image if libjpeg computes one pixel for each square of `reduction` pixels: a partial square counts.
  static func size(of size: PixelSize, reducedBy reduction: Int) -> PixelSize {
    PixelSize((size.width + reduction - 1) / reduction, (size.height + reduction - 1) / reduction)
  }
}
