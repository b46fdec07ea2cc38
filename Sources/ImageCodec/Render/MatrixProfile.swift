import Glibc
import ThumbnailCore

/// Converts RGB of an ICC profile of primaries and tone curves, as most profiles of cameras and screens are, to sRGB:
/// relative colorimetric and clipped to its gamut, as in Little CMS.
struct MatrixProfile {
  /// The light of each level, for red, green and blue.
  private let tones: [[Float]]
  /// The contribution of each channel's light to sRGB's red, green and blue.
  private let columns: [SIMD3<Float>]

  /// Nil if the profile has tables, or lacks primaries or curves.
  init?(_ profile: ICCProfile) {
    guard profile.isMatrix, let primaries = profile.primaries, let tones = profile.tones else { return nil }
    self.tones = tones.map { $0.map { Float(min(1, max(0, $0))) } }
    columns = primaries.map { xyz in
      let rows = Self.sRGB.map { row in Float(zip(row, xyz).reduce(0) { $0 + $1.0 * $1.1 }) }
      return SIMD3(rows[0], rows[1], rows[2])
    }
  }

  /// From XYZ for a white of D50 to the light of sRGB (IEC 61966-2-1, adapted as Bradford does).
  private static let sRGB = [
    [3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540], [0.0719453, -0.2289914, 1.4052427],
  ]
  /// The number of steps in which light is looked up: near black one is a fifth of a level.
  private static let steps = 1 << 14
  /// The level of each step of light.
  private static let levels: [UInt8] = (0...steps).map { step in
    let light = Double(step) / Double(steps)
    let value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    return UInt8((255 * value).rounded())
  }

  /// RGB, with or without alpha, in sRGB.
  func converted(_ raster: Raster) throws(CodecError) -> Raster {
    let bands = raster.bands
    let (levels, scale) = (Self.levels, Float(Self.steps))
    let (zero, one) = (SIMD3<Float>(repeating: 0), SIMD3<Float>(repeating: 1))
    return try raster.mapped(to: bands, keepingProfile: false) { source, target in
      var light: SIMD3<Float> = columns[0] * tones[0][Int(source[0])]
      light += columns[1] * tones[1][Int(source[1])]
      light += columns[2] * tones[2][Int(source[2])]
      let steps = SIMD3<Int32>(light.clamped(lowerBound: zero, upperBound: one) * scale + 0.5)
      for band in 0..<3 { target[band] = levels[Int(steps[band])] }
      if bands == 4 { target[3] = source[3] }
    }
  }
}
