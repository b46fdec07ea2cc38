import Glibc
import HEIFContainer
import ThumbnailCore

/// The memory of one row of an image's tiles, plane by plane.
///
/// Several threads may copy different tiles to it at the same time. Nothing reads it meanwhile.
final class StripMemory: @unchecked Sendable {
  // Safety: `start` is allocated once; its users copy tiles to places that do not overlap.
  private let image: HEIFImage
  private let starts: [UnsafeMutableRawPointer]

  /// - Throws: `.outOfMemory`.
  init(_ image: HEIFImage) throws(CodecError) {
    self.image = image
    var starts: [UnsafeMutableRawPointer] = []
    for plane in 0..<(image.chroma == .none ? 1 : 3) {
      let size = image.tileSize(plane)
      let (row, isLong) = (image.columns * image.sampleBytes).multipliedReportingOverflow(by: size.width)
      let (count, isLarge) = row.multipliedReportingOverflow(by: size.height)
      guard !isLong, !isLarge, let start = calloc(max(1, count), 1) else {
        for start in starts { free(start) }
        throw .outOfMemory
      }
      starts.append(start)
    }
    self.starts = starts
  }

  deinit { for start in starts { free(start) } }

  /// The planes of the whole strip.
  var planes: [CodedPlanes.Plane] {
    starts.enumerated().map { plane, start in
      let tile = image.tileSize(plane)
      let size = PixelSize(tile.width * image.columns, tile.height)
      return CodedPlanes.Plane(start: UnsafeRawPointer(start), stride: size.width * image.sampleBytes, size: size)
    }
  }

  /// Copies a tile that was checked to its place.
  func copy(_ tile: CodedPlanes, toColumn column: Int) {
    for (plane, samples) in tile.planes.enumerated() {
      let size = image.tileSize(plane)
      let rowBytes = size.width * image.sampleBytes
      for row in 0..<size.height {
        (starts[plane] + (row * image.columns + column) * rowBytes).copyMemory(
          from: samples.start + row * samples.stride, byteCount: rowBytes)
      }
    }
  }
}

extension HEIFImage {
  /// The bytes of a sample.
  var sampleBytes: Int { bits > 8 ? 2 : 1 }

  /// The size of a plane of one tile.
  func tileSize(_ plane: Int) -> PixelSize { TileStrip.size(of: tileSize, plane, chroma) }

  /// Verifies that a decoded tile has the samples that the container describes.
  ///
  /// - Throws: `.handedOver` if it has not.
  func check(_ tile: CodedPlanes) throws(CodecError) {
    guard tile.bits == bits, tile.chroma == chroma else {
      throw .handedOver(reason: "the stream's samples are not those of the header")
    }
    for (plane, found) in tile.planes.enumerated() {
      let size = tileSize(plane)
      guard found.size.width >= size.width, found.size.height >= size.height, found.stride >= size.width * sampleBytes
      else { throw .handedOver(reason: "the header says \(size), the decoder \(found.size)") }
    }
  }
}
