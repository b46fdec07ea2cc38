/// Converts three rows of samples to a row of interleaved RGB.
///
/// Safety: the rows have `count` samples, `target` has room for `count` pixels. The loops are scalar so that the
/// compiler vectorises them; the conversions of `SIMD8` handle one lane at a time.
enum PixelRow {
  /// From luma and chroma, with libjpeg's 16-bit constants and rounding. `scratch` has room for `count` words.
  static func convert(
    luma: UnsafePointer<UInt8>, blue: UnsafePointer<UInt8>, red: UnsafePointer<UInt8>,
    into target: UnsafeMutablePointer<UInt8>, count: Int, scratch words: UnsafeMutablePointer<UInt32>
  ) {
    for x in 0..<count {
      let y = Int32(luma[x])
      let cb = Int32(Int16(blue[x]) &- 128)
      let cr = Int32(Int16(red[x]) &- 128)
      // The factors are reduced to fit signed 16 bits: 91881 = 65536 + 26345, 46802 = 65536 − 18734, 116130 = 131072 −
      // 14942.
      let r = y &+ cr &+ (26345 &* cr &+ 32768) &>> 16
      let g = y &- cr &+ (18734 &* cr &- 22554 &* cb &+ 32768) &>> 16
      let b = y &+ cb &+ cb &+ (-14942 &* cb &+ 32768) &>> 16
      words[x] = UInt32(bitPattern: clamped(r) | clamped(g) &<< 8 | clamped(b) &<< 16)
    }
    pack(words, into: UnsafeMutableRawPointer(target), count: count)
  }

  /// From rows of red, green and blue.
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
  private static func clamped(_ value: Int32) -> Int32 { max(0, min(255, value)) }

  /// Packs pixels of four bytes, red in the lowest, into three bytes each.
  private static func pack(_ words: UnsafePointer<UInt32>, into target: UnsafeMutableRawPointer, count: Int) {
    var x = 0
    while x &+ 4 <= count {
      let (a, b, c, d) = (UInt64(words[x]), UInt64(words[x &+ 1]), UInt64(words[x &+ 2]), words[x &+ 3])
      let pixels = target + 3 &* x
      pixels.storeBytes(of: (a | b &<< 24 | c &<< 48).littleEndian, as: UInt64.self)
      pixels.storeBytes(of: (words[x &+ 2] &>> 16 | d &<< 8).littleEndian, toByteOffset: 8, as: UInt32.self)
      x &+= 4
    }
    while x < count {
      for lane in 0..<3 {
        let sample = UInt8(truncatingIfNeeded: words[x] &>> UInt32(8 &* lane))
        target.storeBytes(of: sample, toByteOffset: 3 &* x &+ lane, as: UInt8.self)
      }
      x &+= 1
    }
  }
}
