import ThumbnailCore

extension Placeholder {
  /// The longer side of a placeholder's samples, and the most pixels per side that each of them averages: more would
  /// not be visible in seven cosines.
  private static let sampledSide = 32
  private static let pixelsASample = 3

  /// The placeholder of a raster. Takes at most 50 µs, whatever its size. Nil for CMYK, which is not shown.
  init?(_ raster: Raster) {
    guard raster.space != .cmyk, raster.size.pixelCount > 0 else { return nil }
    let longer = raster.size.longerSide
    let side = min(longer, Self.sampledSide)
    let width = max(1, (raster.size.width * side + longer / 2) / longer)
    let height = max(1, (raster.size.height * side + longer / 2) / longer)
    var samples = ThumbHash.Samples(width: width, height: height, values: [])
    samples.values.reserveCapacity(width * height)
    raster.withSamples { pixels in
      for y in 0..<height {
        let rows = Choice(y, of: height, in: raster.size.height)
        for x in 0..<width {
          let columns = Choice(x, of: width, in: raster.size.width)
          samples.values.append(Self.mean(raster, pixels, columns, rows))
        }
      }
    }
    let hash = ThumbHash(samples)
    func channel(_ value: Float) -> UInt8 { UInt8((255 * min(1, max(0, value))).rounded()) }
    self.init(
      thumbHash: hash.bytes,
      colour: RGBColor(red: channel(hash.mean.x), green: channel(hash.mean.y), blue: channel(hash.mean.z)))
  }

  /// The rows or columns of the image that are averaged for one row or column of the grid.
  private struct Choice {
    var next: Int
    let end: Int
    let step: Int

    init(_ index: Int, of count: Int, in length: Int) {
      next = index * length / count
      end = max(next + 1, (index + 1) * length / count)
      step = max(1, (end - next) / pixelsASample)
    }
  }

  /// The mean of a few pixels, weighted by their alpha, summed in integers.
  private static func mean(
    _ raster: Raster, _ pixels: UnsafePointer<UInt8>, _ columns: Choice, _ rows: Choice
  ) -> SIMD4<Float> {
    let (bands, isOpaque) = (raster.bands, !raster.hasAlpha)
    let (second, third) = bands < 3 ? (0, 0) : (1, 2)
    let stride = raster.size.width &* bands
    var (sums, weight, count) = ((0, 0, 0), 0, 0)
    var rows = rows
    while rows.next < rows.end {
      var columns = columns
      while columns.next < columns.end {
        let pixel = pixels + (rows.next &* stride &+ columns.next &* bands)
        let alpha = isOpaque ? 1 : Int(pixel[bands &- 1])
        sums.0 &+= Int(pixel[0]) &* alpha
        sums.1 &+= Int(pixel[second]) &* alpha
        sums.2 &+= Int(pixel[third]) &* alpha
        weight &+= alpha
        count &+= 1
        columns.next &+= columns.step
      }
      rows.next &+= rows.step
    }
    guard weight > 0 else { return .zero }
    var mean = SIMD4(Float(sums.0), Float(sums.1), Float(sums.2), 0) / Float(255 * weight)
    mean.w = isOpaque ? 1 : Float(weight) / Float(255 * count)
    return raster.space == .ycc ? Self.colour(ofLuma: mean) : mean
  }

  /// JFIF's conversion (ITU-R BT.601, full range), of luma and chroma from 0 to 1.
  private static func colour(ofLuma samples: SIMD4<Float>) -> SIMD4<Float> {
    let (blue, red) = (samples.y - 128 / 255, samples.z - 128 / 255)
    let colour = SIMD4(
      samples.x + 1.402 * red, samples.x - 0.344136 * blue - 0.714136 * red, samples.x + 1.772 * blue, 1)
    return colour.clamped(lowerBound: .zero, upperBound: .one)
  }
}
