package import ThumbnailCore

extension Raster {
  /// The same samples in another colour space, without a conversion.
  func of(_ space: Space) -> Raster { Raster(self, space: space) }

  /// Luma and chroma converted to RGB; itself if it has none.
  func rgb() throws(CodecError) -> Raster {
    guard space == .ycc else { return self }
    let (table, half) = (ChromaTable.shared, Int32(1) << 13)
    return try mapped(to: bands) { source, target in
      let luma = Int32(source[0]) &<< 14 &+ half
      let (blue, red) = (Int(source[1]), Int(source[2]))
      target[0] = ChromaTable.sample(luma &+ table.red[red])
      target[1] = ChromaTable.sample(luma &+ table.greenOfBlue[blue] &+ table.greenOfRed[red])
      target[2] = ChromaTable.sample(luma &+ table.blue[blue])
    }.of(.rgb)
  }

  /// The image without its alpha.
  func withoutAlpha() throws(CodecError) -> Raster {
    guard hasAlpha else { return self }
    let colours = bands - 1
    return try mapped(to: colours) { source, target in
      for band in 0..<colours { target[band] = source[band] }
    }
  }

  /// The image as RGB with alpha.
  func rgba() throws(CodecError) -> Raster {
    if space == .rgb, bands == 4 { return self }
    let shown = try rgb()
    let (bands, hasAlpha) = (shown.bands, shown.hasAlpha)
    let isGray = bands < 3
    return try shown.mapped(to: 4) { source, target in
      for band in 0..<3 { target[band] = source[isGray ? 0 : band] }
      target[3] = hasAlpha ? source[bands - 1] : 255
    }
  }

  /// The image, of frames of this size stacked vertically, with each changed by a processor.
  ///
  /// - Throws: `.processorFailed` for errors of the processor.
  func processed(by processor: ThumbnailProcessor, frame: PixelSize) throws(CodecError) -> Raster {
    let pixels = try rgba()
    let length = 4 * frame.pixelCount
    var frames: [ThumbnailPixels] = pixels.withBytes { bytes in
      stride(from: 0, to: bytes.count, by: length).map { start in
        let bytes = Array(bytes[start..<min(bytes.count, start + length)])
        return ThumbnailPixels(width: frame.width, height: frame.height, bytes: bytes)
      }
    }
    do {
      for index in frames.indices { try processor.process(&frames[index]) }
    } catch {
      throw .processorFailed(detail: "\(error)")
    }
    return try Raster(size: pixels.size, bands: 4, profile: pixels.profile) { target in
      for (index, frame) in frames.enumerated() {
        UnsafeMutableRawBufferPointer(rebasing: target[index * length..<(index + 1) * length])
          .copyBytes(from: frame.bytes)
      }
    }
  }

  /// The image on an opaque background; RGB unless gray suffices.
  package func flattened(onto colour: RGBColor) throws(CodecError) -> Raster {
    guard hasAlpha else { return self }
    let ground = [colour.red, colour.green, colour.blue].map { Int32($0) }
    let isGray = bands == 2
    let colours = isGray && Set(ground).count == 1 ? 1 : 3
    return try mapped(to: colours) { source, target in
      let alpha = Int32(source[isGray ? 1 : 3])
      for band in 0..<colours {
        let sum = Int32(source[isGray ? 0 : band]) &* alpha &+ ground[band] &* (255 &- alpha)
        target[band] = UInt8(truncatingIfNeeded: (sum &+ 127) / 255)
      }
    }
  }
}

/// The contributions of JFIF's chroma to the colours, with 14 fraction bits.
private struct ChromaTable {
  static let shared = ChromaTable()

  let red: [Int32]
  let greenOfRed: [Int32]
  let greenOfBlue: [Int32]
  let blue: [Int32]

  private init() {
    func column(_ factor: Double) -> [Int32] { (0..<256).map { Int32((Double($0 - 128) * factor * 16_384).rounded()) } }
    (red, greenOfRed, greenOfBlue, blue) = (column(1.402), column(-0.714136), column(-0.344136), column(1.772))
  }

  static func sample(_ value: Int32) -> UInt8 { UInt8(truncatingIfNeeded: max(0, min(255, value &>> 14))) }
}
