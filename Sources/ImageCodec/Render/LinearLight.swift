import Glibc

/// Converts rows between display values, as sRGB encodes them, and linear light.
///
/// Linear samples are the resampler's: of 16 bits, with `RowResampler.fractionBits` fraction bits, so 16,320 is white
/// and the darkest gray of 8 bits is 5. Every one of the 256 levels is the same after both conversions.
///
/// Source: IEC 61966-2-1.
enum LinearLight {
  /// White.
  static let white = 255 << Int(RowResampler.fractionBits)

  /// The linear samples of the values of 8 bits.
  private static let ofBytes = decoded(255)
  /// The linear samples of the values of 16 bits.
  private static let ofWords = decoded(65_535)
  /// The values of 8 bits of all linear samples up to white.
  private static let encoded: [UInt8] = (0...white).map { sample in
    let light = Double(sample) / Double(white)
    let value = light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    return UInt8((value * 255).rounded())
  }

  private static func decoded(_ most: Int) -> [Int16] {
    (0...most).map { Int16((light(of: Double($0) / Double(most)) * Double(white)).rounded()) }
  }

  private static func light(of value: Double) -> Double {
    value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  /// The levels from one row of `ofMeans` to the next.
  private static let deviationStep = 2
  /// The mean linear samples of pixels whose values have a mean of 8 bits, in rows by their standard deviation.
  ///
  /// The values are assumed to have a Beta distribution, whose moments are simple, and light to be 0.6825 v² + 0.3052
  /// v³ and a part in proportion to v, which does not change the mean.
  private static let ofMeans: [Int16] = stride(from: 0, through: 127, by: deviationStep).flatMap { deviation in
    (0...255).map { level in
      let mean = Double(level) / 255
      let variance = Double(deviation * deviation) / (255 * 255)
      let room = mean * (1 - mean)
      // Values of 0 and 1 alone have the largest variance.
      let sum = variance > 0 ? max(0, room / variance - 1) : .infinity
      guard room > 0, sum < .infinity else { return ofBytes[level] }
      let square = mean * (mean * sum + 1) / (sum + 1)
      let cube = square * (mean * sum + 2) / (sum + 2)
      let light = light(of: mean) + 0.6825 * (square - mean * mean) + 0.3052 * (cube - mean * mean * mean)
      return Int16((min(1, light) * Double(white)).rounded())
    }
  }

  /// Converts `count` pixels to linear light. With alpha, which is the last channel, the others are multiplied by it.
  static func decode(
    _ row: UnsafePointer<UInt8>, count: Int, channels: Int, hasAlpha: Bool, into output: UnsafeMutablePointer<Int16>
  ) {
    // 1 / 255 is 257 / 65,535.
    decode(row, count, channels, hasAlpha: hasAlpha, alphaScale: 257, ofBytes, output)
  }

  /// The same for samples without alpha that are means of pixels: converts them to the means of the light. `deviations`
  /// has the standard deviation of each, at most 127 levels.
  static func decode(
    _ row: UnsafePointer<UInt8>, deviations: UnsafePointer<UInt8>, count: Int, channels: Int,
    into output: UnsafeMutablePointer<Int16>
  ) {
    ofMeans.withUnsafeBufferPointer { table in
      for pixel in 0..<count {
        let line = (Int(deviations[pixel]) & 127) / deviationStep * 256
        for index in pixel &* channels..<(pixel &+ 1) &* channels { output[index] = table[line &+ Int(row[index])] }
      }
    }
  }

  /// The same for samples of 16 bits.
  static func decode(
    _ row: UnsafePointer<UInt16>, count: Int, channels: Int, hasAlpha: Bool, into output: UnsafeMutablePointer<Int16>
  ) {
    decode(row, count, channels, hasAlpha: hasAlpha, alphaScale: 1, ofWords, output)
  }

  /// `table` has a linear sample for each value, so that no index is beyond it; alpha times `alphaScale` has 16 bits.
  @inline(__always)
  private static func decode<Sample: FixedWidthInteger & UnsignedInteger>(
    _ row: UnsafePointer<Sample>, _ count: Int, _ channels: Int, hasAlpha: Bool, alphaScale: Int32, _ table: [Int16],
    _ output: UnsafeMutablePointer<Int16>
  ) {
    table.withUnsafeBufferPointer { table in
      guard hasAlpha else {
        for index in 0..<count &* channels { output[index] = table[Int(row[index])] }
        return
      }
      for pixel in 0..<count {
        let first = pixel &* channels
        let last = first &+ channels &- 1
        let alpha = Int32(row[last]) &* alphaScale
        for channel in first..<last {
          let product = Int32(table[Int(row[channel])]) &* alpha
          output[channel] = Int16(truncatingIfNeeded: (product &+ 1 << 15) &>> 16)
        }
        output[last] = Int16(truncatingIfNeeded: (alpha &* Int32(white) &+ 1 << 15) &>> 16)
      }
    }
  }

  /// Converts resampled samples, which may overshoot, to display values of 8 bits.
  static func encode(_ row: UnsafePointer<Int16>, count: Int, into output: UnsafeMutablePointer<UInt8>) {
    encoded.withUnsafeBufferPointer { table in
      for index in 0..<count { output[index] = table[max(0, min(white, Int(row[index])))] }
    }
  }

  /// The same for premultiplied pixels, whose last channel is alpha.
  static func unpremultiply(
    _ row: UnsafePointer<Int16>, pixels: Int, channels: Int, into output: UnsafeMutablePointer<UInt8>
  ) {
    encoded.withUnsafeBufferPointer { table in
      for pixel in 0..<pixels {
        let first = pixel &* channels
        let last = first &+ channels &- 1
        let alpha = max(0, min(white, Int(row[last])))
        output[last] = UInt8(truncatingIfNeeded: (alpha &+ 32) &>> 6)
        for channel in first..<last {
          let light = alpha > 0 ? (Int(row[channel]) &* white &+ alpha &>> 1) / alpha : 0
          output[channel] = table[max(0, min(white, light))]
        }
      }
    }
  }
}
