@testable import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// A small picture's samples, however they came.
struct Samples: Equatable {
  var size: PixelSize
  var bands: Int
  var bytes: [UInt8]

  init(size: PixelSize, bands: Int, bytes: [UInt8]) { (self.size, self.bands, self.bytes) = (size, bands, bytes) }

  init(_ raster: Raster) throws { self.init(size: raster.size, bands: raster.bands, bytes: raster.bytes) }

  /// What libvips reads, shrunk by libjpeg; it drops a last column and row that are not whole.
  init(_ file: [UInt8], shrink: Int) throws {
    try Codec.start()
    let reader = BodyReader(.memory(file), cancellation: CancellationFlag())
    try self.init(Raster(computing: try reader.load(.jpeg, VIPS_FAIL_ON_ERROR, option: .shrink(shrink))))
  }

  /// The upper left corner.
  func cropped(to size: PixelSize) -> Samples {
    let rows = (0..<size.height).flatMap { y in
      let start = y * self.size.width * bands
      return bytes[start..<start + size.width * bands]
    }
    return Samples(size: size, bands: bands, bytes: rows)
  }

  /// The largest and the mean difference of any sample.
  func difference(from other: Samples) -> (most: Int, mean: Double) {
    guard size == other.size, bands == other.bands else { return (255, 255) }
    return CodecTestSupport.difference(of: bytes, from: other.bytes)
  }
}

extension TestJPEG {
  /// A component's samples: a `side` squared of each block, of as many coefficients of lowest frequency.
  func expectedPlane(_ component: Int, side: Int) -> Samples {
    let blocks = blocks(component)
    let table = components[component].table
    var bytes = [UInt8](repeating: 0, count: blocks.pixelCount * side * side)
    // 2×2 samples are made with weights of their own.
    let weights = side == 2 ? [1, 0.95] : [Double](repeating: 1, count: side)
    for y in 0..<blocks.height {
      for x in 0..<blocks.width {
        var offsets = [Double](repeating: 0, count: side * side)
        for (position, natural) in Self.zigzag.enumerated() where natural % 8 < side && natural / 8 < side {
          let (u, v) = (natural % 8, natural / 8)
          let value = Double(coefficient(component, x, y, position) * quantiser(table, position))
          if value == 0 { continue }
          for index in offsets.indices {
            offsets[index] +=
              value / 8 * weights[u] * weights[v] * Self.wave(u, index % side, side) * Self.wave(v, index / side, side)
          }
        }
        for (index, offset) in offsets.enumerated() {
          let rounded = side == 1 ? (offset + 0.5).rounded(.down) : offset.rounded()
          bytes[((y * side + index / side) * blocks.width + x) * side + index % side] = UInt8(
            max(0, min(255, rounded + 128)))
        }
      }
    }
    return Samples(size: PixelSize(blocks.width * side, blocks.height * side), bands: 1, bytes: bytes)
  }

  private static func wave(_ frequency: Int, _ sample: Int, _ side: Int) -> Double {
    guard frequency > 0 else { return 1 }
    if side == 2 { return sample == 0 ? 1 : -1 }
    return 2.0.squareRoot() * cos(Double((2 * sample + 1) * frequency) * .pi / Double(2 * side))
  }

  /// For each zigzag position the index of its coefficient in rows of eight.
  private static let zigzag: [Int] = (0..<15).flatMap { (sum: Int) -> [Int] in
    let down = (max(0, sum - 7)...min(7, sum)).map { $0 * 8 + sum - $0 }
    return sum % 2 == 1 ? down : down.reversed()
  }

  /// The picture at 1/8, as it is without conversion of colours, if no component is subsampled: a DC coefficient each.
  func expectedEighth() -> Samples {
    let small = JPEGScale.eighth.size(of: size)
    let planes = components.indices.map { expectedPlane($0, side: 1).cropped(to: small).bytes }
    let bytes = (0..<small.pixelCount).flatMap { index in planes.map { $0[index] } }
    return Samples(size: small, bands: components.count, bytes: bytes)
  }

  /// Marks three components as red, green and blue, so that they come as they are.
  static let adobeRGB = segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])

  /// What the coefficient decoder makes of a file.
  struct Reading {
    let raster: Raster
    /// The samples of the planes that the image covers.
    let planes: [Samples]
    let image: CoefficientImage
    let consumedBytes: Int
    let scans: Int

    init(_ decoder: CoefficientDecoder) throws(CodecError) {
      let image = try decoder.decode()
      raster = try Raster(
        size: PixelSize(image.size.width, image.size.height), bands: image.bands, profile: image.profile
      ) { target in image.compose(into: target) }
      planes = image.planes.map { plane in
        let rows = (0..<plane.size.height).flatMap { y in
          UnsafeBufferPointer(start: plane.start + y * plane.rowBytes, count: plane.size.width)
        }
        return Samples(size: PixelSize(plane.size.width, plane.size.height), bands: 1, bytes: rows)
      }
      self.image = image
      (consumedBytes, scans) = (image.consumedBytes, image.scans)
    }
  }

  /// Reads the file with the coefficient decoder.
  static func read(
    _ file: [UInt8], _ scale: JPEGScale, size: PixelSize? = nil, isTolerant: Bool = false, window: Int? = nil,
    cancellation: CancellationFlag = CancellationFlag()
  ) throws -> Reading {
    let stored = try size ?? probe(.memory(file)).storedSize
    return try Reading(
      CoefficientDecoder(
        ByteSource.memory(file), size: stored, scale: scale, isTolerant: isTolerant, cancellation: cancellation,
        window: window))
  }
}
