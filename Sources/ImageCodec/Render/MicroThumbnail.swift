import FoundationEssentials
import ThumbnailCore

/// Micro thumbnails, made of the raster that a thumbnail is encoded from.
enum MicroThumbnail {
  /// JPEG's quality: about 460 bytes in 12 µs. WebP would take 300 bytes, but 130 µs.
  private static let quality = 60
  /// The most rows of a box that are read, so that the time grows with a raster's width alone.
  private static let mostRows = 8

  /// The upright first frame as a JPEG of at most 32 pixels a side; transparent pixels show the background. Nil for
  /// CMYK, which is not shown, and if it cannot be encoded.
  ///
  /// - Parameter frame: The size of a frame in pixels. The raster has one or more, stacked vertically.
  static func data(of raster: Raster, frame: PixelSize, ground: RGBColor) -> Data? {
    guard raster.space != .cmyk, frame.pixelCount > 0, frame.width == raster.size.width,
      frame.height <= raster.size.height
    else { return nil }
    let longer = frame.longerSide
    let side = min(longer, Thumbnail.microSide)
    let size = PixelSize(
      max(1, (frame.width * side + longer / 2) / longer), max(1, (frame.height * side + longer / 2) / longer))
    let colours = raster.hasAlpha ? raster.bands - 1 : raster.bands
    let small = try? Raster(size: size, bands: colours, space: raster.space) { target in
      reduce(raster, frame, to: size, onto: ground, target)
    }
    return small.flatMap { try? JPEGEncoder(quality: quality).encode($0) }
  }

  /// Averages boxes of pixels. The sums of a column, of a few rows weighted by alpha, fit in 32 bits.
  private static func reduce(
    _ raster: Raster, _ frame: PixelSize, to size: PixelSize, onto ground: RGBColor,
    _ target: UnsafeMutableRawBufferPointer
  ) {
    let (bands, stride) = (raster.bands, raster.bands * frame.width)
    let colours = raster.hasAlpha ? bands - 1 : bands
    let shade = (Int(ground.red) + Int(ground.green) + Int(ground.blue)) / 3
    let grounds = colours == 1 ? [shade] : [Int(ground.red), Int(ground.green), Int(ground.blue)]
    raster.withSamples { pixels in
      withUnsafeTemporaryAllocation(of: UInt32.self, capacity: stride) { sums in
        for y in 0..<size.height {
          let rows = box(y, of: size.height, in: frame.height)
          let step = (rows.count + mostRows - 1) / mostRows
          sums.update(repeating: 0)
          var count = 0
          for row in Swift.stride(from: rows.lowerBound, to: rows.upperBound, by: step) {
            add(pixels + row * stride, to: sums, bands: bands, hasAlpha: raster.hasAlpha)
            count += 1
          }
          for x in 0..<size.width {
            let columns = box(x, of: size.width, in: frame.width)
            let pixelCount = count * columns.count
            let place = (y * size.width + x) * colours
            for band in 0..<colours {
              let sum = total(sums, band, columns, bands)
              guard raster.hasAlpha else {
                target[place + band] = UInt8((sum + pixelCount / 2) / pixelCount)
                continue
              }
              let (opacity, all) = (total(sums, colours, columns, bands), 255 * pixelCount)
              target[place + band] = UInt8((sum + grounds[band] * (all - opacity) + all / 2) / all)
            }
          }
        }
      }
    }
  }

  /// The pixels of a large side that one pixel of a small side averages.
  private static func box(_ index: Int, of count: Int, in length: Int) -> Range<Int> {
    index * length / count..<(index + 1) * length / count
  }

  /// Adds a row to the sums of its columns; colours are weighted by alpha, if there is any.
  private static func add(
    _ row: UnsafePointer<UInt8>, to sums: UnsafeMutableBufferPointer<UInt32>, bands: Int, hasAlpha: Bool
  ) {
    guard hasAlpha else {
      for index in sums.indices { sums[index] &+= UInt32(row[index]) }
      return
    }
    var pixel = 0
    while pixel < sums.count {
      let last = pixel &+ bands &- 1
      let alpha = UInt32(row[last])
      sums[pixel] &+= UInt32(row[pixel]) &* alpha
      if bands == 4 {
        sums[pixel &+ 1] &+= UInt32(row[pixel &+ 1]) &* alpha
        sums[pixel &+ 2] &+= UInt32(row[pixel &+ 2]) &* alpha
      }
      sums[last] &+= alpha
      pixel &+= bands
    }
  }

  private static func total(
    _ sums: UnsafeMutableBufferPointer<UInt32>, _ band: Int, _ columns: Range<Int>, _ bands: Int
  ) -> Int {
    var total = 0
    for column in columns { total &+= Int(sums[column * bands + band]) }
    return total
  }
}
