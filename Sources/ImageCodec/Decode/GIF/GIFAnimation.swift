import ThumbnailCore

/// Decodes the frames of a GIF one after the other, each composed onto the whole canvas.
///
/// As in browsers, pixels that no frame has covered or that a frame clears at its end are transparent. libvips makes
/// both black or coloured if no frame has a transparent colour.
struct GIFAnimation {
  private let bytes: GIFBytes
  private let size: PixelSize
  private let palette: [UInt32]
  /// The visible pixels: red in the lowest byte, then green, blue and alpha.
  private var canvas: [UInt32]
  /// The visible pixels after the last frame; nil if that frame stays.
  private var next: [UInt32]?

  init(_ body: ByteSource, size: PixelSize) throws(CodecError) {
    bytes = GIFBytes(body)
    palette = try GIFFrame.commonPalette(bytes)
    self.size = size
    canvas = Array(repeating: 0, count: size.pixelCount)
  }

  /// The picture with the next frame, four bands.
  ///
  /// - Throws: `.truncated` after the last frame; the errors of `GIFRowSource`.
  mutating func frame() throws(CodecError) -> Raster {
    let frame = try GIFFrame(bytes, canvas: size, palette: palette)
    if let next { canvas = next }
    next = frame.disposal == .previous ? canvas : nil
    let rows = try GIFRowSource(bytes, frame, hasAlpha: true)
    var place = 0
    while try rows.read({ band in
      let bytes = UnsafeRawBufferPointer(start: band.start, count: band.count * band.stride)
      let pixels = bytes.bindMemory(to: UInt32.self)
      for (index, pixel) in pixels.enumerated() where pixel != 0 { canvas[place + index] = pixel }
      place += pixels.count
    }) {}
    if frame.disposal == .background {
      var cleared = canvas
      for row in frame.top..<frame.top + frame.size.height {
        let start = row * size.width + frame.left
        for index in start..<start + frame.size.width { cleared[index] = 0 }
      }
      next = cleared
    }
    return try Raster(size: size, bands: 4) { target in
      canvas.withUnsafeBytes { target.copyMemory(from: $0) }
    }
  }
}
