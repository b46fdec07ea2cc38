// The vector arithmetic of the resampler, in forms that the compiler turns into few instructions on any x86-64. Before
// changing it, check the machine code and measure.
extension Resampler {
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
    mutating func add(_ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ weights: SIMD8<Int16>) {
      let (upper, lower) = (upper.loadUnaligned(as: SIMD16<UInt8>.self), lower.loadUnaligned(as: SIMD16<UInt8>.self))
      let (u, l) = (SIMD8<Int16>(truncatingIfNeeded: upper.lowHalf), SIMD8<Int16>(truncatingIfNeeded: lower.lowHalf))
      a &+= sumsOfPairs(interleaved(u.lowHalf, l.lowHalf), weights)
      b &+= sumsOfPairs(interleaved(u.highHalf, l.highHalf), weights)
      let (v, m) = (SIMD8<Int16>(truncatingIfNeeded: upper.highHalf), SIMD8<Int16>(truncatingIfNeeded: lower.highHalf))
      c &+= sumsOfPairs(interleaved(v.lowHalf, m.lowHalf), weights)
      d &+= sumsOfPairs(interleaved(v.highHalf, m.highHalf), weights)
    }

    /// Stores them, shifted right by `shift` bits.
    @inline(__always)
    func store(shiftedBy shift: Int32, to row: UnsafeMutablePointer<Int16>) {
      let left = SIMD8<Int32>(lowHalf: a &>> shift, highHalf: b &>> shift)
      let right = SIMD8<Int32>(lowHalf: c &>> shift, highHalf: d &>> shift)
      Resampler.store(SIMD8<Int16>(truncatingIfNeeded: left), to: row)
      Resampler.store(SIMD8<Int16>(truncatingIfNeeded: right), to: row + 8)
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

  /// The products of two vectors, summed pairwise: this form compiles to one instruction on x86 (`pmaddwd`).
  @inline(__always)
  static func sumsOfPairs(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD4<Int32> {
    let products = SIMD8<Int32>(truncatingIfNeeded: a) &* SIMD8<Int32>(truncatingIfNeeded: b)
    return products.evenHalf &+ products.oddHalf
  }
}
