import ThumbnailCore

extension Raster {
  /// The image on the canvas of a thumbnail; this raster if the canvas is not larger.
  ///
  /// - Throws: `.outOfMemory`.
  func framed(_ geometry: ThumbnailGeometry, _ filling: Framing.Filling) throws(CodecError) -> Raster {
    guard geometry.output != size else { return self }
    let image = try filling == .clear && !hasAlpha ? withAlpha() : filling.isColour ? coloured() : self
    let (columns, rows) = (
      filling.sources(size.width, from: geometry.frameRectangle.x, count: geometry.output.width),
      filling.sources(size.height, from: geometry.frameRectangle.y, count: geometry.output.height)
    )
    let (bands, stride) = (image.bands, size.width * image.bands)
    let ground = filling.pixel(bands: bands)
    return try Raster(size: geometry.output, bands: bands, profile: profile) { output throws(CodecError) in
      image.withBytes { input in
        var target = 0
        for row in rows {
          for column in columns {
            for band in 0..<bands {
              output[target] =
                if let row, let column { input[row * stride + column * bands + band] } else { ground[band] }
              target += 1
            }
          }
        }
      }
    }
  }

  /// It in three colours, with its alpha.
  private func coloured() throws(CodecError) -> Raster {
    guard space == .gray else { return self }
    return try mapped(to: bands + 2) { [bands] source, target in
      for band in 0..<3 { target[band] = source[0] }
      if bands == 2 { target[3] = source[1] }
    }
  }

  /// It with an opaque alpha channel.
  private func withAlpha() throws(CodecError) -> Raster {
    try mapped(to: bands + 1) { [bands] source, target in
      for band in 0..<bands { target[band] = source[band] }
      target[bands] = 255
    }
  }
}

extension Framing.Filling {
  fileprivate var isColour: Bool { if case .colour = self { true } else { false } }

  /// The samples of a pixel outside the image.
  fileprivate func pixel(bands: Int) -> [UInt8] {
    guard case .colour(let colour) = self else { return Array(repeating: 0, count: bands) }
    return [colour.red, colour.green, colour.blue, 255]
  }

  /// For each of `count` places along an axis, the index of the visible pixel of the image, which has `length` pixels
  /// from `start` on. Nil: none.
  fileprivate func sources(_ length: Int, from start: Int, count: Int) -> [Int?] {
    (0..<count).map { place in
      let index = place - start
      if (0..<length).contains(index) { return index }
      switch self {
      case .clear, .black, .colour: return nil
      case .edge: return index < 0 ? 0 : length - 1
      case .mirror:
        let phase = (index % (2 * length) + 2 * length) % (2 * length)
        return min(phase, 2 * length - 1 - phase)
      }
    }
  }
}
