import CVectors

/// Converts rows of pixels to luma and chroma, and halves chroma, for the JPEG encoder.
///
/// Luma has one fraction bit and is centred: −256 to 254. Chroma comes in pairs of 16 bits, as differences from grey.
/// That of RGB is red and blue less luma until it is halved; then it has one fraction bit, too. Where a fraction is cut
/// off, ordered dithering keeps the mean of a block exact. Check the machine code and measure before changing the loops.
enum ColourRows {
  typealias Eight = SIMD8<Int16>
  private typealias Words = SIMD4<UInt32>

  /// Writes the pixels of a row, three bytes each, as words, the first byte lowest, and repeats the last up to `padded`.
  /// The highest bytes are undefined.
  @inline(never)
  static func expand(
    _ pixels: UnsafePointer<UInt8>, count: Int, padded: Int, into words: UnsafeMutablePointer<UInt32>
  ) {
    var x = 0
    #if arch(x86_64)
      if SampleVectors.hasAVX2 { x = cvectors_expand(pixels, count, words) }
    #endif
    // Each word is read with the byte after it, so the last pixel is not among these.
    while x &+ 4 < count {
      let four = UnsafeRawPointer(pixels + 3 &* x)
      UnsafeMutableRawPointer(words + x).storeBytes(
        of: Words(
          four.loadUnaligned(as: UInt32.self), four.loadUnaligned(fromByteOffset: 3, as: UInt32.self),
          four.loadUnaligned(fromByteOffset: 6, as: UInt32.self), four.loadUnaligned(fromByteOffset: 9, as: UInt32.self)
        ), as: Words.self)
      x &+= 4
    }
    while x < count {
      let pixel = pixels + 3 &* x
      words[x] = UInt32(pixel[0]) | UInt32(pixel[1]) &<< 8 | UInt32(pixel[2]) &<< 16
      x &+= 1
    }
    while x < padded {
      words[x] = words[count &- 1]
      x &+= 1
    }
  }

  /// Converts `count` words of RGB, a multiple of 8: luma, and the chroma of even and of odd pixels with four fraction
  /// bits, red first.
  @inline(never)
  static func convertRGB(
    _ words: UnsafeRawPointer, count: Int, luma: UnsafeMutableRawPointer, even: UnsafeMutableRawPointer,
    odd: UnsafeMutableRawPointer
  ) {
    var x = 0
    while x < 2 &* count {
      let (left, leftChroma) = fromRGB(words.loadUnaligned(fromByteOffset: 2 &* x, as: Words.self))
      let (right, rightChroma) = fromRGB(words.loadUnaligned(fromByteOffset: 2 &* x &+ 16, as: Words.self))
      let levels = Eight(converting: SIMD8<Int32>(lowHalf: left, highHalf: right))
      luma.storeBytes(of: (levels &+ Eight(0, 4, 2, 6, 1, 5, 3, 7)) &>> 3, toByteOffset: x, as: Eight.self)
      split(leftChroma, rightChroma, even + x, odd + x)
      x &+= 16
    }
  }

  /// The centred luma of four pixels with four fraction bits, and their differences from it.
  @inline(__always)
  private static func fromRGB(_ pixels: Words) -> (SIMD4<Int32>, Eight) {
    let redBlue = unsafeBitCast(pixels & 0x00FF_00FF, to: Eight.self) &- 128
    let green = unsafeBitCast((pixels &>> 8) & 0x00FF_00FF, to: Eight.self) &- 128
    // JFIF's factors times 2¹⁴.
    let sum =
      EncoderVectors.sumsOfPairs(redBlue, Eight(4899, 1868, 4899, 1868, 4899, 1868, 4899, 1868))
      &+ EncoderVectors.sumsOfPairs(green, Eight(9617, 0, 9617, 0, 9617, 0, 9617, 0))
    let luma = (sum &+ 512) &>> 10
    let both = unsafeBitCast((luma & 0xFFFF) | (luma &<< 16), to: Eight.self)
    return (luma, (redBlue &<< 4) &- both)
  }

  /// Converts `count` words of luma and chroma, a multiple of 8: luma, and the chroma of even and of odd pixels with
  /// five fraction bits, blue first.
  @inline(never)
  static func convertYCC(
    _ words: UnsafeRawPointer, count: Int, luma: UnsafeMutableRawPointer, even: UnsafeMutableRawPointer,
    odd: UnsafeMutableRawPointer
  ) {
    var x = 0
    while x < 2 &* count {
      let left = words.loadUnaligned(fromByteOffset: 2 &* x, as: Words.self)
      let right = words.loadUnaligned(fromByteOffset: 2 &* x &+ 16, as: Words.self)
      let levels = Eight(
        converting: SIMD8<Int32>(
          lowHalf: SIMD4<Int32>(converting: left & 0xFF),
          highHalf: SIMD4<Int32>(converting: right & 0xFF)))
      luma.storeBytes(of: (levels &<< 1) &- 256, toByteOffset: x, as: Eight.self)
      split(centred(left), centred(right), even + x, odd + x)
      x &+= 16
    }
  }

  @inline(__always)
  private static func centred(_ pixels: Words) -> Eight {
    (unsafeBitCast(((pixels &>> 8) & 0xFF) | (pixels & 0x00FF_0000), to: Eight.self) &- 128) &<< 5
  }

  /// Stores the pairs of eight pixels, the even and the odd ones apart.
  @inline(__always)
  static func split(
    _ left: Eight, _ right: Eight, _ even: UnsafeMutableRawPointer, _ odd: UnsafeMutableRawPointer
  ) {
    let pairs = SIMD8<UInt32>(
      lowHalf: unsafeBitCast(left, to: Words.self), highHalf: unsafeBitCast(right, to: Words.self))
    even.storeBytes(of: pairs.evenHalf, as: Words.self)
    odd.storeBytes(of: pairs.oddHalf, as: Words.self)
  }

  /// Writes a row of gray samples, with the last repeated up to `padded`, as luma.
  static func convertGray(
    _ pixels: UnsafePointer<UInt8>, count: Int, padded: Int, luma: UnsafeMutablePointer<Int16>
  ) {
    for x in 0..<count { luma[x] = Int16(pixels[x]) &* 2 &- 256 }
    for x in count..<max(count, padded) { luma[x] = luma[count &- 1] }
  }

  // MARK: Halving

  /// Writes the scaling of halved chroma: factors, and what is added before, for the first and second samples of four
  /// pairs. RGB's chroma has four fraction bits, and 1.402 and 1.772 times the range of JFIF's; the other has five.
  static func writeScaling(of samples: BaselineEncoder.Samples, to scaling: UnsafeMutablePointer<Int16>) {
    let divisors = samples == .rgb ? [8 * 1.402, 8 * 1.772] : [16, 16]
    for (lane, fraction) in [0.125, 0.125, 0.625, 0.625, 0.375, 0.375, 0.875, 0.875].enumerated() {
      scaling[lane] = Int16((65536 / divisors[lane % 2]).rounded())
      scaling[8 + lane] = Int16((fraction * divisors[lane % 2]).rounded())
    }
  }

  /// Halves a row of pairs: `bytes` of even and of odd ones, each with a pair more at both ends.
  @inline(never)
  static func halveRow(
    even: UnsafeRawPointer, odd: UnsafeRawPointer, bytes: Int, into target: UnsafeMutableRawPointer
  ) {
    var x = 0
    while x < bytes {
      let pairs = halved(load(odd, x &- 4), load(even, x), load(odd, x), load(even, x &+ 4))
      target.storeBytes(of: pairs, toByteOffset: x, as: Eight.self)
      x &+= 16
    }
  }

  /// Halves four consecutive rows of `bytes` of pairs to one, scales it, and writes the first and the second samples of
  /// the pairs apart.
  @inline(never)
  static func halveRows(
    _ rows: UnsafeRawPointer, bytes: Int, _ scaling: UnsafeRawPointer, first: UnsafeMutableRawPointer,
    second: UnsafeMutableRawPointer
  ) {
    @inline(__always)
    func pairs(_ x: Int) -> SIMD4<Int32> {
      let sum = halved(
        load(rows, x), load(rows, bytes &+ x), load(rows, 2 &* bytes &+ x), load(rows, 3 &* bytes &+ x))
      return unsafeBitCast(ForwardTransform.product(sum &+ load(scaling, 16), scaling, 0), to: SIMD4<Int32>.self)
    }
    var x = 0
    while x < bytes {
      let eight = SIMD8<Int32>(lowHalf: pairs(x), highHalf: pairs(x &+ 16))
      first.storeBytes(
        of: Eight(converting: (eight &<< 16) &>> 16), toByteOffset: x / 2, as: Eight.self)
      second.storeBytes(of: Eight(converting: eight &>> 16), toByteOffset: x / 2, as: Eight.self)
      x &+= 32
    }
  }

  /// (−a + 9b + 9c − d) / 16: sharper than the mean of b and c, because decoders interpolate chroma linearly.
  @inline(__always)
  private static func halved(_ a: Eight, _ b: Eight, _ c: Eight, _ d: Eight) -> Eight {
    let sum = b &+ c
    return (sum &>> 1) &+ ((sum &- (a &+ d)) &>> 4)
  }

  @inline(__always)
  static func load(_ pairs: UnsafeRawPointer, _ offset: Int) -> Eight {
    pairs.loadUnaligned(fromByteOffset: offset, as: Eight.self)
  }
}
