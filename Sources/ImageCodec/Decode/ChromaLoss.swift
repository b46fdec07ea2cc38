import ThumbnailCore

/// Measures the loss of halving the chroma of a thumbnail.
///
/// For the same number of bytes, halved chroma is better for most thumbnails, but saturated edges, such as red text on
/// blue, become illegible. If the loss is more than 4 levels, full chroma at coarser quantisers is better by 8 to 24
/// points of SSIMULACRA2 for the worst of 50 images, and by 0.3 to 1.2 on average.
struct ChromaLoss {
  /// The loss above which chroma is kept in full, in levels.
  static let most = 4.0

  private typealias Eight = SIMD8<Int16>
  private typealias Words = SIMD4<UInt32>

  /// The root of the mean square difference between chroma and its 2×2 means interpolated back, over every other row
  /// of blocks; in levels. 0 for gray, with alpha and below 4×8 pixels.
  static func levels(_ raster: Raster) -> Double {
    guard raster.bands == 3, raster.size.width >= 4, raster.size.height >= 8 else { return 0 }
    return raster.withSamples { samples in
      let padded = (raster.size.width + 7) & ~7
      // A vector more than the pairs of half a row, because the neighbours of the last blocks are read, too.
      let stride = 2 * padded + 16
      return withUnsafeTemporaryAllocation(byteCount: 4 * padded + 11 * stride, alignment: 16) { memory in
        guard let start = memory.baseAddress else { return 0 }
        return ChromaLoss(
          samples: samples, size: raster.size, isRGB: raster.space != .ycc, padded: padded, stride: stride,
          words: start, rows: start + 4 * padded
        ).levels()
      }
    }
  }

  let samples: UnsafePointer<UInt8>
  let size: PixelSize
  let isRGB: Bool
  /// The width in whole vectors.
  let padded: Int
  /// The bytes of a row of pairs: both chroma samples, 16 bits each, of a pixel or a block.
  let stride: Int
  let words: UnsafeMutableRawPointer
  let rows: UnsafeMutableRawPointer

  private func levels() -> Double {
    let blocks = size.width / 2
    var sum: UInt64 = 0
    var count = 0
    let (pixels, unused, own) = (rows, rows + 4 * stride, rows + 8 * stride)
    var (above, below) = (own + stride, own + 2 * stride)
    read(0, pixels: unused, sums: above)
    for row in Swift.stride(from: 1, to: size.height / 2 - 1, by: 2) {
      read(row, pixels: pixels, sums: own)
      read(row + 1, pixels: unused, sums: below)
      sum &+= compare(pixels, own: own, above: above, below: below, end: 4 * (blocks - 1))
      count += 8 * (blocks - 2)
      swap(&above, &below)
    }
    return count == 0 ? 0 : (Double(sum) / Double(count)).squareRoot() / 64
  }

  /// Reads a row of blocks: the even and the odd pixels of its upper and of its lower row, and the blocks' sums.
  private func read(_ row: Int, pixels: UnsafeMutableRawPointer, sums: UnsafeMutableRawPointer) {
    for line in 0..<2 {
      ColourRows.expand(
        samples + (2 * row + line) * size.width * 3, count: size.width, padded: padded,
        into: words.assumingMemoryBound(to: UInt32.self))
      let even = pixels + 2 * line * stride
      if isRGB { splitRGB(even, even + stride) } else { splitYCC(even, even + stride) }
    }
    var x = 0
    while x < 2 &* padded {
      let upper = ColourRows.load(pixels, x) &+ ColourRows.load(pixels, stride &+ x)
      let lower = ColourRows.load(pixels, 2 &* stride &+ x) &+ ColourRows.load(pixels, 3 &* stride &+ x)
      sums.storeBytes(of: upper &+ lower, toByteOffset: x, as: Eight.self)
      x &+= 16
    }
  }

  @inline(never)
  private func splitYCC(_ even: UnsafeMutableRawPointer, _ odd: UnsafeMutableRawPointer) {
    @inline(__always)
    func chroma(_ offset: Int) -> Eight {
      let pixels = words.loadUnaligned(fromByteOffset: offset, as: Words.self)
      return unsafeBitCast(((pixels &>> 8) & 0xFF) | (pixels & 0x00FF_0000), to: Eight.self)
    }
    var x = 0
    while x < 2 &* padded {
      ColourRows.split(chroma(2 &* x), chroma(2 &* x &+ 16), even + x, odd + x)
      x &+= 16
    }
  }

  @inline(never)
  private func splitRGB(_ even: UnsafeMutableRawPointer, _ odd: UnsafeMutableRawPointer) {
    @inline(__always)
    func chroma(_ offset: Int) -> Eight {
      let pixels = words.loadUnaligned(fromByteOffset: offset, as: Words.self)
      let redBlue = unsafeBitCast(pixels & 0x00FF_00FF, to: Eight.self)
      let green = unsafeBitCast((pixels &>> 8) & 0xFF, to: Eight.self)
      // JFIF's factors times 2¹⁵.
      let blue =
        EncoderVectors.sumsOfPairs(redBlue, Eight(-5528, 16_384, -5528, 16_384, -5528, 16_384, -5528, 16_384))
        &+ EncoderVectors.sumsOfPairs(green, Eight(repeating: -10_856))
      let red =
        EncoderVectors.sumsOfPairs(redBlue, Eight(16_384, -2664, 16_384, -2664, 16_384, -2664, 16_384, -2664))
        &+ EncoderVectors.sumsOfPairs(green, Eight(repeating: -13_720))
      return unsafeBitCast(((blue &>> 15) & 0xFFFF) | ((red &>> 15) &<< 16), to: Eight.self)
    }
    var x = 0
    while x < 2 &* padded {
      ColourRows.split(chroma(2 &* x), chroma(2 &* x &+ 16), even + x, odd + x)
      x &+= 16
    }
  }

  /// The sum of the squared differences, in 64ths of a level, from the second block of a row to that at `end` bytes.
  @inline(never)
  private func compare(
    _ pixels: UnsafeRawPointer, own: UnsafeRawPointer, above: UnsafeRawPointer, below: UnsafeRawPointer, end: Int
  ) -> UInt64 {
    var sums = SIMD2<UInt64>()
    var x = 4
    while x < end {
      let middle = ColourRows.load(own, x)
      /// The squared differences of a row's pixels on one side of their blocks.
      @inline(__always)
      func squares(_ row: UnsafeRawPointer, _ line: UnsafeRawPointer, _ side: Int) -> SIMD4<Int32> {
        // In 64ths: a block's own mean counts 9/16, its neighbours' 3/16, 3/16 and 1/16.
        let near = ColourRows.load(own, side) &+ ColourRows.load(line, x)
        let shown = (middle &<< 3) &+ middle &+ (near &<< 1) &+ near &+ ColourRows.load(line, side)
        let difference = (ColourRows.load(row, x) &<< 6) &- shown
        return EncoderVectors.sumsOfPairs(difference, difference)
      }
      // Differences are at most 255 · 64: the squares of eight fit into 31 bits.
      var four =
        squares(pixels, above, x &- 4) &+ squares(pixels + stride, above, x &+ 4)
        &+ squares(pixels + 2 &* stride, below, x &- 4) &+ squares(pixels + 3 &* stride, below, x &+ 4)
      if x &+ 16 > end {
        let left = Int32(truncatingIfNeeded: (end &- x) / 4)
        for lane in 0..<4 where lane >= left { four[lane] = 0 }
      }
      let pairs = unsafeBitCast(four, to: SIMD2<UInt64>.self)
      sums &+= (pairs & 0xFFFF_FFFF) &+ (pairs &>> 32)
      x &+= 16
    }
    return sums.wrappedSum()
  }
}
