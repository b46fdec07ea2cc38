/// Turns blocks of samples into tokens: what a JPEG's entropy-coded data say, before their codes are known.
///
/// A token is a symbol in its lowest 8 bits, its code table in the next 2, and the bits that follow the code in its
/// upper 16. The counts have 256 places for each table.
enum BlockCoder {
  typealias Eight = ForwardTransform.Eight

  /// A unit of `texture`.
  static let wholeTexture = 256
  /// The most tokens of a block.
  static let mostTokens = 64
  /// What a token of AC coefficients has more than one of DC coefficients.
  private static let acTable: UInt32 = 0x100
  private static let zeroRun: UInt32 = 0xF0

  /// Transforms 8×8 samples, quantises them, and writes and counts their tokens. Returns the place after them.
  ///
  /// - Parameters:
  ///   - block: Room for 128 bytes.
  ///   - previous: The component's last DC coefficient.
  ///   - table: The component's DC table, in a token's place.
  ///   - texture: How textured the surroundings are, 0 to `wholeTexture`.
  static func encode(
    _ samples: UnsafePointer<Int16>, stride: Int, _ quantiser: UnsafeRawPointer, block: UnsafeMutableRawPointer,
    previous: inout Int, table: UInt32, texture: Int, _ order: ZigzagOrder, counts: UnsafeMutablePointer<UInt32>,
    into tokens: UnsafeMutablePointer<UInt32>
  ) -> UnsafeMutablePointer<UInt32> {
    ForwardTransform.columns(samples, stride: stride, quantiser + QuantiserTable.factors, into: block)
    scale(block, quantiser)
    let mean = Int32(block.load(as: Int16.self))
    let kept = quantise(block, quantiser, texture)
    if kept == 1 { roundMean(mean, block, quantiser) }
    return write(
      UnsafePointer(block.assumingMemoryBound(to: Int16.self)), positions(kept, order), previous: &previous,
      table: table, order, counts: counts, into: tokens)
  }

  /// Completes the transform of a block and divides the coefficients by their steps.
  @inline(never)
  private static func scale(_ block: UnsafeMutableRawPointer, _ quantiser: UnsafeRawPointer) {
    let coefficients = ForwardTransform.rows(block, quantiser + QuantiserTable.factors)
    @inline(__always)
    func store(_ values: Eight, _ offset: Int) {
      let sign = values &>> 15
      let magnitude = unsafeBitCast((values ^ sign) &- sign, to: SIMD8<UInt16>.self)
      let reciprocal = quantiser.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt16>.self)
      // One instruction on x86 (`pmulhuw`).
      let scaled = SIMD8<UInt16>(
        converting: (SIMD8<UInt32>(converting: magnitude)
          &* SIMD8<UInt32>(converting: reciprocal)) &>> 16)
      block.storeBytes(of: (unsafeBitCast(scaled, to: Eight.self) ^ sign) &- sign, toByteOffset: offset, as: Eight.self)
    }
    store(coefficients.0, 0)
    store(coefficients.1, 16)
    store(coefficients.2, 32)
    store(coefficients.3, 48)
    store(coefficients.4, 64)
    store(coefficients.5, 80)
    store(coefficients.6, 96)
    store(coefficients.7, 112)
  }

  /// Rounds scaled coefficients, or makes them 0. Returns a byte for each frequency down with a bit for each frequency
  /// across whose coefficient is kept.
  @inline(never)
  private static func quantise(
    _ block: UnsafeMutableRawPointer, _ quantiser: UnsafeRawPointer, _ texture: Int
  ) -> UInt64 {
    var energy = SIMD4<Int32>()
    @inline(__always)
    func add(_ scaled: Eight) {
      let sign = scaled &>> 15
      let magnitude = (scaled ^ sign) &- sign
      let most = Eight(repeating: QuantiserTable.mostEnergetic)
      let isLess = unsafeBitCast(magnitude .< most, to: Eight.self)
      let capped = (magnitude & isLess) | (most & ~isLess)
      energy &+= EncoderVectors.sumsOfPairs(capped, capped)
    }
    @inline(__always)
    func load(_ offset: Int) -> Eight { ForwardTransform.load(block, offset) }
    add(load(0) & Eight(0, -1, -1, -1, -1, -1, -1, -1))
    add(load(16))
    add(load(32))
    add(load(48))
    add(load(64))
    add(load(80))
    add(load(96))
    add(load(112))
    let index =
      Int(Float(energy.wrappedSum() &+ 1).bitPattern &>> QuantiserTable.energyShift) &- QuantiserTable.firstEnergy
    let most = quantiser.load(fromByteOffset: QuantiserTable.raises &+ 2 &* index, as: Int16.self)
    let raise = Eight(repeating: Int16(truncatingIfNeeded: (Int(most) &* texture) &>> 8))
    /// The bit is set where a coefficient is kept.
    @inline(__always)
    func round(_ offset: Int, _ bit: Int16) -> Eight {
      let scaled = load(offset)
      let sign = scaled &>> 15
      let magnitude = (scaled ^ sign) &- sign
      let threshold = ForwardTransform.load(quantiser, QuantiserTable.thresholds &+ offset) &+ raise
      let kept = unsafeBitCast(magnitude .> threshold, to: Eight.self)
      let rounded = ((magnitude &+ 16) &>> 5) & kept
      block.storeBytes(of: (rounded ^ sign) &- sign, toByteOffset: offset, as: Eight.self)
      return kept & Eight(repeating: bit)
    }
    let left = round(0, 1) | round(16, 2) | round(32, 4) | round(48, 8)
    let right = round(64, 16) | round(80, 32) | round(96, 64) | round(112, 128)
    return unsafeBitCast(SIMD8<UInt8>(converting: left | right), to: UInt64.self)
  }

  /// Quantises the scaled mean of a block without other coefficients once more. Decoders round it to a whole level, so
  /// the nearest level is chosen first; steps of at most one level, which is 8, lead to it.
  @inline(__always)
  private static func roundMean(_ mean: Int32, _ block: UnsafeMutableRawPointer, _ quantiser: UnsafeRawPointer) {
    let step = quantiser.load(fromByteOffset: QuantiserTable.meanStep, as: Int32.self)
    guard step <= 8 else { return }
    let level = (mean &* step &+ 128) &>> 8
    // The dividend is positive, so that the quotient is rounded down.
    let rounded = (8 &* level &+ step / 2 &+ 2048 &* step) / step &- 2048
    block.storeBytes(of: Int16(truncatingIfNeeded: rounded), as: Int16.self)
  }

  /// The set of positions of the kept AC coefficients.
  @inline(__always)
  private static func positions(_ kept: UInt64, _ order: ZigzagOrder) -> UInt64 {
    @inline(__always)
    func set(_ down: Int) -> UInt64 { order.positions[256 &* down &+ Int(kept &>> UInt64(8 &* down) & 255)] }
    let low = set(0) | set(1) | set(2) | set(3)
    return kept &>> 32 == 0 ? low : low | set(4) | set(5) | set(6) | set(7)
  }

  @inline(__always)
  private static func write(
    _ block: UnsafePointer<Int16>, _ kept: UInt64, previous: inout Int, table: UInt32, _ order: ZigzagOrder,
    counts: UnsafeMutablePointer<UInt32>, into tokens: UnsafeMutablePointer<UInt32>
  ) -> UnsafeMutablePointer<UInt32> {
    var next = tokens
    @inline(__always)
    func add(_ token: UInt32) {
      counts[Int(token & 0x3FF)] &+= 1
      next[0] = token
      next += 1
    }
    let mean = Int(block[0])
    add(order.values[mean &- previous] | table)
    previous = mean
    let table = table | acTable
    var (left, last) = (kept, 0)
    while left != 0 {
      let position = left.trailingZeroBitCount
      left &= left &- 1
      var run = position &- last &- 1
      last = position
      while run > 15 {
        add(table | zeroRun)
        run &-= 16
      }
      add(order.values[Int(block[Int(order.places[position])])] | table | UInt32(truncatingIfNeeded: run &<< 4))
    }
    // The end of the block.
    if last < 63 { add(table) }
    return next
  }
}
