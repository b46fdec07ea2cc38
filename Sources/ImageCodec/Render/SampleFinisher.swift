import CVectors

/// Turns resampled rows, 16-bit samples with `RowResampler.fractionBits` fraction bits that may overshoot, into 8-bit
/// samples.
enum SampleFinisher {
  private static let half: Int16 = 1 << 5

  /// Rounds and clamps samples to 8 bits.
  static func narrow(_ row: UnsafePointer<Int16>, count: Int, into output: UnsafeMutablePointer<UInt8>) {
    var x = 0
    while x &+ 8 <= count {
      let samples = (SampleVectors.load(row + x) &+ half) &>> 6
      let clamped = samples.clamped(lowerBound: SIMD8(repeating: 0), upperBound: SIMD8(repeating: 255))
      UnsafeMutableRawPointer(output + x).storeBytes(
        of: SIMD8<UInt8>(truncatingIfNeeded: clamped), as: SIMD8<UInt8>.self)
      x &+= 8
    }
    while x < count {
      output[x] = UInt8(truncatingIfNeeded: max(0, min(255, (row[x] &+ half) &>> 6)))
      x &+= 1
    }
  }

  /// The same for premultiplied pixels, whose last channel is alpha.
  static func unpremultiply(
    _ row: UnsafePointer<Int16>, pixels: Int, channels: Int, into output: UnsafeMutablePointer<UInt8>
  ) {
    for pixel in 0..<pixels {
      let first = pixel &* channels
      let last = first &+ channels &- 1
      let alpha = max(0, min(255 << 6, Int32(row[last])))
      let opacity = (alpha &+ 32) &>> 6
      output[last] = UInt8(truncatingIfNeeded: opacity)
      for channel in first..<last {
        let value = alpha > 0 ? (Int32(row[channel]) &* 255 &+ alpha &>> 1) / alpha : 0
        output[channel] = UInt8(truncatingIfNeeded: max(0, min(255, value)))
      }
    }
  }

  /// Converts a row of three planes, luma of these weights and chroma, to RGB.
  static func rgb(
    _ planes: (UnsafePointer<Int16>, UnsafePointer<Int16>, UnsafePointer<Int16>), _ weights: LumaWeights = .jfif,
    count: Int, into output: UnsafeMutablePointer<UInt8>
  ) {
    // The factors have 14 fraction bits, the sums 20.
    let exact = weights.factors
    func fixed(_ factor: Double) -> Int32 { Int32((factor * 16_384).rounded()) }
    let (redOfRed, greenOfRed) = (fixed(exact.redOfRed), fixed(exact.greenOfRed))
    let (greenOfBlue, blueOfBlue) = (fixed(exact.greenOfBlue), fixed(exact.blueOfBlue))
    let grey = Int32(128) << 6
    let half = Int32(1) << 19
    for x in 0..<count {
      let luma = Int32(planes.0[x]) &<< 14 &+ half
      let (blue, red) = (Int32(planes.1[x]) &- grey, Int32(planes.2[x]) &- grey)
      let pixel = output + 3 &* x
      pixel[0] = sample(luma &+ redOfRed &* red)
      pixel[1] = sample(luma &+ greenOfBlue &* blue &+ greenOfRed &* red)
      pixel[2] = sample(luma &+ blueOfBlue &* blue)
    }
  }

  /// Interleaves a row of three planes.
  static func interleave(
    _ planes: (UnsafePointer<Int16>, UnsafePointer<Int16>, UnsafePointer<Int16>), count: Int,
    into output: UnsafeMutablePointer<UInt8>
  ) {
    #if arch(x86_64)
      if SampleVectors.hasAVX2, count >= 16 {
        return cvectors_interleave(planes.0, planes.1, planes.2, count, output)
      }
    #endif
    for x in 0..<count {
      let pixel = output + 3 &* x
      pixel[0] = UInt8(truncatingIfNeeded: max(0, min(255, (planes.0[x] &+ half) &>> 6)))
      pixel[1] = UInt8(truncatingIfNeeded: max(0, min(255, (planes.1[x] &+ half) &>> 6)))
      pixel[2] = UInt8(truncatingIfNeeded: max(0, min(255, (planes.2[x] &+ half) &>> 6)))
    }
  }

  @inline(__always)
  private static func sample(_ value: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: max(0, min(255, value &>> 20)))
  }
}
