import CVectors

// The vector arithmetic of the resampler, in forms that the compiler turns into few instructions on any x86-64. Before
// changing it, check the machine code and measure.

/// A sample of a row for the resampler.
protocol RowSample {
  /// The fraction bits beyond those of an 8-bit sample.
  static var fractionBits: Int32 { get }
  /// Two rows' 16 consecutive samples, alternating.
  static func load16(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer
  ) -> (SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>)
  /// One sample.
  static func load(_ sample: UnsafeRawPointer) -> Int32
}

extension UInt8: RowSample {
  static var fractionBits: Int32 { 0 }

  @inline(__always)
  static func load16(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer
  ) -> (SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>) {
    let (u, l) = (upper.loadUnaligned(as: SIMD16<UInt8>.self), lower.loadUnaligned(as: SIMD16<UInt8>.self))
    var (left, right) = (SIMD16<UInt8>(), SIMD16<UInt8>())
    (left.evenHalf, left.oddHalf) = (u.lowHalf, l.lowHalf)
    (right.evenHalf, right.oddHalf) = (u.highHalf, l.highHalf)
    return (
      SIMD8<Int16>(truncatingIfNeeded: left.lowHalf), SIMD8<Int16>(truncatingIfNeeded: left.highHalf),
      SIMD8<Int16>(truncatingIfNeeded: right.lowHalf), SIMD8<Int16>(truncatingIfNeeded: right.highHalf)
    )
  }

  @inline(__always)
  static func load(_ sample: UnsafeRawPointer) -> Int32 { Int32(sample.load(as: UInt8.self)) }
}

extension Int16: RowSample {
  static var fractionBits: Int32 { RowResampler.fractionBits }

  @inline(__always)
  static func load16(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer
  ) -> (SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>) {
    let (u, l) = (upper.loadUnaligned(as: SIMD8<Int16>.self), lower.loadUnaligned(as: SIMD8<Int16>.self))
    let (v, m) = (
      upper.loadUnaligned(fromByteOffset: 16, as: SIMD8<Int16>.self),
      lower.loadUnaligned(fromByteOffset: 16, as: SIMD8<Int16>.self)
    )
    return (
      SampleVectors.interleaved(u.lowHalf, l.lowHalf), SampleVectors.interleaved(u.highHalf, l.highHalf),
      SampleVectors.interleaved(v.lowHalf, m.lowHalf), SampleVectors.interleaved(v.highHalf, m.highHalf)
    )
  }

  @inline(__always)
  static func load(_ sample: UnsafeRawPointer) -> Int32 { Int32(sample.load(as: Int16.self)) }
}

enum SampleVectors {
  /// Whether this processor has AVX2, so that the loops of `CVectors` can run.
  static let hasAVX2: Bool = {
    #if arch(x86_64)
      return cvectors_has_avx2() != 0
    #else
      return false
    #endif
  }()

  /// Accumulators for 16 columns.
  struct Sums {
    private var a: SIMD4<Int32>
    private var b: SIMD4<Int32>
    private var c: SIMD4<Int32>
    private var d: SIMD4<Int32>

    @inline(__always)
    init(repeating value: Int32) {
      a = SIMD4(repeating: value)
      (b, c, d) = (a, a, a)
    }

    /// Adds 16 weighted samples of two rows. `weights` holds the upper and the lower row's weight, repeated four times.
    @inline(__always)
    mutating func add<Sample: RowSample>(
      _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ weights: SIMD8<Int16>, _: Sample.Type
    ) {
      let samples = Sample.load16(upper, lower)
      a &+= sumsOfPairs(samples.0, weights)
      b &+= sumsOfPairs(samples.1, weights)
      c &+= sumsOfPairs(samples.2, weights)
      d &+= sumsOfPairs(samples.3, weights)
    }

    /// Stores them, shifted right by `shift` bits.
    @inline(__always)
    func store(shiftedBy shift: Int32, to row: UnsafeMutablePointer<Int16>) {
      let left = SIMD8<Int32>(lowHalf: a &>> shift, highHalf: b &>> shift)
      let right = SIMD8<Int32>(lowHalf: c &>> shift, highHalf: d &>> shift)
      SampleVectors.store(SIMD8<Int16>(truncatingIfNeeded: left), to: row)
      SampleVectors.store(SIMD8<Int16>(truncatingIfNeeded: right), to: row + 8)
    }
  }

  @inline(__always)
  static func load(_ samples: UnsafePointer<Int16>) -> SIMD8<Int16> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD8<Int16>.self)
  }

  @inline(__always)
  static func store(_ samples: SIMD8<Int16>, to target: UnsafeMutablePointer<Int16>) {
    UnsafeMutableRawPointer(target).storeBytes(of: samples, as: SIMD8<Int16>.self)
  }

  @inline(__always)
  static func interleaved(_ even: SIMD4<Int16>, _ odd: SIMD4<Int16>) -> SIMD8<Int16> {
    var both = SIMD8<Int16>()
    both.evenHalf = even
    both.oddHalf = odd
    return both
  }

  /// Two weights, repeated four times.
  @inline(__always)
  static func pair(_ weights: UnsafePointer<Int16>) -> SIMD8<Int16> {
    let both = UnsafeRawPointer(weights).loadUnaligned(as: Int32.self)
    return unsafeBitCast(SIMD4<Int32>(repeating: both), to: SIMD8<Int16>.self)
  }

  /// The sums of four vectors' elements.
  @inline(__always)
  static func sums(
    _ a: SIMD4<Int32>, _ b: SIMD4<Int32>, _ c: SIMD4<Int32>, _ d: SIMD4<Int32>
  ) -> SIMD4<Int32> {
    let (ab, cd) = (SIMD8(lowHalf: a, highHalf: b), SIMD8(lowHalf: c, highHalf: d))
    let pairs = SIMD8(lowHalf: ab.evenHalf &+ ab.oddHalf, highHalf: cd.evenHalf &+ cd.oddHalf)
    return pairs.evenHalf &+ pairs.oddHalf
  }

  /// The products of two vectors, summed pairwise: this form compiles to one instruction on x86 (`pmaddwd`).
  @inline(__always)
  static func sumsOfPairs(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD4<Int32> {
    let products = SIMD8<Int32>(truncatingIfNeeded: a) &* SIMD8<Int32>(truncatingIfNeeded: b)
    return products.evenHalf &+ products.oddHalf
  }
}
