import CVips
import ThumbnailCore

/// The frames of an animated image, reduced for each thumbnail of a pass.
///
/// Only one frame of the source is in memory at a time, but all frames of the thumbnails.
struct Animation {
  /// Each thumbnail's frames, stacked vertically, with alpha.
  let strips: [Raster]
  let timing: AnimationTiming

  /// Decodes all frames.
  init(_ decoder: ImageDecoder, keepingProfile: Bool) throws(CodecError) {
    self = try decoder.withImage { image throws(CodecError) in
      try Animation(of: image, decoder, keepingProfile: keepingProfile)
    }
  }

  private init(of image: LibvipsImage, _ decoder: ImageDecoder, keepingProfile: Bool) throws(CodecError) {
    let frameCount = try Self.frameCount(of: image, decoder)
    timing = AnimationTiming(of: image, frameCount: frameCount)
    if let strips = Self.stripsOfGIF(decoder, count: frameCount) {
      self.strips = strips
      return
    }
    let size = decoder.pass.baseSize
    strips = try Self.strips(decoder, count: frameCount) { number throws(CodecError) in
      try Raster(
        computing: try image.cropped(to: PixelRectangle(x: 0, y: number * size.height, size: size))
          .standardColours(keepingProfile: keepingProfile).withFourBands())
    }
  }

  /// The frames of a GIF by our own reader; nil if libvips should read them.
  private static func stripsOfGIF(_ decoder: ImageDecoder, count: Int) -> [Raster]? {
    guard decoder.plan.probe.format == .gif, !decoder.plan.isTolerant,
      var frames = try? GIFAnimation(decoder.body, size: decoder.pass.baseSize)
    else { return nil }
    return try? strips(decoder, count: count) { _ throws(CodecError) in try frames.frame() }
  }

  private static func frameCount(of image: LibvipsImage, _ decoder: ImageDecoder) throws(CodecError) -> Int {
    let (plan, pass) = (decoder.plan, decoder.pass)
    let height = Int(vips_image_get_page_height(image.pointer))
    let count = image.size.height / max(1, height)
    guard PixelSize(image.size.width, height) == pass.baseSize, count >= 1 else {
      throw .damaged(.header, detail: "the header says \(pass.baseSize), the decoder \(image.size.width)x\(height)")
    }
    let most = plan.probe.frameCount ?? DecodeCost.assumedFrames
    if count > most { throw .limitExceeded(.frames, value: count, maximum: most) }
    // The decoder drops a truncated frame silently, which would make an incomplete animation look complete.
    if !plan.isTolerant, let announced = plan.probe.frameCount, count < announced || decoder.lacksTrailer {
      throw .truncated(detail: "after frame \(count)")
    }
    return count
  }

  private static func strips(
    _ decoder: ImageDecoder, count: Int, frame: (Int) throws(CodecError) -> Raster
  ) throws(CodecError) -> [Raster] {
    let steps = decoder.pass.steps
    let stored = Orientation(exif: decoder.plan.probe.orientation)
    var strips = steps.map { FrameStrip(frame: $0.geometry.output, count: count) }
    var cuts = steps.map(\.geometry.cutRectangle)
    for number in 0..<count {
      if decoder.cancellation.isSet { throw .cancelled }
      let frame = try frame(number)
      for (index, step) in steps.enumerated() {
        let geometry = step.geometry
        let upright = try frame.upright(stored)
        let region = try Raster(computing: try upright.image().cropped(to: geometry.region))
        let view = try region.image().resized(to: geometry.view)
        // The crop of the first frame is used for all, so that the image does not jump.
        if number == 0, let search = geometry.search {
          cuts[index] = try view.partBySight(of: geometry.cut, gravity: search)
        }
        let cut = try Raster(computing: try view.cropped(to: cuts[index]).resized(to: geometry.output))
        try strips[index].append(cut)
        withExtendedLifetime((upright, region)) {}
      }
    }
    return try strips.map { strip throws(CodecError) in try strip.raster() }
  }
}

/// Frames of one size and four bands, stacked vertically as they arrive.
private struct FrameStrip {
  private let frame: PixelSize
  private let count: Int
  private var bytes: [UInt8] = []

  init(frame: PixelSize, count: Int) {
    (self.frame, self.count) = (frame, count)
    bytes.reserveCapacity(frame.pixelCount * 4 * count)
  }

  mutating func append(_ raster: Raster) throws(CodecError) {
    guard raster.size == frame, raster.bands == 4 else {
      throw .damaged(.shrink, detail: "a frame of \(raster.size) and \(raster.bands) bands")
    }
    let samples = raster.withBytes { Array($0) }
    bytes += samples
  }

  func raster() throws(CodecError) -> Raster {
    let size = PixelSize(frame.width, frame.height * count)
    return try Raster(size: size, bands: 4) { target throws(CodecError) in
      guard target.count == bytes.count else { throw .damaged(.shrink, detail: "frames are missing") }
      target.copyBytes(from: bytes)
    }
  }
}

/// How the frames of an animated image follow each other.
package struct AnimationTiming: Sendable, Equatable {
  package let frameCount: Int
  /// The duration of each frame, in milliseconds.
  package let delays: [Int32]
  /// The number of repetitions; 0 means forever.
  package let loops: Int32

  package init(frameCount: Int, delays: [Int32], loops: Int32) {
    (self.frameCount, self.delays, self.loops) = (frameCount, delays, loops)
  }

  /// The timing of an opened image.
  init(of image: LibvipsImage, frameCount: Int) {
    var found: UnsafeMutablePointer<Int32>?
    var length: Int32 = 0
    var delays: [Int32] = []
    if vips_image_get_typeof(image.pointer, "delay") != 0,
      vips_image_get_array_int(image.pointer, "delay", &found, &length) == 0, let found
    {
      delays = Array(UnsafeBufferPointer(start: found, count: Int(length)))
    }
    var loops: Int32 = 0
    if vips_image_get_typeof(image.pointer, "loop") != 0 { _ = vips_image_get_int(image.pointer, "loop", &loops) }
    self.init(frameCount: frameCount, delays: delays, loops: loops)
  }

  /// A copy of an image of all frames, stacked vertically, with this timing.
  func attached(to image: LibvipsImage) throws(CodecError) -> LibvipsImage {
    // A copy, because metadata set on the image would also change the raster's.
    let copy = try image.copied()
    cvips_set_animation(copy.pointer, Int32(image.size.height / frameCount), delays, Int32(delays.count), loops)
    return copy
  }
}
