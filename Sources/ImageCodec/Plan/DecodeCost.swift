import ThumbnailCore

/// Predicts the peak memory of a decode, in bytes, from the header alone.
///
/// The figures were measured with libvips 8.14.1 on images of 24 megapixels and rounded up; `DecodeCostTests` verifies
/// them with small images in a separate process.
enum DecodeCost {
  /// The base cost of any decode: the pipeline, its threads' buffers, the decoder's tables.
  static let fixed = 3 << 20
  /// The most rows of the decoder's width that the reduction keeps; measured 700 for a thumbnail of 32 pixels and 1,650
  /// for one of 1000.
  private static let keptRows = 1800
  /// The same for a JPEG that is at most halved; measured 650 to 900.
  private static let keptRowsOfHalving = 1000

  /// The number of frames assumed of an animation whose header does not tell. One with more is refused.
  static let assumedFrames = 100

  /// The peak of one pass in bytes: during decoding, or, once the decoder's memory is free, while the thumbnails are
  /// rotated, downsampled and encoded.
  static func peak(of pass: DecodePlan.Pass, probe: ImageProbe, bodyLength: Int) -> Int {
    if pass.reader == .frames { return frames(pass, probe: probe, bodyLength: bodyLength) }
    let decoding = decoder(pass, probe: probe, bodyLength: bodyLength) + rows(pass, probe: probe)
    let encoding = pass.steps.map { encoder(for: $0, probe: probe) }.max() ?? 0
    return fixed + max(decoding + decoded(pass, probe: probe), rasters(pass) + encoding)
  }

  /// An animation: the decoder and one of its frames, all the thumbnails' frames, and the encoder. WebP's encoder holds
  /// two frames and its output, GIF's holds an index of all pixels and their palette.
  private static func frames(_ pass: DecodePlan.Pass, probe: ImageProbe, bodyLength: Int) -> Int {
    let frame = probe.storedSize.pixelCount
    let outputs = pass.steps.reduce(0) { $0 + $1.geometry.output.pixelCount }
    let (made, overflow) = outputs.multipliedReportingOverflow(
      by: 6 * max(1, probe.frameCount ?? assumedFrames))
    return overflow ? .max / 4 : fixed + bodyLength + frame * 24 + min(made, .max / 8)
  }

  /// The memory of the decoder itself.
  private static func decoder(_ pass: DecodePlan.Pass, probe: ImageProbe, bodyLength: Int) -> Int {
    if case .coefficients = pass.reader {
      // Each component's 16-bit coefficients.
      return Int(Double(pass.baseSize.pixelCount) * 2.05 * probe.samplesPerPixel)
    }
    let pixels = Double(probe.storedSize.pixelCount)
    let base = Double(pass.baseSize.pixelCount)
    let sampleBytes = Double(max(8, probe.bitsPerSample)) / 8
    let bytes: Double =
      switch probe.format {
      case .jpeg:
        // 16-bit coefficients, padded to whole MCUs of up to 32 pixels.
        probe.isProgressive
          ? Double((probe.storedSize.width + 31) * (probe.storedSize.height + 31)) * 2 * probe.samplesPerPixel : 0
      case .png:
        probe.isProgressive ? pixels * Double(probe.channels) * sampleBytes * 1.1 : 0
      case .webp:
        // The file, the frame, and for lossless ones the whole image as ARGB.
        Double(bodyLength) + base * 4 + (probe.isLossless ? pixels * 4.2 : 0)
          + (probe.hasAlpha == true ? pixels * 1.2 : 0) + (probe.frameCount == 1 ? 0 : pixels * 8)
      case .gif:
        Double(bodyLength) + pixels * 6
      case .tiff:
        Double(min(probe.blockBytes, 1 << 50)) * 2.1
      case .heif, .avif:
        pixels * 8.5 * (probe.bitsPerSample > 8 ? 2 : 1) + pixels * (probe.hasAlpha == true ? 2 : 0)
      default:
        // `FloatMapReader` holds the whole image as three floats a pixel.
        pixels * (probe.format == .pnm && probe.bitsPerSample > 16 ? 20 : 8)
      }
    return bytes < 0x1p60 ? Int(bytes) : .max / 4
  }

  /// The rows in flight between the decoder and the reduced image.
  private static func rows(_ pass: DecodePlan.Pass, probe: ImageProbe) -> Int {
    // The coefficient decoder's cost includes its raster.
    if case .coefficients = pass.reader { return 0 }
    let row = pass.baseSize.width * max(probe.channels, 3) * ((probe.bitsPerSample + 7) / 8)
    let view = pass.sharedView ?? pass.steps.first?.geometry.view ?? PixelSize(1, 1)
    let reduced = Orientation(exif: probe.orientation).stored(view)
    let isHalving = pass.baseSize.width <= 2 * reduced.width && pass.baseSize.height <= 2 * reduced.height
    let kept = isHalving && probe.format == .jpeg ? keptRowsOfHalving : keptRows
    return row * min(kept, 2 * pass.baseSize.height)
  }

  /// The output raster while the decoder is still alive: the shared raster, or the first step's.
  private static func decoded(_ pass: DecodePlan.Pass, probe: ImageProbe) -> Int {
    if case .coefficients = pass.reader { return pass.baseSize.pixelCount * 3 }
    // A JPEG has no alpha.
    let bands = probe.format == .jpeg ? 3 : 4
    if let shared = pass.sharedView { return shared.pixelCount * bands }
    guard let first = pass.steps.first else { return 0 }
    return (first.needsWholeView ? first.geometry.view : first.geometry.cut).pixelCount * bands
  }

  /// The rasters alive at once after decoding: the shared one, the views that later steps need, and the current one
  /// with its rotated or flattened copy.
  private static func rasters(_ pass: DecodePlan.Pass) -> Int {
    var kept = (pass.sharedView?.pixelCount ?? 0) * 4
    if case .coefficients = pass.reader { kept = pass.baseSize.pixelCount * 3 }
    var largest = 0
    for step in pass.steps {
      if step.isParent { kept += step.geometry.view.pixelCount * 4 }
      let work = step.needsWholeView ? step.geometry.view.pixelCount : step.geometry.cut.pixelCount
      let base: PixelSize? =
        if case .step(let parent) = step.parent { pass.steps[parent].geometry.view } else { pass.sharedView }
      let resampling = base.map { resamplingBytes(base: $0, target: step.geometry.view) } ?? 0
      largest = max(largest, work * 4 + step.geometry.output.pixelCount * 4 + resampling)
    }
    return kept + largest
  }

  /// An upper bound of the bytes that our resampler takes besides the two rasters, in any orientation: the kernels and
  /// the intermediate row. 60 kB for 750×500 to 256×171.
  static func resamplingBytes(base: PixelSize, target: PixelSize) -> Int {
    40 * (base.width + base.height) + 64 * (target.width + target.height) + 1024
  }

  /// The bytes that encoding one thumbnail takes.
  private static func encoder(for step: DecodePlan.Step, probe: ImageProbe) -> Int {
    let pixels = step.geometry.output.pixelCount
    return switch step.variant.format.imageFormat ?? (step.variant.format == .same ? probe.format : .webp) {
    case .jpeg: pixels * 3
    case .png: pixels * 5
    case .avif: (8 << 20) + pixels * 48
    case .jpegXL: (8 << 20) + pixels * 100
    default: pixels * 9
    }
  }
}
