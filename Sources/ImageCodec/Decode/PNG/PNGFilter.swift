/// Undoes PNG's filters, in place.
///
/// A pixel is eight 16-bit lanes, one per byte; the values of unused lanes do not matter. Each pixel depends on the one
/// before it, so the length of that chain decides the speed. Before changing it, check the machine code and measure.
///
/// Safety: rows are `count` bytes, at least one pixel and a multiple of it; `margin` bytes behind them must be readable.
enum PNGFilter {
  /// The bytes behind a row that are read and not written.
  static let margin = 16

  /// Undoes the filter of a row. `prior` is the row above, or zeros. Returns false for an unknown filter.
  static func undo(
    _ filter: UInt8, _ row: UnsafeMutableRawPointer, prior: UnsafeRawPointer, count: Int, pixelBytes: Int
  ) -> Bool {
    switch filter {
    case 0: break
    case 2: undoUp(row, prior, count)
    case 1, 3, 4:
      // A constant in each case, so that the compiler makes one loop for each.
      switch pixelBytes {
      case 1: undo(filter, row, prior, count, WordPixel<UInt8>.self)
      case 2: undo(filter, row, prior, count, WordPixel<UInt16>.self)
      case 3: undo(filter, row, prior, count, ThreeBytes.self)
      case 4: undo(filter, row, prior, count, WordPixel<UInt32>.self)
      case 6: undo(filter, row, prior, count, SixBytes.self)
      default: undo(filter, row, prior, count, WordPixel<UInt64>.self)
      }
    default: return false
    }
    return true
  }

  @inline(__always)
  private static func undo<Pixel: PNGPixel>(
    _ filter: UInt8, _ row: UnsafeMutableRawPointer, _ prior: UnsafeRawPointer, _ count: Int, _ pixel: Pixel.Type
  ) {
    switch filter {
    case 1: undoSub(row, count, pixel)
    case 3: undoAverage(row, prior, count, pixel)
    default: undoPaeth(row, prior, count, pixel)
    }
  }

  private static func undoUp(_ row: UnsafeMutableRawPointer, _ prior: UnsafeRawPointer, _ count: Int) {
    var index = 0
    while index &+ 16 <= count {
      let sum =
        (row + index).loadUnaligned(as: SIMD16<UInt8>.self) &+ (prior + index).loadUnaligned(as: SIMD16<UInt8>.self)
      (row + index).storeBytes(of: sum, as: SIMD16<UInt8>.self)
      index &+= 16
    }
    while index < count {
      let sum = (row + index).load(as: UInt8.self) &+ (prior + index).load(as: UInt8.self)
      (row + index).storeBytes(of: sum, as: UInt8.self)
      index &+= 1
    }
  }

  // The next pixel is loaded before this one is stored, so a store may be wider than a pixel; the last store is exact.

  private static func undoSub<Pixel: PNGPixel>(_ row: UnsafeMutableRawPointer, _ count: Int, _: Pixel.Type) {
    var (left, raw) = (SIMD8<Int16>(), Pixel.load(row))
    var index = 0
    while index < count &- Pixel.bytes {
      let nextRaw = Pixel.load(row + index + Pixel.bytes)
      left = sumOfBytes(left, raw)
      Pixel.storeWide(left, row + index)
      raw = nextRaw
      index &+= Pixel.bytes
    }
    Pixel.store(sumOfBytes(left, raw), row + index)
  }

  private static func undoAverage<Pixel: PNGPixel>(
    _ row: UnsafeMutableRawPointer, _ prior: UnsafeRawPointer, _ count: Int, _: Pixel.Type
  ) {
    var (left, raw) = (SIMD8<Int16>(), Pixel.load(row))
    var index = 0
    while index < count &- Pixel.bytes {
      let nextRaw = Pixel.load(row + index + Pixel.bytes)
      left = sumOfBytes((left &+ Pixel.load(prior + index)) &>> 1, raw)
      Pixel.storeWide(left, row + index)
      raw = nextRaw
      index &+= Pixel.bytes
    }
    Pixel.store(sumOfBytes((left &+ Pixel.load(prior + index)) &>> 1, raw), row + index)
  }

  private static func undoPaeth<Pixel: PNGPixel>(
    _ row: UnsafeMutableRawPointer, _ prior: UnsafeRawPointer, _ count: Int, _: Pixel.Type
  ) {
    var (left, corner) = (SIMD8<Int16>(), SIMD8<Int16>())
    var (raw, above) = (Pixel.load(row), Pixel.load(prior))
    // 3 × corner − above, a pixel ahead of its use.
    var bias = SIMD8<Int16>() &- above
    var index = 0
    while index < count &- Pixel.bytes {
      let next = index &+ Pixel.bytes
      let (nextRaw, nextAbove) = (Pixel.load(row + next), Pixel.load(prior + next))
      left = sumOfBytes(predicted(left: left, above: above, corner: corner, bias: bias), raw)
      Pixel.storeWide(left, row + index)
      bias = above &+ above &+ above &- nextAbove
      (corner, above, raw, index) = (above, nextAbove, nextRaw, next)
    }
    Pixel.store(sumOfBytes(predicted(left: left, above: above, corner: corner, bias: bias), raw), row + index)
  }

  /// Paeth's prediction: of the three neighbours the one that is nearest to left + above − corner.
  ///
  /// In the form of stb_image: the lesser or the greater of left and above wins beyond a threshold, else the corner. It
  /// takes six instructions from one pixel to the next, the standard's form ten.
  @inline(__always)
  private static func predicted(
    left: SIMD8<Int16>, above: SIMD8<Int16>, corner: SIMD8<Int16>, bias: SIMD8<Int16>
  ) -> SIMD8<Int16> {
    let threshold = bias &- left
    let isLess = left .< above
    let (lesser, greater) = (above.replacing(with: left, where: isLess), left.replacing(with: above, where: isLess))
    // Both conditions hold only if all three neighbours are equal, so the three parts can be joined.
    let (takesLesser, takesGreater) = (mask(greater .<= threshold), mask(threshold .<= lesser))
    return (lesser & takesLesser) | (greater & takesGreater) | (corner & ~(takesLesser | takesGreater))
  }

  /// All bits set where `condition` holds.
  @inline(__always)
  private static func mask(_ condition: SIMDMask<SIMD8<Int16>>) -> SIMD8<Int16> {
    SIMD8<Int16>().replacing(with: SIMD8(repeating: -1), where: condition)
  }

  /// Adds lanes of one byte each, modulo 256.
  @inline(__always)
  private static func sumOfBytes(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD8<Int16> {
    // As bytes the upper halves stay 0, which saves a mask.
    let sum = unsafeBitCast(a, to: SIMD16<UInt8>.self) &+ unsafeBitCast(b, to: SIMD16<UInt8>.self)
    return unsafeBitCast(sum, to: SIMD8<Int16>.self)
  }
}
