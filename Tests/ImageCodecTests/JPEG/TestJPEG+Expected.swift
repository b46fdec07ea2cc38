@testable import JPEGCoefficients
import CVips
import Testing

@testable import ImageCodec
@testable import ThumbnailCore

/// A small picture's samples, however they came.
struct Samples: Equatable {
  var size: PixelSize
  var bands: Int
  var bytes: [UInt8]

  init(size: PixelSize, bands: Int, bytes: [UInt8]) { (self.size, self.bands, self.bytes) = (size, bands, bytes) }

  init(_ raster: Raster) throws {
    let bytes = try raster.withBytes { bytes throws(CodecError) in Array(bytes) }
    self.init(size: raster.size, bands: raster.bands, bytes: bytes)
  }

  /// What libvips reads, shrunk by libjpeg; it drops a last column and row that are not whole.
  init(_ file: [UInt8], shrink: Int) throws {
    try Codec.start()
    let reader = BodyReader(.memory(file), cancellation: CancellationFlag())
    try self.init(Raster(computing: try reader.load(.jpeg, VIPS_FAIL_ON_ERROR, option: .shrink(shrink))))
  }

  /// The upper left corner.
  func cropped(to size: PixelSize) -> Samples {
    let rows = (0..<size.height).flatMap { y in
      bytes[y * self.size.width * bands..<(y * self.size.width + size.width) * bands]
    }
    return Samples(size: size, bands: bands, bytes: rows)
  }

  /// The largest and the mean difference of any sample.
  func difference(from other: Samples) -> (most: Int, mean: Double) {
    guard size == other.size, bands == other.bands else { return (255, 255) }
    var (most, sum) = (0, 0)
    for index in bytes.indices {
      let difference = abs(Int(bytes[index]) - Int(other.bytes[index]))
      most = max(most, difference)
      sum += difference
    }
    return (most, Double(sum) / Double(max(1, bytes.count)))
  }
}

extension TestJPEG {
  /// The components' samples at 1/8, as they are without conversion of colours: a DC coefficient each.
  func expectedEighth() -> Samples {
    let small = JPEGScale.eighth.size(of: size)
    var bytes: [UInt8] = []
    for y in 0..<small.height {
      for x in 0..<small.width {
        for (index, component) in components.enumerated() {
          let value = coefficient(
            index, x * component.across / mostAcross, y * component.down / mostDown, 0)
          let level = (value * quantiser(component.table, 0) + 4) >> 3
          bytes.append(UInt8(max(0, min(255, level + 128))))
        }
      }
    }
    return Samples(size: small, bands: components.count, bytes: bytes)
  }

  /// The same at 1/4: 2×2 samples of the coefficients at zigzag positions 0, 1, 2 and 4.
  func expectedQuarter() -> Samples {
    let small = JPEGScale.quarter.size(of: size)
    var bytes: [UInt8] = []
    for y in 0..<small.height {
      for x in 0..<small.width {
        for (index, component) in components.enumerated() {
          let (column, row) = (x * component.across / mostAcross, y * component.down / mostDown)
          func value(_ position: Int) -> Double {
            Double(
              coefficient(index, column / 2, row / 2, position) * quantiser(component.table, position))
          }
          let (right, down) = (column % 2 == 0 ? 0.95 : -0.95, row % 2 == 0 ? 0.95 : -0.95)
          let level = (value(0) + right * value(1) + down * value(2) + right * down * value(4)) / 8
          bytes.append(UInt8(max(0, min(255, (level + 128).rounded()))))
        }
      }
    }
    return Samples(size: small, bands: components.count, bytes: bytes)
  }

  /// Marks three components as red, green and blue, so that they come as they are.
  static let adobeRGB = segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])

  /// What the coefficient decoder makes of a file.
  struct Reading {
    let raster: Raster
    let consumedBytes: Int
    let scans: Int

    init(_ decoder: CoefficientDecoder) throws(CodecError) {
      let image: CoefficientImage
      do throws(JPEGError) {
        image = try decoder.decode()
      } catch {
        throw CodecError(error)
      }
      raster = try Raster(
        size: PixelSize(image.size.width, image.size.height), bands: image.bands, profile: image.profile
      ) { target in image.compose(into: target) }
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
        .memory(file), size: stored, scale: scale, isTolerant: isTolerant, cancellation: cancellation, window: window))
  }
}
