import HEIFContainer
import JPEGCoefficients
import ThumbnailCore

/// Predicts the peak memory of a decode, in bytes, from the header alone.
///
/// The figures were measured with libvips 8.14.1 on images of 24 megapixels and rounded up; `DecodeCostTests` verifies
/// them with small images in a separate process.
enum DecodeCost {
  /// The base cost of any decode: the pipeline, its threads' buffers, the decoder's tables.
  static let fixed = 3 << 20
  /// The most rows of the decoder's width that libvips keeps between a decoder and its reader.
  private static let keptRows = 100
  /// The loaded parts of the scans of a progressive JPEG and their tables, for the most scans: a hundred.
  private static let scansOfProgressive = 8 << 20

  /// The assumed number of frames of an animation whose header does not state it. An animation with more is refused.
  static let assumedFrames = 100

  /// What the decode of an image usually takes at most, in bytes: what is reserved before it is planned.
  static func usual(_ probe: ImageProbe, _ variants: [Variant]) -> Int {
    let (width, pixels) = (Double(probe.storedSize.width), Double(probe.storedSize.pixelCount))
    let rows = Double(min(keptRows, probe.storedSize.height)) * width * Double(max(3, probe.channels))
    let views = variants.reduce(0) { $0 + min(Double($1.size.pixelCount), pixels) }
    let decoder: Double =
      switch probe.format {
      case .jpeg:
        // Coefficients, at up to four times the sides of the thumbnails.
        13 * min(pixels / 4, 16 * views)
          + (probe.isProgressive ? Double(scansOfProgressive) + (width + 31) * 288 : 0)
      case .heif, .avif, .webp: 0x1p22 + 4 * pixels
      default: 0x1p22
      }
    // Headers may claim anything.
    let bytes = 2 * rows * Double(max(8, probe.bitsPerSample)) / 8 + 9 * views + decoder
    return fixed + Int(min(bytes, 0x1p50))
  }

  /// The peak of one pass in bytes: during decoding, or, once the decoder's memory is free, while the thumbnails are
  /// rotated, downsampled and encoded.
  static func peak(of pass: DecodePlan.Pass, probe: ImageProbe, bodyLength: Int) -> Int {
    if pass.reader == .frames { return frames(pass, probe: probe, bodyLength: bodyLength) }
    let decoding =
      decoder(pass, probe: probe, bodyLength: bodyLength) + rows(pass, probe: probe)
      + window(pass, probe: probe, bodyLength: bodyLength)
    let encoding = pass.steps.map { encoder(for: $0, probe: probe) }.max() ?? 0
    return fixed + max(decoding + decoded(pass, probe: probe), rasters(pass, probe: probe) + encoding)
  }

  /// The file of a JPEG's part while it grows: a part with more detail than the rest may have all the bytes.
  private static func window(_ pass: DecodePlan.Pass, probe: ImageProbe, bodyLength: Int) -> Int {
    guard let window = pass.window else { return 0 }
    // The coded data while it grows, and the whole file; a row of MCUs is written before its length is checked.
    let data = min(bodyLength, LosslessCrop.mostBytes(of: window) + 16 * 12 * window.size.width)
    return 3 * data + 2 * min(bodyLength, LosslessCrop.longestHead)
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
    if pass.readsByRows(probe) {
      // A row of MCUs of up to 32 pixels with coefficients and history; and the loaded part and the tables of each
      // scan. `rows` has what a sequential file takes.
      return probe.isProgressive ? (probe.storedSize.width + 31) * 32 * 3 * 3 + scansOfProgressive : 0
    }
    if case .coefficients(let scale) = pass.reader {
      // Each component's 16-bit coefficients; chroma has as many as luma or more. At 1/2 of a progressive file each
      // block also has its history.
      let subsampling = Double(probe.jpeg?.subsampling ?? 4)
      let samples = 1 + max(0, probe.samplesPerPixel - 1) * subsampling * subsampling
      let sampleBytes = scale == .half && probe.isProgressive ? 2.6 : 2.05
      let lanes = probe.isProgressive ? 0 : CoefficientDecoder.laneBytes(at: scale)
      return Int(Double(pass.baseSize.pixelCount) * sampleBytes * samples) + lanes
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
        // libpng holds all pixels of an interlaced image.
        probe.isProgressive
          ? pixels * Double(probe.channels) * sampleBytes * 1.1 : Double(PNGRowSource.peakBytes(of: probe))
      case .webp where probe.frameCount == 1:
        Double(
          WebPRowSource.peakBytes(
            of: probe, size: pass.baseSize, bodyLength: bodyLength, isRGB: pass.readsRGB(probe)))
      case .webp:
        // The file, the frame, the whole image as ARGB if it is lossless, and libvips' canvas.
        Double(bodyLength) + base * 4 + (probe.isLossless ? pixels * 4.2 : 0)
          + (probe.hasAlpha == true ? pixels * 1.2 : 0) + pixels * 8
      case .gif:
        Double(GIFRowSource.peakBytes(of: probe))
      case .tiff:
        Double(min(probe.blockBytes, 1 << 50)) * 2.1
      case .jpeg2000:
        Double(probe.blockBytes + bodyLength)
      case .heif where probe.heif != nil, .avif where probe.heif != nil:
        Double(items(of: probe, bodyLength: bodyLength))
      case .heif, .avif:
        pixels * 8.5 * (probe.bitsPerSample > 8 ? 2 : 1) + pixels * (probe.hasAlpha == true ? 2 : 0)
      case .pnm: Double(16 * probe.storedSize.width)
      default: pixels * 8
      }
    return bytes < 0x1p60 ? Int(bytes) : .max / 4
  }

  /// An image that is read item by item: the tiles that are decoded at once and a row of them, also for alpha.
  private static func items(of probe: ImageProbe, bodyLength: Int) -> Int {
    [probe.heif?.image, probe.heif?.alpha].compactMap { $0 }.reduce(0) { sum, image in
      let strip = image.tiles.count > 1 ? image.columns * planes(of: image) : 0
      // A single tile has all of the file's bytes. libde265 copies them once.
      let coded = 2 * bodyLength / max(1, min(image.tiles.count, 8))
      return sum + strip + (tile(of: image) + coded) * (image.suitsTwoDecoders ? 2 : 1)
    }
  }

  /// The memory of decoding one tile: its planes, and the decoder's data of each block.
  static func tile(of image: HEIFImage) -> Int { planes(of: image) * 2 + (2 << 20) }

  /// The samples of a tile, padded to whole blocks, in bytes.
  private static func planes(of image: HEIFImage) -> Int {
    let padded = PixelSize(image.tileSize.width + HEIFImage.padding, image.tileSize.height + HEIFImage.padding)
    let divisors = image.chroma.divisors
    let samples = image.chroma == .none ? 1 : 1 + 2 / Double(divisors.across * divisors.down)
    return Int(min(Double(padded.pixelCount) * samples * (image.bits > 8 ? 2 : 1), 0x1p50))
  }

  /// Whether the decoder holds the whole image at its scale.
  private static func holdsRaster(_ pass: DecodePlan.Pass, _ probe: ImageProbe) -> Bool {
    if case .coefficients = pass.reader { !pass.readsByRows(probe) } else { false }
  }

  /// The rows in flight between the decoder and the views, and the views' resamplers.
  private static func rows(_ pass: DecodePlan.Pass, probe: ImageProbe) -> Int {
    let channels = max(probe.channels, 3)
    var bytes = 0
    // libvips' decoders hold strips of rows; the coefficient decoder's cost includes its raster.
    if !holdsRaster(pass, probe) {
      let row = pass.baseSize.width * channels * ((probe.bitsPerSample + 7) / 8)
      bytes = row * min(keptRows, 2 * pass.baseSize.height)
    }
    for step in pass.steps where step.parent == .base {
      let view = Orientation(exif: probe.orientation).stored(step.geometry.view)
      bytes += RowResampler.bytes(base: pass.baseSize, channels: channels, target: view)
    }
    return bytes
  }

  /// The views while the decoder still exists: their pixels, and, where the planes arrive one after the other, luma and
  /// chroma at 16 bits.
  private static func decoded(_ pass: DecodePlan.Pass, probe: ImageProbe) -> Int {
    var bytes = 0
    if holdsRaster(pass, probe) { bytes = pass.baseSize.pixelCount * 3 }
    for step in pass.steps where step.parent == .base {
      let pixels = (step.needsWholeView ? step.geometry.view : step.geometry.cut).pixelCount
      bytes += pixels * (holdsRaster(pass, probe) ? 9 : 4)
    }
    return bytes
  }

  /// The rasters that exist at once after decoding: the unfinished views, and the copies of the current one: rotated,
  /// cropped, enlarged, flattened.
  private static func rasters(_ pass: DecodePlan.Pass, probe: ImageProbe) -> Int {
    let bands = mayHaveAlpha(probe) ? 4 : 3
    var kept = 0
    var largest = 0
    for step in pass.steps {
      let work = (step.needsWholeView ? step.geometry.view : step.geometry.cut).pixelCount
      let output = step.geometry.output.pixelCount
      kept += work * bands
      var copies = probe.orientation == 1 ? 0 : work
      if step.needsWholeView && step.geometry.crops { copies += step.geometry.cut.pixelCount }
      if step.geometry.output != step.geometry.cut || bands == 4 { copies += output }
      var resampling = 0
      if case .step(let parent) = step.parent {
        resampling =
          work * bands
          + RowResampler.bytes(base: pass.steps[parent].geometry.view, channels: bands, target: step.geometry.view)
      }
      largest = max(largest, copies * bands + resampling)
    }
    return kept + largest
  }

  /// Whether a thumbnail may be transparent.
  private static func mayHaveAlpha(_ probe: ImageProbe) -> Bool { probe.hasAlpha != false && probe.format != .jpeg }

  /// The bytes that encoding one thumbnail takes.
  private static func encoder(for step: DecodePlan.Step, probe: ImageProbe) -> Int {
    let pixels = step.geometry.output.pixelCount
    let chosen = step.variant.format == .same ? probe.format : mayHaveAlpha(probe) ? .webp : .jpeg
    // A processor's pixels, and the raster before and after.
    let processing = step.variant.processor == nil ? 0 : pixels * 12
    let encoding =
      switch step.variant.format.imageFormat ?? chosen {
      case .jpeg: min(pixels, JPEGEncoder.mostBaselinePixels) * BaselineEncoder.mostTokenBytes + pixels * 3
      case .png: (1 << 20) + pixels * 12
      // Measured of noise: libwebp's tokens, planes and output.
      case .webp: (1 << 20) + pixels * (mayHaveAlpha(probe) ? 36 : 30)
      case .avif: (8 << 20) + pixels * 48
      case .jpegXL: (8 << 20) + pixels * 100
      default: pixels * 9
      }
    return processing + encoding
  }
}
