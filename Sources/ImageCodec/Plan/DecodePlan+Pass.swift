import JPEGCoefficients
import ThumbnailCore

extension DecodePlan.Pass {
  /// Plans one decode for thumbnails, largest first. `scaling` overrides that of the variants.
  init(probe: ImageProbe, steps: [DecodePlan.Step], scaling: Scaling?, mayReadCoefficients: Bool = false) {
    let orientation = Orientation(exif: probe.orientation)
    self.steps = steps
    if steps.contains(where: { $0.variant.showsAllFrames(of: probe) }) {
      (reader, baseSize) = (.frames, probe.storedSize)
      return
    }
    let stored = orientation.stored(steps.neededSize(scaling))
    if mayReadCoefficients, let scale = Self.coefficientScale(for: probe, needed: stored) {
      (reader, baseSize) = (.coefficients(scale), scale.size(of: probe.storedSize))
    } else {
      (reader, baseSize) = Self.reader(for: probe, needed: stored)
    }
    chainSteps()
    if case .coefficients = reader { return }
    if steps.filter({ $0.parent == .base }).count > 1 {
      // At twice the largest view the second reduction stays invisible, however large the image is.
      let base = orientation.upright(baseSize)
      var largest = PixelSize(1, 1)
      for step in steps where step.parent == .base {
        largest = PixelSize(
          max(largest.width, step.geometry.view.width), max(largest.height, step.geometry.view.height))
      }
      sharedView = PixelSize(min(base.width, 2 * largest.width), min(base.height, 2 * largest.height))
    }
  }

  /// Derives each step from the smallest earlier view that is at least twice as large in both directions.
  private mutating func chainSteps() {
    for index in steps.indices {
      let view = steps[index].geometry.view
      let parent = steps.indices.prefix(index).last { candidate in
        let other = steps[candidate].geometry
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

  /// The scale at which the coefficient decoder gives enough pixels; nil if there is none or it cannot read the file.
  private static func coefficientScale(for probe: ImageProbe, needed: PixelSize) -> JPEGScale? {
    guard let traits = probe.jpeg, traits.obstacle == nil else { return nil }
    return JPEGScale.allCases.sorted().first { scale in
      probe.storedSize.width >= scale.rawValue * needed.width
        && probe.storedSize.height >= scale.rawValue * needed.height
    }
  }

  private static func reader(for probe: ImageProbe, needed: PixelSize) -> (DecodePlan.Reader, PixelSize) {
    let stored = probe.storedSize
    switch probe.format {
    case .jpeg:
      for factor in [8, 4, 2] {
        // libjpeg rounds up; libvips drops a partial last column and row.
        let size = PixelSize(stored.width / factor, stored.height / factor)
        if size.width >= needed.width && size.height >= needed.height { return (.shrunkJPEG(factor: factor), size) }
      }
    case .webp where probe.frameCount == 1:
      let scale = max(
        Double(needed.width) / Double(stored.width), Double(needed.height) / Double(stored.height))
      let size = PixelSize(
        max(1, Int((Double(stored.width) * scale).rounded())), max(1, Int((Double(stored.height) * scale).rounded())))
      if scale < 1 { return (.scaledWebP(size), size) }
    default: break
    }
    return (.libvips, stored)
  }
}

extension DecodePlan: CustomStringConvertible {
  /// How each pass reads and what it makes: `jpeg 1/8, 750x500 → 256x171, 64x43`.
  package var description: String {
    passes.map { pass in
      let reader =
        switch pass.reader {
        case .libvips: probe.format.rawValue
        case .coefficients(let scale): "jpeg coefficients 1/\(scale.rawValue)"
        case .shrunkJPEG(let factor): "jpeg 1/\(factor)"
        case .scaledWebP: "webp scaled"
        case .frames: "\(probe.format.rawValue), all frames"
        }
      return "\(reader), \(pass.baseSize) → " + pass.steps.map { "\($0.geometry.output)" }.joined(separator: ", ")
    }.joined(separator: "; ")
  }
}
