import Foundation
import HEIFContainer
import ThumbnailCore

/// The samples of one row of an image's tiles at a time: of a grid a copy of them, of a single item the decoder's own.
final class TileStrip {
  let image: HEIFImage
  /// The rows of luma, of the whole image as coded, that are in memory now.
  private(set) var rows = 0..<0
  /// The planes of the strip; valid until the next one is loaded.
  private(set) var planes: [CodedPlanes.Plane] = []
  /// What the samples mean, as the container says, or else the stream; known once a strip was loaded.
  private(set) var colour: CodedColour?
  private let file: HEIFFile
  private let skipsFilters: Bool
  private var decoder: (any ItemDecoder)?
  /// The memory of each plane of a row of tiles; empty for a single item.
  private var buffers: [UnsafeMutableRawBufferPointer] = []

  init(_ image: HEIFImage, of file: HEIFFile, skipsFilters: Bool) throws(CodecError) {
    (self.image, self.file, self.skipsFilters) = (image, file, skipsFilters)
    colour = image.colour
    let divisors = image.chroma.divisors
    // A sample of chroma would belong to two tiles.
    let isWhole = image.tileSize.width % divisors.across == 0 && image.tileSize.height % divisors.down == 0
    guard image.tiles.count == 1 || isWhole else { throw .handedOver(reason: "tiles of odd sizes") }
  }

  deinit { for buffer in buffers { free(buffer.baseAddress) } }

  /// The bytes of a sample.
  var sampleBytes: Int { image.bits > 8 ? 2 : 1 }

  /// The size of a plane of one tile.
  private func tileSize(_ plane: Int) -> PixelSize { Self.size(of: PixelSize(image.tileSize), plane, image.chroma) }

  /// The size of a plane of an image of `size`: luma, or chroma, of which a partial sample counts.
  static func size(of size: PixelSize, _ plane: Int, _ chroma: ChromaFormat) -> PixelSize {
    if plane == 0 { return size }
    let divisors = chroma.divisors
    return PixelSize(
      (size.width + divisors.across - 1) / divisors.across, (size.height + divisors.down - 1) / divisors.down)
  }

  /// Decodes the strip with this row of luma, unless it is there.
  func load(_ row: Int) throws(CodecError) {
    if rows.contains(row) { return }
    let decoder = try knownDecoder()
    let index = row / image.tileSize.height
    rows = 0..<0
    for column in 0..<image.columns {
      let tile = image.tiles[index * image.columns + column]
      let coded = try decoder.decode(try file.item(tile), of: file)
      try check(coded)
      if colour == nil { colour = coded.colour }
      if image.tiles.count == 1 { planes = coded.planes } else { try keep(coded, column) }
    }
    if image.tiles.count > 1 {
      planes = buffers.enumerated().compactMap { plane, buffer in
        let tile = tileSize(plane)
        let size = PixelSize(tile.width * image.columns, tile.height)
        return buffer.baseAddress.map {
          CodedPlanes.Plane(start: UnsafeRawPointer($0), stride: size.width * sampleBytes, size: size)
        }
      }
    }
    rows = index * image.tileSize.height..<(index + 1) * image.tileSize.height
  }

  /// The decoder of all tiles, made for the first.
  private func knownDecoder() throws(CodecError) -> any ItemDecoder {
    if let decoder { return decoder }
    let made = try image.decoder(skipsFilters: skipsFilters)
    decoder = made
    return made
  }

  /// The first sample of a row of a plane; `row` counts from the top of the whole image and is in the strip.
  func start(_ plane: Int, row: Int) -> UnsafeRawPointer {
    let divisor = plane == 0 ? 1 : image.chroma.divisors.down
    // All rows of the strip have been checked to be there.
    let first = rows.lowerBound / divisor
    let last = planes[plane].size.height - 1
    return planes[plane].start + max(0, min(last, row - first)) * planes[plane].stride
  }

  private func check(_ coded: CodedPlanes) throws(CodecError) {
    guard coded.bits == image.bits, coded.chroma == image.chroma else {
      throw .handedOver(reason: "the stream's samples are not those of the header")
    }
    for (plane, found) in coded.planes.enumerated() {
      let size = tileSize(plane)
      guard found.size.width >= size.width, found.size.height >= size.height,
        found.stride >= size.width * sampleBytes
      else { throw .handedOver(reason: "the header says \(size), the decoder \(found.size)") }
    }
  }

  /// Copies a tile to its place in the strip.
  private func keep(_ coded: CodedPlanes, _ column: Int) throws(CodecError) {
    if buffers.isEmpty {
      for plane in coded.planes.indices {
        let tile = tileSize(plane)
        let count = tile.width * image.columns * tile.height * sampleBytes
        guard let memory = malloc(max(1, count)) else { throw .outOfMemory }
        buffers.append(UnsafeMutableRawBufferPointer(start: memory, count: count))
      }
    }
    for (plane, samples) in coded.planes.enumerated() {
      let tile = tileSize(plane)
      let rowBytes = tile.width * sampleBytes
      guard let start = buffers[plane].baseAddress else { continue }
      for row in 0..<tile.height {
        (start + (row * image.columns + column) * rowBytes).copyMemory(
          from: samples.start + row * samples.stride, byteCount: rowBytes)
      }
    }
  }
}
