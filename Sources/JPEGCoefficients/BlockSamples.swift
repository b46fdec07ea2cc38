/// From the first coefficients of a block to its samples at a smaller scale.
enum BlockSamples {
  /// A sample from eight times its distance to mid-grey, rounded, as libjpeg makes it of a DC coefficient: what does not
  /// fit into ten bits turns round.
  @inline(__always)
  static func eighth(_ eightfold: Int) -> UInt8 {
    let level = ((eightfold &+ 4) &<< 51) &>> 54
    return UInt8(truncatingIfNeeded: max(0, min(255, level &+ 128)))
  }

  /// Twice the likeliest value of a DC coefficient of which only the bits from `bit` on are known: the middle of what it
  /// may be, or the picture would get darker.
  @inline(__always)
  static func doubledDC(_ known: Int16, bit: Int32) -> Int { 2 &* Int(known) &+ (1 &<< Int(bit)) &- 1 }

  /// Twice the likeliest value of an AC coefficient of which only the bits from `bit` on are known.
  @inline(__always)
  static func doubledAC(_ known: Int16, bit: Int32) -> Int {
    let doubt = (1 &<< Int(bit)) &- 1
    return 2 &* Int(known) &+ (known > 0 ? doubt : known < 0 ? -doubt : 0)
  }

  /// What the quantisers of the zigzag positions 0, 1, 2 and 4 are multiplied by beforehand for `quarter`.
  ///
  /// Of a block of 8×8 an orthonormal transform of 2×2 keeps an eighth of each coefficient; the mean of each quarter of
  /// the block takes 0.906 of that for each direction in which the coefficient changes. Measured in between is best:
  /// 0.95. All times 256.
  static let quarterWeights = SIMD4<Int32>(256, 243, 243, 231)

  /// Writes 2×2 samples of the coefficients at the zigzag positions 0, 1, 2 and 4, each twice its value times its
  /// weight: 4096 times a level.
  @inline(__always)
  static func quarter(
    _ dc: Int, _ across: Int, _ down: Int, _ both: Int, into output: UnsafeMutableRawPointer, rowBytes: Int
  ) {
    let (upper, lower) = (dc &+ down &+ 2048, dc &- down &+ 2048)
    let (right, left) = (across &- both, across &+ both)
    output.storeBytes(of: sample(upper &+ left), as: UInt8.self)
    output.storeBytes(of: sample(upper &- left), toByteOffset: 1, as: UInt8.self)
    output.storeBytes(of: sample(lower &+ right), toByteOffset: rowBytes, as: UInt8.self)
    output.storeBytes(of: sample(lower &- right), toByteOffset: rowBytes &+ 1, as: UInt8.self)
  }

  @inline(__always)
  private static func sample(_ value: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: max(0, min(255, (value &>> 12) &+ 128)))
  }
}
