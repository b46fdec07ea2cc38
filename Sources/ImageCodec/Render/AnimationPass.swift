import CVips
import Foundation
import ThumbnailCore

/// One decode of an animated image and the animated thumbnails made from it.
///
/// Only one frame of the source is in memory at a time, but all frames of the thumbnails.
struct AnimationPass {
  let plan: DecodePlan
  let pass: DecodePlan.Pass
  let decoder: ImageDecoder
  let source: SourceDescription
  let cancellation: CancellationFlag

  /// The number of frames assumed in the plan if the header does not tell. An image with more is refused.
  static let fewFrames = 100

  /// The animation's timing.
  private struct Timing {
    var count: Int
    /// The duration of each frame, in milliseconds.
    var delays: [Int32]
    /// The number of repetitions; 0 means forever.
    var loops: Int32
  }

  /// The thumbnails in the order of the steps. An error in one is an error for all.
  func run() -> [RenderedVariant] {
    do throws(CodecError) {
      return try decoder.withFrames { picture throws(CodecError) in
        var kept: KeptMetadata?
        if let policy = pass.steps.first?.variant.metadata { kept = KeptMetadata(policy, of: picture) }
        let timing = try timing(of: picture)
        let strips = try render(picture, timing)
        return zip(pass.steps, strips).map { step, strip in
          RenderedVariant(
            variant: step.variant,
            result: Result { () throws(CodecError) in try encode(strip, timing, step: step, kept: kept) })
        }
      }
    } catch {
      return pass.steps.map { RenderedVariant(variant: $0.variant, result: .failure(error)) }
    }
  }

  private func timing(of picture: LibvipsImage) throws(CodecError) -> Timing {
    let height = Int(vips_image_get_page_height(picture.pointer))
    let count = picture.size.height / max(1, height)
    guard PixelSize(picture.size.width, height) == pass.baseSize, count >= 1 else {
      throw .damaged(.header, detail: "the header says \(pass.baseSize), the decoder \(picture.size.width)x\(height)")
    }
    if count > plan.probe.frameCount ?? Self.fewFrames {
      throw .limitExceeded(.frames, value: count, maximum: plan.probe.frameCount ?? Self.fewFrames)
    }
    // The decoder drops a truncated frame silently, which would make an incomplete animation look complete.
    if !plan.isTolerant, let announced = plan.probe.frameCount, count < announced || decoder.lacksTrailer {
      throw .truncated(detail: "after frame \(count)")
    }
    var timing = Timing(count: count, delays: [], loops: 0)
    var delays: UnsafeMutablePointer<Int32>?
    var delayCount: Int32 = 0
    if vips_image_get_typeof(picture.pointer, "delay") != 0,
      vips_image_get_array_int(picture.pointer, "delay", &delays, &delayCount) == 0, let delays
    {
      timing.delays = Array(UnsafeBufferPointer(start: delays, count: Int(delayCount)))
    }
    if vips_image_get_typeof(picture.pointer, "loop") != 0 {
      _ = vips_image_get_int(picture.pointer, "loop", &timing.loops)
    }
    return timing
  }

  /// Each step's frames, stacked vertically, with alpha.
  private func render(_ picture: LibvipsImage, _ timing: Timing) throws(CodecError) -> [Raster] {
    let size = pass.baseSize
    let orientation = Orientation(exif: plan.probe.orientation)
    let keepsProfile = pass.steps.first?.variant.metadata == .profile
    var strips = try pass.steps.map { step throws(CodecError) in
      try FrameStrip(frame: step.geometry.output, count: timing.count)
    }
    var cuts = pass.steps.map { $0.geometry.cutRectangle($0.variant.gravity) }
    for number in 0..<timing.count {
      if cancellation.isSet { throw .cancelled }
      let frame = try Raster(
        computing: try picture.cropped(to: PixelRectangle(x: 0, y: number * size.height, size: size))
          .standardColours(keepingProfile: keepsProfile).withFourBands())
      let upright = try frame.upright(orientation)
      for (index, step) in pass.steps.enumerated() {
        let view = try upright.picture().resized(to: step.geometry.view)
        // The crop of the first frame is used for all, so that the image does not jump.
        if number == 0, step.geometry.crops, [.attention, .entropy].contains(step.variant.gravity) {
          cuts[index] = try view.partBySight(of: step.geometry.cut, gravity: step.variant.gravity)
        }
        let output = try view.cropped(to: cuts[index]).resized(to: step.geometry.output)
        try strips[index].append(try Raster(computing: output))
      }
      withExtendedLifetime(upright) {}
    }
    return try strips.map { strip throws(CodecError) in try strip.raster() }
  }

  private func encode(
    _ strip: Raster, _ timing: Timing, step: DecodePlan.Step, kept: KeptMetadata?
  ) throws(CodecError) -> Thumbnail {
    defer { withExtendedLifetime(strip) {} }
    let format: ImageFormat = step.variant.format == .same ? plan.probe.format : .webp
    guard Codec.canWrite(format) else { throw .encoderUnavailable(format) }
    var picture = try strip.picture()
    if let background = step.variant.background {
      picture = try picture.flattened(onto: background)
    } else if strip.isOpaque {
      picture = try picture.withoutAlpha()
    }
    // A copy, since metadata set on the image would else change the strip too.
    if let kept {
      picture = try kept.attached(to: picture)
    } else {
      picture = try picture.applying { cvips_copy($0, $1) }
    }
    let height = Int32(step.geometry.output.height)
    cvips_set_animation(picture.pointer, height, timing.delays, Int32(timing.delays.count), timing.loops)
    let data = try Encoder.save(picture, as: format, variant: step.variant, keeps: kept != nil)
    return Thumbnail(
      data: data, size: step.geometry.output, format: format, source: source, isDamaged: plan.isTolerant)
  }
}

/// Frames of one size and four bands, stacked vertically as they arrive.
private struct FrameStrip {
  private let frame: PixelSize
  private let count: Int
  private var bytes: [UInt8] = []

  init(frame: PixelSize, count: Int) throws(CodecError) {
    (self.frame, self.count) = (frame, count)
    bytes.reserveCapacity(frame.pixelCount * 4 * count)
  }

  mutating func append(_ raster: Raster) throws(CodecError) {
    guard raster.size == frame, raster.bands == 4 else {
      throw .damaged(.shrink, detail: "a frame of \(raster.size) and \(raster.bands) bands")
    }
    let samples = try raster.withBytes { Array($0) }
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
