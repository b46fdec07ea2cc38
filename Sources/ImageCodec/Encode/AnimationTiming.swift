import CVips

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
