import ThumbnailCore

/// A small bitmap of opaque 8-bit RGB to draw on. Drawing is clipped to its edges.
struct PixelCanvas {
  let width: Int
  let height: Int
  /// Rows from the top down, three samples per pixel.
  private(set) var samples: [UInt8]

  /// A canvas of one colour.
  init(width: Int, height: Int, colour: RGBColor) {
    (self.width, self.height) = (width, height)
    samples = [UInt8](repeating: 0, count: width * height * 3)
    fill(x: 0, y: 0, size: PixelSize(width, height), colour: colour)
  }

  /// Fills a rectangle with a colour.
  mutating func fill(x: Int, y: Int, size: PixelSize, colour: RGBColor) {
    let columns = max(0, x)..<max(max(0, x), min(x + size.width, width))
    let line = (0..<columns.count).flatMap { _ in [colour.red, colour.green, colour.blue] }
    for row in max(0, y)..<max(max(0, y), min(y + size.height, height)) {
      let start = (row * width + columns.lowerBound) * 3
      samples.replaceSubrange(start..<start + line.count, with: line)
    }
  }

  /// Draws a raster of one or three bands.
  mutating func draw(_ raster: Raster, x: Int, y: Int) {
    let bands = raster.bands
    guard bands == 1 || bands == 3 else { return }
    read(raster) { pixels in
      each(x, y, raster.size) { canvas, place, index in
        for band in 0..<3 { canvas.samples[place + band] = pixels[index * bands + (bands == 3 ? band : 0)] }
      }
    }
  }

  /// Paints a colour through a mask, at most `widest` pixels wide.
  mutating func stain(through mask: Raster, x: Int, y: Int, widest: Int, colour: RGBColor) {
    read(mask) { pixels in
      let channels = [Int(colour.red), Int(colour.green), Int(colour.blue)]
      each(x, y, mask.size, widest: widest) { canvas, place, index in
        let ink = Int(pixels[index])
        for band in 0..<3 {
          let old = Int(canvas.samples[place + band])
          canvas.samples[place + band] = UInt8((old * (255 - ink) + channels[band] * ink) / 255)
        }
      }
    }
  }

  /// Passes a raster's samples to `body`; reading them cannot fail.
  private func read(_ raster: Raster, _ body: (UnsafeRawBufferPointer) -> Void) {
    try? raster.withBytes { bytes in body(bytes) }
  }

  /// Iterates over the pixels of a rectangle that are on the canvas: the index of the first sample, and the pixel's
  /// index in the rectangle.
  private mutating func each(
    _ x: Int, _ y: Int, _ size: PixelSize, widest: Int = .max,
    _ body: (inout PixelCanvas, _ place: Int, _ index: Int) -> Void
  ) {
    let columns = max(0, -x)..<max(max(0, -x), min(size.width, width - x, widest))
    let rows = max(0, -y)..<max(max(0, -y), min(size.height, height - y))
    for row in rows {
      for column in columns {
        body(&self, ((y + row) * width + x + column) * 3, row * size.width + column)
      }
    }
  }
}
