import ThumbnailCore

/// Measures the loss of halving the chroma of a thumbnail.
///
/// For the same number of bytes, halved chroma is better for most thumbnails, but saturated edges, such as red text on
/// blue, become illegible. If the loss is more than 4 levels, full chroma at coarser quantisers is better by 8 to 24
/// points of SSIMULACRA2 for the worst of 50 images, and by 0.3 to 1.2 on average.
enum ChromaLoss {
  /// The loss above which chroma is kept in full, in levels.
  static let most = 4.0

  /// The root of the mean square difference between chroma and its 2×2 means interpolated back, over every other row
  /// of blocks; in levels. 0 for gray, with alpha and below 4×8 pixels.
  static func levels(_ raster: Raster) -> Double {
    guard raster.bands == 3, raster.size.width >= 4, raster.size.height >= 8 else { return 0 }
    return raster.withSamples { samples in
      raster.space == .ycc
        ? levels(raster.size) { x, y in
          let pixel = samples + (y &* raster.size.width &+ x) &* 3
          return SIMD2(Int32(pixel[1]), Int32(pixel[2]))
        }
        : levels(raster.size) { x, y in
          let pixel = samples + (y &* raster.size.width &+ x) &* 3
          let (red, green, blue) = (Int32(pixel[0]), Int32(pixel[1]), Int32(pixel[2]))
          // JFIF's, times 1/65536.
          return SIMD2(
            (-11_056 &* red &- 21_712 &* green &+ 32_768 &* blue) &>> 16,
            (32_768 &* red &- 27_440 &* green &- 5_328 &* blue) &>> 16)
        }
    }
  }

  /// `chroma` gives both samples of a pixel of an image of this size.
  @inline(__always)
  private static func levels(_ size: PixelSize, _ chroma: (_ x: Int, _ y: Int) -> SIMD2<Int32>) -> Double {
    let blocks = size.width / 2
    var sum: Int64 = 0
    var count = 0
    // The sums of the four samples of each block, in three rows of blocks: the compared one, the one above and the one
    // below.
    withUnsafeTemporaryAllocation(of: SIMD2<Int32>.self, capacity: 3 * blocks) { sums in
      for row in stride(from: 1, to: size.height / 2 - 1, by: 2) {
        for line in 0..<3 {
          let y = 2 &* (row &+ line &- 1)
          for block in 0..<blocks {
            let x = 2 &* block
            sums[line &* blocks &+ block] =
              chroma(x, y) &+ chroma(x &+ 1, y) &+ chroma(x, y &+ 1) &+ chroma(x &+ 1, y &+ 1)
          }
        }
        for block in 1..<blocks &- 1 {
          let own = 9 &* sums[blocks &+ block]
          for below in 0..<2 {
            let line = 2 &* below &* blocks
            for right in 0..<2 {
              // In 64ths: a block's own mean counts 9/16, its neighbours' 3/16, 3/16 and 1/16.
              let side = block &+ 2 &* right &- 1
              let shown = own &+ 3 &* (sums[blocks &+ side] &+ sums[line &+ block]) &+ sums[line &+ side]
              let difference = chroma(2 &* block &+ right, 2 &* row &+ below) &* 64 &- shown
              // At most 255 · 64 each: the squares of both fit into 32 bits.
              sum &+= Int64((difference &* difference).wrappedSum())
            }
          }
        }
        count += 8 * (blocks - 2)
      }
    }
    return count == 0 ? 0 : (Double(sum) / Double(count)).squareRoot() / 64
  }
}
