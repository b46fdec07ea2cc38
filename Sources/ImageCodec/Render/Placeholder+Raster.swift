import ThumbnailCore

extension Placeholder {
  /// The longer side of the samples that a placeholder is made of, and how many pixels each of them averages a side: more
  /// would not be seen in seven cosines.
  private static let sampledSide = 32
  private static let pixelsASample = 3

  /// The placeholder of a raster. Takes about 30 µs, whatever its size. Nil for CMYK, which is not shown.
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
        for x in 0..<width { samples.values.append(Self.sample(raster, pixels, x, y, width, height)) }
      }
    }
    let hash = ThumbHash(samples)
    func channel(_ value: Float) -> UInt8 { UInt8((255 * min(1, max(0, value))).rounded()) }
    self.init(
      thumbHash: hash.bytes,
      colour: RGBColor(red: channel(hash.mean.x), green: channel(hash.mean.y), blue: channel(hash.mean.z)))
  }

  /// The mean of a few pixels of one cell of the grid.
  private static func sample(
    _ raster: Raster, _ pixels: UnsafePointer<UInt8>, _ x: Int, _ y: Int, _ width: Int, _ height: Int
  ) -> SIMD4<Float> {
    let left = x * raster.size.width / width
    let right = max(left + 1, (x + 1) * raster.size.width / width)
    let top = y * raster.size.height / height
    let bottom = max(top + 1, (y + 1) * raster.size.height / height)
    var sum = SIMD4<Float>.zero
    var opacity: Float = 0
    var count: Float = 0
    for row in stride(from: top, to: bottom, by: max(1, (bottom - top) / pixelsASample)) {
      for column in stride(from: left, to: right, by: max(1, (right - left) / pixelsASample)) {
        let pixel = colour(of: raster, pixels + (row * raster.size.width + column) * raster.bands)
        sum += SIMD4(pixel.x * pixel.w, pixel.y * pixel.w, pixel.z * pixel.w, 0)
        opacity += pixel.w
        count += 1
      }
    }
    var mean = opacity > 0 ? sum / opacity : .zero
    mean.w = opacity / count
    return mean
  }

  /// Red, green, blue and alpha of a pixel, 0 to 1.
  private static func colour(of raster: Raster, _ pixel: UnsafePointer<UInt8>) -> SIMD4<Float> {
    let first = Float(pixel[0])
    switch raster.space {
    case .gray: return SIMD4(first, first, first, raster.bands == 2 ? Float(pixel[1]) : 255) / 255
    case .rgb, .cmyk:
      return SIMD4(first, Float(pixel[1]), Float(pixel[2]), raster.bands == 4 ? Float(pixel[3]) : 255) / 255
    case .ycc:
      // JFIF's conversion (ITU-R BT.601, full range).
      let (blue, red) = (Float(pixel[1]) - 128, Float(pixel[2]) - 128)
      let colour = SIMD4(first + 1.402 * red, first - 0.344136 * blue - 0.714136 * red, first + 1.772 * blue, 255)
      return colour.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255)) / 255
    }
  }
}
