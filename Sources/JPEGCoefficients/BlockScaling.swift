/// How a component's coefficients become samples: the side of its blocks, and its quantisers with the weights that the
/// transform of that side expects.
///
/// Safety: it owns the tables that kernels read through its pointers, and must outlive them.
final class BlockScaling {
  let side: BlockSide
  /// For sides one and two the weighted quantisers of the coefficients in rows.
  let integers: SIMD4<Int32>
  /// For sides four and eight the same, and 0 for coefficients that are not kept: 65 elements.
  let factors: UnsafeMutablePointer<Float>
  /// For side four the samples of each coefficient of 1, in columns: four vectors, 0 for coefficients that are not
  /// kept. 17 · 4 elements.
  let waves: UnsafeMutablePointer<SIMD4<Float>>
  /// `BlockSide.slots`: 64 elements, all at most 64.
  let slots: UnsafeMutablePointer<UInt8>

  /// `quantisers` are the 64 of the component's table in zigzag order.
  init(_ side: BlockSide, quantisers: [Int32]) {
    self.side = side
    let order = side.slots
    (factors, slots, waves) = (.allocate(capacity: 65), .allocate(capacity: 64), .allocate(capacity: 17 * 4))
    waves.initialize(repeating: .zero, count: 17 * 4)
    factors.initialize(repeating: 0, count: 65)
    slots.initialize(from: order, count: 64)
    var integers = SIMD4<Int32>()
    let weights = BlockTransform.weights(side)
    for (position, quantiser) in quantisers.enumerated() where Int(order[position]) < side.count {
      let slot = Int(order[position])
      factors[slot] = Float(quantiser) * weights[slot / side.rawValue] * weights[slot % side.rawValue]
      if slot < 4 { integers[slot] = quantiser }
    }
    if side == .four {
      for slot in 0..<16 { for x in 0..<4 { waves[4 * slot + x] = BlockTransform.wave(slot, x) * factors[slot] } }
    }
    self.integers = side == .two ? integers &* BlockSamples.quarterWeights : integers
  }

  deinit {
    factors.deallocate()
    slots.deallocate()
    waves.deallocate()
  }
}

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
    // −1 unless the value is positive: a branch would be a random one.
    let sign = (known &- 1) &>> 63
    return 2 &* known &+ ((((1 &<< bit) &- 1) ^ sign) &- sign)
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

  /// The same where all other coefficients are 0.
  @inline(__always)
  static func quarter(_ dc: Int, into output: UnsafeMutableRawPointer, rowBytes: Int) {
    let pair = UInt16(sample(dc &+ 2048)) &* 0x0101
    output.storeBytes(of: pair, as: UInt16.self)
    output.storeBytes(of: pair, toByteOffset: rowBytes, as: UInt16.self)
  }

  @inline(__always)
  private static func sample(_ value: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: max(0, min(255, (value &>> 12) &+ 128)))
  }
}

/// The samples across and down of each reduced block of a component.
enum BlockSide: Int, Sendable, Comparable {
  case one = 1, two = 2, four = 4, eight = 8

  /// The smallest side of at least `samples`, at most 8.
  init(atLeast samples: Int) { self = samples <= 1 ? .one : samples <= 2 ? .two : samples <= 4 ? .four : .eight }

  static func < (a: BlockSide, b: BlockSide) -> Bool { a.rawValue < b.rawValue }

  /// The samples of a block.
  var count: Int { rawValue * rawValue }

  /// The last zigzag position whose coefficient is kept. Kept are as many frequencies across and down as there are
  /// samples; coefficients in between are ignored.
  var lastPosition: Int {
    switch self {
    case .one: 0
    case .two: 4
    case .four: 24
    case .eight: 63
    }
  }

  /// The zigzag positions whose coefficients are kept, as a bit mask.
  var positions: UInt64 {
    (0..<64).reduce(0) { mask, position in
      let natural = Int(Self.naturalOrder[position])
      let isKept = natural & 7 < rawValue && natural >> 3 < rawValue
      return isKept ? mask | 1 << UInt64(position) : mask
    }
  }

  /// For each zigzag position the index of its coefficient in rows of `rawValue`; `count` if it is not kept.
  var slots: [UInt8] {
    Self.naturalOrder.map { natural in
      let (across, down) = (Int(natural & 7), Int(natural >> 3))
      return UInt8(across < rawValue && down < rawValue ? down * rawValue + across : count)
    }
  }

  /// For each zigzag position the index of its coefficient in rows of eight.
  static let naturalOrder: [UInt8] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
  ]
}
