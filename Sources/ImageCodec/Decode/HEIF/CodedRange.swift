/// How coded samples are brought to the full range of 8 or 16 bits.
struct CodedRange {
  /// The bits of the coded samples.
  let bits: Int
  let isFull: Bool

  /// The coded value of black, and of chroma's grey; and the levels from there to white, or to chroma's extremes.
  func scale(isChroma: Bool) -> (zero: Double, range: Double) {
    let step = Double(1 << (bits - 8))
    if isFull { return (isChroma ? 128 * step : 0, Double(1 << bits - 1)) }
    return isChroma ? (128 * step, 224 * step) : (16 * step, 219 * step)
  }

  /// The level of each coded value: 8 bits, with a grey of 128, for samples of 8 bits, else 16 bits. Nil if the samples
  /// are levels already.
  func table(isChroma: Bool) -> [UInt16]? {
    if bits == 8 && isFull { return nil }
    let (zero, range) = scale(isChroma: isChroma)
    let white: Double = bits == 8 ? 255 : 65_535
    // Grey is 128 of 255 levels.
    let target = isChroma ? white * 128 / 255 : 0
    return (0..<1 << bits).map { UInt16(max(0, min(white, ((Double($0) - zero) * white / range + target).rounded()))) }
  }

  /// A mean of coded samples as a level of 8 bits.
  func level(_ mean: Double, isChroma: Bool) -> Double {
    let (zero, range) = scale(isChroma: isChroma)
    return (mean - zero) * 255 / range + (isChroma ? 128 : 0)
  }

  /// Light of luma from 0 to 1, or of chroma from -0.5 to 0.5, for each coded value.
  func fractions(isChroma: Bool) -> [Float] {
    let (zero, range) = scale(isChroma: isChroma)
    return (0..<1 << bits).map { Float((Double($0) - zero) / range) }
  }
}

/// The shares of red and blue in luma.
struct LumaWeights: Sendable, Equatable {
  var red: Double
  var blue: Double

  /// JFIF's, of ITU-R BT.601.
  static let jfif = LumaWeights(red: 0.299, blue: 0.114)

  /// The weights of a matrix of ITU-T H.273; nil for other matrices. Unspecified weights count as JFIF's.
  init?(matrix: Int) {
    switch matrix {
    case 2, 5, 6: self = .jfif
    case 1: self.init(red: 0.2126, blue: 0.0722)
    case 4: self.init(red: 0.30, blue: 0.11)
    case 7: self.init(red: 0.212, blue: 0.087)
    case 9: self.init(red: 0.2627, blue: 0.0593)
    default: return nil
    }
  }

  init(red: Double, blue: Double) { (self.red, self.blue) = (red, blue) }

  /// The factors of chroma for red, green and blue.
  var factors: (redOfRed: Double, greenOfRed: Double, greenOfBlue: Double, blueOfBlue: Double) {
    let green = 1 - red - blue
    let (reds, blues) = (2 * (1 - red), 2 * (1 - blue))
    return (reds, -reds * red / green, -blues * blue / green, blues)
  }
}
