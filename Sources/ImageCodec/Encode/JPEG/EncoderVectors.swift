/// Operations on the encoder's vectors that are always inlined.
///
/// With the standard library's conversions here, too, the optimiser would call one function for all of the module, also
/// in the resampler's inner loops, which then take twice the time. Measure both before changing it.
enum EncoderVectors {
  /// The products of two vectors, summed pairwise: this form compiles to one instruction on x86 (`pmaddwd`).
  @inline(__always)
  static func sumsOfPairs(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD4<Int32> {
    let products = SIMD8<Int32>(converting: a) &* SIMD8<Int32>(converting: b)
    return products.evenHalf &+ products.oddHalf
  }
}

extension SIMD8 where Scalar: FixedWidthInteger {
  /// The lowest bits of each element, or the element with its sign extended.
  @inline(__always)
  init<Other: FixedWidthInteger>(converting other: SIMD8<Other>) {
    self.init()
    for lane in 0..<8 { self[lane] = Scalar(truncatingIfNeeded: other[lane]) }
  }
}

extension SIMD4 where Scalar: FixedWidthInteger {
  /// The lowest bits of each element, or the element with its sign extended.
  @inline(__always)
  init<Other: FixedWidthInteger>(converting other: SIMD4<Other>) {
    self.init()
    for lane in 0..<4 { self[lane] = Scalar(truncatingIfNeeded: other[lane]) }
  }
}
