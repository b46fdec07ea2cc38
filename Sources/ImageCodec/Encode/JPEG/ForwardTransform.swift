/// The forward transform of blocks of 8×8 samples in 16-bit integers, by the algorithm of Arai, Agui and Nakajima.
///
/// The factors of the frequencies, which the algorithm leaves out, are part of the quantisers. Samples of −256 to 255
/// cannot overflow: the sum of the magnitudes of any coefficient's weights, those of the chroma filter included, is at
/// most 113.03, and 113.03 · 256 < 2¹⁵. It is at most 95.7 for the values in between.
///
/// The form decides about the machine code: vectors that are loaded, not computed, and factors from memory keep the
/// compiler from taking lanes apart. Check the machine code and measure before changing it.
enum ForwardTransform {
  typealias Eight = SIMD8<Int16>
  typealias Block = (Eight, Eight, Eight, Eight, Eight, Eight, Eight, Eight)

  /// How many times larger than JPEG's the coefficients are, by the frequency in one direction.
  static let gains = [
    1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.541196100, 0.275899379,
  ].map { $0 * 8.0.squareRoot() }

  /// What is added to a value times itself, in 65536ths: −1 + 0.707106781, 0.382683433, −1 + 0.541196100,
  /// −1 + 1.306562965.
  static let factors: [Int16] = [-19195, 25080, -30068, 20091]

  /// The frequencies of columns: for each column of eight rows of samples, a row of its frequencies. `factors` has each
  /// of them eight times.
  @inline(never)
  static func columns(
    _ rows: UnsafePointer<Int16>, stride: Int, _ factors: UnsafeRawPointer, into block: UnsafeMutableRawPointer
  ) {
    @inline(__always)
    func row(_ y: Int) -> Eight { UnsafeRawPointer(rows + y &* stride).loadUnaligned(as: Eight.self) }
    let columns = eight((row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)), factors)
    store(transposed(columns), block)
  }

  /// The coefficients of a block of frequencies of columns: a vector for each frequency across.
  @inline(__always)
  static func rows(_ block: UnsafeRawPointer, _ factors: UnsafeRawPointer) -> Block {
    var coefficients = eight(
      (
        load(block, 0), load(block, 16), load(block, 32), load(block, 48), load(block, 64), load(block, 80),
        load(block, 96), load(block, 112)
      ), factors)
    // What rounding down takes from the frequencies of all columns adds up where there is no frequency across.
    coefficients.0 &+= Eight(0, 12, 4, -12, 0, 4, -4, -4)
    return coefficients
  }

  @inline(__always)
  static func load(_ block: UnsafeRawPointer, _ offset: Int) -> Eight {
    block.loadUnaligned(fromByteOffset: offset, as: Eight.self)
  }

  @inline(__always)
  private static func store(_ vectors: Block, _ block: UnsafeMutableRawPointer) {
    block.storeBytes(of: vectors.0, as: Eight.self)
    block.storeBytes(of: vectors.1, toByteOffset: 16, as: Eight.self)
    block.storeBytes(of: vectors.2, toByteOffset: 32, as: Eight.self)
    block.storeBytes(of: vectors.3, toByteOffset: 48, as: Eight.self)
    block.storeBytes(of: vectors.4, toByteOffset: 64, as: Eight.self)
    block.storeBytes(of: vectors.5, toByteOffset: 80, as: Eight.self)
    block.storeBytes(of: vectors.6, toByteOffset: 96, as: Eight.self)
    block.storeBytes(of: vectors.7, toByteOffset: 112, as: Eight.self)
  }

  /// Eight frequencies from eight samples, in each lane.
  @inline(__always)
  private static func eight(_ s: Block, _ factors: UnsafeRawPointer) -> Block {
    let (a0, a7, a1, a6) = (s.0 &+ s.7, s.0 &- s.7, s.1 &+ s.6, s.1 &- s.6)
    let (a2, a5, a3, a4) = (s.2 &+ s.5, s.2 &- s.5, s.3 &+ s.4, s.3 &- s.4)
    let (b0, b3, b1, b2) = (a0 &+ a3, a0 &- a3, a1 &+ a2, a1 &- a2)
    let sum = b2 &+ b3
    let z1 = sum &+ product(sum, factors, 0)
    let (c0, c1, c2) = (a4 &+ a5, a5 &+ a6, a6 &+ a7)
    let z5 = product(c0 &- c2, factors, 1)
    let z2 = c0 &+ product(c0, factors, 2) &+ z5
    let z4 = c2 &+ product(c2, factors, 3) &+ z5
    let z3 = c1 &+ product(c1, factors, 0)
    let (z11, z13) = (a7 &+ z3, a7 &- z3)
    return (b0 &+ b1, z11 &+ z4, b3 &+ z1, z13 &- z2, b0 &- b1, z13 &+ z2, b3 &- z1, z11 &- z4)
  }

  /// The upper halves of the products with a factor: one instruction on x86 (`pmulhw`).
  @inline(__always)
  static func product(_ value: Eight, _ factors: UnsafeRawPointer, _ index: Int) -> Eight {
    let factor = load(factors, 16 &* index)
    return Eight(
      converting: (SIMD8<Int32>(converting: value) &* SIMD8<Int32>(converting: factor)) &>> 16)
  }

  private typealias Words = SIMD4<UInt32>
  private typealias Doubles = SIMD2<UInt64>

  @inline(__always)
  private static func transposed(_ s: Block) -> Block {
    let (a0, a1) = words(s.0, s.1)
    let (a2, a3) = words(s.2, s.3)
    let (a4, a5) = words(s.4, s.5)
    let (a6, a7) = words(s.6, s.7)
    let (b0, b1) = doubles(a0, a2)
    let (b2, b3) = doubles(a1, a3)
    let (b4, b5) = doubles(a4, a6)
    let (b6, b7) = doubles(a5, a7)
    let ((c0, c1), (c2, c3)) = (halves(b0, b4), halves(b1, b5))
    let ((c4, c5), (c6, c7)) = (halves(b2, b6), halves(b3, b7))
    return (c0, c1, c2, c3, c4, c5, c6, c7)
  }

  /// Two rows' samples, alternating.
  @inline(__always)
  private static func words(_ a: Eight, _ b: Eight) -> (Words, Words) {
    var (low, high) = (Eight(), Eight())
    (low.evenHalf, low.oddHalf) = (a.lowHalf, b.lowHalf)
    (high.evenHalf, high.oddHalf) = (a.highHalf, b.highHalf)
    return (unsafeBitCast(low, to: Words.self), unsafeBitCast(high, to: Words.self))
  }

  @inline(__always)
  private static func doubles(_ a: Words, _ b: Words) -> (Doubles, Doubles) {
    (
      unsafeBitCast(Words(a[0], b[0], a[1], b[1]), to: Doubles.self),
      unsafeBitCast(Words(a[2], b[2], a[3], b[3]), to: Doubles.self)
    )
  }

  @inline(__always)
  private static func halves(_ a: Doubles, _ b: Doubles) -> (Eight, Eight) {
    (
      unsafeBitCast(Doubles(a[0], b[0]), to: Eight.self), unsafeBitCast(Doubles(a[1], b[1]), to: Eight.self)
    )
  }
}
