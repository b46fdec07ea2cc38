/// Computes a block's samples at a smaller scale from its first coefficients.
enum BlockSamples {
  /// A sample from eight times its offset from mid-grey, rounded like a DC coefficient in libjpeg: beyond ten bits the
  /// value wraps around.
  @inline(__always)
  static func eighth(_ eightfold: Int) -> UInt8 {
    let level = ((eightfold &+ 4) &<< 51) &>> 54
    return UInt8(truncatingIfNeeded: max(0, min(255, level &+ 128)))
  }

  /// Twice the expected value of a DC coefficient that is known only from `bit` upwards: the middle of its interval,
  /// because rounding down would darken the image.
  @inline(__always)
  static func doubledDC(_ known: Int, bit: Int) -> Int { 2 &* known &+ (1 &<< bit) &- 1 }

  /// Twice the expected value of an AC coefficient that is known only from `bit` upwards, and is not 0.
  @inline(__always)
  static func doubledAC(_ known: Int, bit: Int) -> Int {
    let doubt = (1 &<< bit) &- 1
    return 2 &* known &+ (known > 0 ? doubt : -doubt)
  }

  /// The factors applied in advance to the quantisers of zigzag positions 0, 1, 2 and 4 for `quarter`, times 256.
  ///
  /// An orthonormal 2×2 transform keeps an eighth of each coefficient of an 8×8 block; the mean of each quarter of the
  /// block takes 0.906 of that per direction in which the coefficient varies. In measurements a value in between was
  /// best: 0.95.
  static let quarterWeights = SIMD4<Int32>(256, 243, 243, 231)

  /// Writes 2×2 samples from the coefficients at zigzag positions 0, 1, 2 and 4. Each is twice its value times its
  /// weight: 4096 units are one level.
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
