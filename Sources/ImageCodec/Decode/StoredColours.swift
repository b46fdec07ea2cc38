import Glibc

/// Conversions of interleaved rows whose stored colours are not display values.
enum StoredColours {
  /// Luma and full-range chroma to RGB, in place.
  static func convertChroma<Sample: FixedWidthInteger & UnsignedInteger>(
    _ row: UnsafeMutablePointer<Sample>, pixels: Int, channels: Int, weights: LumaWeights
  ) {
    let (middle, most) = ((Int(Sample.max) + 1) / 2, Int(Sample.max))
    let exact = weights.factors
    let factors = [exact.redOfRed, exact.greenOfBlue, exact.greenOfRed, exact.blueOfBlue].map {
      Int(($0 * 65_536).rounded())
    }
    let (reds, greensOfBlue, greensOfRed, blues) = (factors[0], factors[1], factors[2], factors[3])
    for index in 0..<pixels {
      let pixel = row + index * channels
      let (luma, blue, red) = (Int(pixel[0]) << 16 + 1 << 15, Int(pixel[1]) - middle, Int(pixel[2]) - middle)
      pixel[0] = Sample(min(max((luma + reds * red) >> 16, 0), most))
      pixel[1] = Sample(min(max((luma + greensOfBlue * blue + greensOfRed * red) >> 16, 0), most))
      pixel[2] = Sample(min(max((luma + blues * blue) >> 16, 0), most))
    }
  }

  /// Divides the colours by alpha, the last channel, in place.
  static func unpremultiply<Sample: FixedWidthInteger & UnsignedInteger>(
    _ row: UnsafeMutablePointer<Sample>, pixels: Int, channels: Int
  ) {
    let most = Int(Sample.max)
    for index in 0..<pixels {
      let pixel = row + index * channels
      let alpha = Int(pixel[channels - 1])
      guard alpha > 0 else { continue }
      for channel in 0..<channels - 1 {
        pixel[channel] = Sample(min((Int(pixel[channel]) * most + alpha / 2) / alpha, most))
      }
    }
  }

  /// The display value, of 16 bits, of linear light; 1 is white.
  static func shown(_ light: Float) -> UInt16 { encoded[Int(clipped(light * 65_535))] }

  /// A level of 16 bits; NaN is black.
  static func clipped(_ level: Float) -> UInt16 { UInt16(level >= 65_535 ? 65_535 : level > 0 ? level.rounded() : 0) }

  /// The values for display (IEC 61966-2-1) of linear light, both of 16 bits.
  private static let encoded: [UInt16] = (0...65_535).map { level in
    let light = Double(level) / 65_535
    let shown = light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    return UInt16((shown * 65_535).rounded())
  }
}
