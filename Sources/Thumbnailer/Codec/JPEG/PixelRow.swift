/// Makes a row of interleaved RGB of three rows of samples.
///
/// Safety: the rows have `count` samples, the target room for `count` pixels.
enum PixelRow {
  /// From luma and chroma, with libjpeg's constants of 16 bits and its rounding.
  static func convert(
    luma: UnsafePointer<UInt8>, blue: UnsafePointer<UInt8>, red: UnsafePointer<UInt8>,
    into target: UnsafeMutablePointer<UInt8>, count: Int
  ) {
    let target = UnsafeMutableRawPointer(target)
    var x = 0
    while x &+ 8 <= count {
      let words = pixels(load8(luma + x), load8(blue + x), load8(red + x))
      store4(words.lowHalf, at: target + 3 &* x)
      store4(words.highHalf, at: target + (3 &* x &+ 12))
      x &+= 8
    }
    if x == count { return }
    var (y, cb, cr) = (SIMD8<UInt8>(), SIMD8<UInt8>(), SIMD8<UInt8>())
    for lane in 0..<count &- x {
      (y[lane], cb[lane], cr[lane]) = (luma[x &+ lane], blue[x &+ lane], red[x &+ lane])
    }
    let words = pixels(y, cb, cr)
    for lane in 0..<count &- x {
      let pixel = target + 3 &* (x &+ lane)
      pixel.storeBytes(of: UInt8(truncatingIfNeeded: words[lane]), as: UInt8.self)
      pixel.storeBytes(of: UInt8(truncatingIfNeeded: words[lane] &>> 8), toByteOffset: 1, as: UInt8.self)
      pixel.storeBytes(of: UInt8(truncatingIfNeeded: words[lane] &>> 16), toByteOffset: 2, as: UInt8.self)
    }
  }

  /// From rows that are red, green and blue already.
  static func interleave(
    _ red: UnsafePointer<UInt8>, _ green: UnsafePointer<UInt8>, _ blue: UnsafePointer<UInt8>,
    into target: UnsafeMutablePointer<UInt8>, count: Int
  ) {
    for x in 0..<count {
      target[3 &* x] = red[x]
      target[3 &* x &+ 1] = green[x]
      target[3 &* x &+ 2] = blue[x]
    }
  }

  @inline(__always)
  private static func load8(_ samples: UnsafePointer<UInt8>) -> SIMD8<UInt8> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD8<UInt8>.self)
  }

  /// Eight pixels, red in the lowest byte.
  @inline(__always)
  private static func pixels(_ luma: SIMD8<UInt8>, _ blue: SIMD8<UInt8>, _ red: SIMD8<UInt8>) -> SIMD8<UInt32> {
    let y = SIMD8<Int16>(truncatingIfNeeded: luma)
    let cb = SIMD8<Int16>(truncatingIfNeeded: blue) &- 128
    let cr = SIMD8<Int16>(truncatingIfNeeded: red) &- 128
    // Each factor is a whole number and what fits into 16 bits and a sign: 91881 = 65536 + 26345, 116130 = 131072 −
    // 14942, 46802 = 65536 − 18734.
    let r = clamped(y &+ cr &+ rounded(wide(cr) &* 26345))
    let g = clamped(y &- cr &+ rounded(wide(cr) &* 18734 &- wide(cb) &* 22554))
    let b = clamped(y &+ cb &+ cb &- rounded(wide(cb) &* 14942, half: 32767))
    return SIMD8<UInt32>(truncatingIfNeeded: r | g &<< 8) | SIMD8<UInt32>(truncatingIfNeeded: b) &<< 16
  }

  @inline(__always)
  private static func wide(_ values: SIMD8<Int16>) -> SIMD8<Int32> { SIMD8<Int32>(truncatingIfNeeded: values) }

  /// Parts of 65536, rounded.
  @inline(__always)
  private static func rounded(_ values: SIMD8<Int32>, half: Int32 = 32768) -> SIMD8<Int16> {
    SIMD8<Int16>(truncatingIfNeeded: (values &+ half) &>> 16)
  }

  @inline(__always)
  private static func clamped(_ values: SIMD8<Int16>) -> SIMD8<UInt16> {
    SIMD8<UInt16>(truncatingIfNeeded: values.clamped(lowerBound: .zero, upperBound: SIMD8(repeating: 255)))
  }

  /// Stores four pixels in 12 bytes.
  @inline(__always)
  private static func store4(_ pixels: SIMD4<UInt32>, at target: UnsafeMutableRawPointer) {
    let (a, b, c, d) = (UInt64(pixels[0]), UInt64(pixels[1]), UInt64(pixels[2]), pixels[3])
    target.storeBytes(of: (a | b &<< 24 | c &<< 48).littleEndian, as: UInt64.self)
    target.storeBytes(of: (pixels[2] &>> 16 | d &<< 8).littleEndian, toByteOffset: 8, as: UInt32.self)
  }
}
