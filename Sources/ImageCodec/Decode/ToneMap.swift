import Glibc
import HEIFContainer

/// Maps samples of high dynamic range, or of other primaries, to sRGB, so that they look as on a screen of it.
///
/// PQ and HLG (ITU-R BT.2100) become the light of a display, of nominally 1,000 cd/m² for HLG. Reference white of 203
/// cd/m² (ITU-R BT.2408) becomes the brightest light of sRGB. Light above the knee of ITU-R BT.2390 (88 cd/m² for an
/// image of up to 1,000) is compressed: the brightest of red, green and blue by its curve, the others in proportion, so
/// that hues stay. Then the primaries are converted in linear light, and colours beyond sRGB's clipped.
struct ToneMap {
  /// The light of sRGB's white, in cd/m².
  private static let white = 203.0
  /// The brightest light of an HLG display, and of a PQ image that does not state it, in cd/m².
  private static let usualPeak = 1000.0
  /// The exponent of the scene's luminance, less 1, that HLG's display light is in proportion to.
  private static let gammaOfHLG = 0.2
  /// The last index of the tables.
  private static let last = 4095

  /// The light of each level of a signal, of 8 bits or of the upper 12 of 16: for PQ 1 is white, for HLG the scene's
  /// brightest.
  private let light: [Float]
  /// For HLG, the factors of the scene's light, by the square root of its luminance from 0 to 1; else empty.
  private let display: [Float]
  /// The factors of the light, by the square root of the brightest channel from 0 to the peak.
  private let rollOff: [Float]
  /// The brightest light that the curve distinguishes.
  private let peak: Float
  /// The levels of sRGB, of as many bits as the signal, by the square root of light.
  private let encoded: [UInt16]
  private let primaries: Primaries
  private let isWide: Bool

  /// - Parameter isWide: Whether rows have 16 bits a sample, not 8.
  init(_ range: CodedLight, isWide: Bool) {
    (primaries, self.isWide) = (Primaries(range.primaries), isWide)
    let isPQ = range.transfer == .pq
    let most: Double = isWide ? 65_535 : 255
    let levels = CodedRange(bits: isWide ? 16 : 8, isFull: range.isFullRange).scale(isChroma: false)
    light = (0...(isWide ? Self.last : 255)).map { (level: Int) -> Float in
      let signal = max(0, min(1, (Double(isWide ? level << 4 : level) - levels.zero) / levels.range))
      return Float(range.light(signal) * (isPQ ? PQ.brightest / Self.white : 1))
    }
    display =
      range.transfer != .hlg
      ? []
      : Self.roots.map { (root: Double) -> Float in
        Float(pow(root * root, Self.gammaOfHLG) * Self.usualPeak / Self.white)
      }
    let told = isPQ ? range.peakLight.map { max(Self.white, min(PQ.brightest, Double($0))) } : nil
    let known = range.transfer == .sRGB ? Self.white : told ?? Self.usualPeak
    rollOff = Self.roots.map { root in
      let found = max(1e-6, root * root * known)
      return Float(Self.rolledOff(found, peak: known) / found)
    }
    self.peak = Float(known / Self.white)
    encoded = Self.roots.map { (root: Double) -> UInt16 in
      UInt16((Self.signal(ofLight: root * root) * most).rounded())
    }
  }

  private static let roots = (0...last).map { Double($0) / Double(last) }

  /// Maps `count` pixels in place. The first of `channels` samples is gray, or the first three are red, green and blue.
  func convert(_ row: UnsafeMutableRawPointer, count: Int, channels: Int) {
    if isWide {
      convert(row.assumingMemoryBound(to: UInt16.self), count, channels)
    } else {
      convert(row.assumingMemoryBound(to: UInt8.self), count, channels)
    }
  }

  @inline(__always)
  private func convert<Sample: FixedWidthInteger & UnsignedInteger>(
    _ row: UnsafeMutablePointer<Sample>, _ count: Int, _ channels: Int
  ) {
    let last = Float(Self.last)
    let scale = last / peak.squareRoot()
    func index(_ sample: Sample) -> Int {
      Sample.bitWidth == 8 ? Int(sample) : min(Self.last, (Int(sample) &+ 8) &>> 4)
    }
    // Light is never negative, and no index is beyond the tables.
    func place(_ light: Float, _ scale: Float) -> Int { Int(min(last, light.squareRoot() * scale + 0.5)) }
    light.withUnsafeBufferPointer { light in
      display.withUnsafeBufferPointer { display in
        rollOff.withUnsafeBufferPointer { rollOff in
          encoded.withUnsafeBufferPointer { encoded in
            let (green, blue) = channels < 3 ? (0, 0) : (1, 2)
            for x in 0..<count {
              let pixel = row + x &* channels
              var found = SIMD3(light[index(pixel[0])], light[index(pixel[green])], light[index(pixel[blue])])
              if !display.isEmpty { found *= display[place((found * primaries.luminance).sum(), last)] }
              let most = found.max()
              found *= most < peak ? rollOff[place(most, scale)] : 1 / most
              let shown = primaries.red * found.x + primaries.green * found.y + primaries.blue * found.z
              for channel in 0...blue {
                pixel[channel] = Sample(truncatingIfNeeded: encoded[place(max(0, shown[channel]), last)])
              }
            }
          }
        }
      }
    }
  }

  /// Light in cd/m² after BT.2390's curve from `peak` to `white`; both have a black of 0.
  private static func rolledOff(_ light: Double, peak: Double) -> Double {
    let whole = PQ.signal(peak)
    let most = PQ.signal(white) / whole
    let knee = 1.5 * most - 0.5
    let signal = min(1, PQ.signal(light) / whole)
    guard signal > knee, knee < 1 else { return min(white, light) }
    let t = (signal - knee) / (1 - knee)
    let (square, cube) = (t * t, t * t * t)
    let curve =
      (2 * cube - 3 * square + 1) * knee + (cube - 2 * square + t) * (1 - knee) + (3 * square - 2 * cube) * most
    return min(white, PQ.light(curve * whole))
  }

  /// sRGB's signal (IEC 61966-2-1).
  private static func signal(ofLight light: Double) -> Double {
    light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
  }
}

/// What samples of any format mean whose transfer function or primaries are not sRGB's.
struct CodedLight: Sendable, Equatable {
  /// Those of standard range count as sRGB's, as on most screens.
  enum Transfer { case sRGB, pq, hlg }

  let transfer: Transfer
  /// Their number in ITU-T H.273.
  let primaries: Int
  /// Whether black is 0, not 16 of 255.
  var isFullRange = true
  /// The brightest light of a PQ image in cd/m², if the image states it.
  var peakLight: Int?

  /// Nil for sRGB and for what is unknown. The samples are, or become, of full range.
  init?(_ colour: CodedColour?, peakLight: Int? = nil) {
    guard let colour else { return nil }
    (primaries, self.peakLight) = (colour.primaries, peakLight)
    switch colour.transfer {
    case 16: transfer = .pq
    case 18: transfer = .hlg
    // Unspecified, and those of BT.709, 470, 601, sRGB and BT.2020, with the primaries of BT.2020 or P3.
    case 1, 2, 4, 6, 13, 14, 15:
      guard [9, 11, 12].contains(primaries) else { return nil }
      transfer = .sRGB
    default: return nil
    }
  }

  /// What counts of a file with this profile: a profile of standard range describes its samples itself.
  static func counting(_ told: CodedLight?, profile: [UInt8]?) -> CodedLight? {
    if let told, told.transfer != .sRGB || profile == nil { return told }
    return CodedLight(profile: profile).flatMap { $0.transfer == .sRGB ? nil : $0 }
  }

  /// From the four bytes of a PNG's `cICP` and a profile's `cicp`; nil if they are not of RGB.
  init?(codePoints bytes: HeaderBytes) {
    guard let primaries = bytes[0], let transfer = bytes[1], bytes[2] == 0, let range = bytes[3] else { return nil }
    self.init(CodedColour(primaries: primaries, transfer: transfer, matrix: 0, isFullRange: true))
    isFullRange = range == 1
  }

  /// The light of a signal, both from 0 to 1: for HLG that of the scene, by the inverse of its OETF.
  func light(_ signal: Double) -> Double {
    if transfer == .sRGB { return ICCProfile.linear(signal) }
    if transfer == .pq { return PQ.light(signal) / PQ.brightest }
    let (a, b, c) = (0.178_832_77, 0.284_668_92, 0.559_910_73)
    return signal <= 0.5 ? signal * signal / 3 : (exp((signal - c) / a) + b) / 12
  }
}

/// SMPTE ST 2084: the perceptual quantiser.
private enum PQ {
  /// The light of a signal of 1, in cd/m².
  static let brightest = 10_000.0
  private static let (m1, m2) = (2610.0 / 16_384, 2523.0 / 4096 * 128)
  private static let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32)

  /// The light of a signal from 0 to 1, in cd/m².
  static func light(_ signal: Double) -> Double {
    let power = pow(signal, 1 / m2)
    return pow(max(0, power - c1) / (c2 - c3 * power), 1 / m1) * brightest
  }

  /// The signal of a light in cd/m².
  static func signal(_ light: Double) -> Double {
    let power = pow(light / brightest, m1)
    return pow((c1 + c2 * power) / (1 + c3 * power), m2)
  }
}

/// Converts linear light from other primaries to sRGB's. The white of all is D65.
private struct Primaries {
  /// A unit of the channel in red, green and blue of sRGB.
  let red: SIMD3<Float>
  let green: SIMD3<Float>
  let blue: SIMD3<Float>
  /// The shares of the channels in luminance.
  let luminance: SIMD3<Float>

  /// By their number in ITU-T H.273. Unspecified primaries count as BT.2020's, as in BT.2100, others as BT.709's.
  init(_ number: Int) {
    switch number {
    case 2, 9:
      red = [1.660_491, -0.124_550, -0.018_151]
      green = [-0.587_641, 1.132_900, -0.100_579]
      blue = [-0.072_850, -0.008_349, 1.118_730]
      luminance = [0.2627, 0.6780, 0.0593]
    case 11, 12:
      red = [1.224_940, -0.042_057, -0.019_638]
      green = [-0.224_940, 1.042_057, -0.078_636]
      blue = [0, 0, 1.098_274]
      luminance = [0.2290, 0.6917, 0.0793]
    default:
      (red, green, blue) = ([1, 0, 0], [0, 1, 0], [0, 0, 1])
      luminance = [0.2126, 0.7152, 0.0722]
    }
  }
}
