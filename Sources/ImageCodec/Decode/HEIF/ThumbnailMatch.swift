import HEIFContainer
import ThumbnailCore

/// Verifies that an embedded thumbnail shows its image, by the mean colours of some of the image's tiles: an editor may
/// have changed the image and kept the thumbnail.
struct ThumbnailMatch {
  /// The cells of the grid across and down a tile.
  private static let cells = 6

  private let image: HEIFImage
  private let tiles: [UInt32]
  private let thumbnail: TileStrip
  private let file: HEIFFile

  /// - Parameter thumbnail: With its only strip loaded.
  init(_ compared: HEIFTraits.Comparison, _ thumbnail: TileStrip, _ file: HEIFFile) {
    (image, tiles, self.thumbnail, self.file) = (compared.image, compared.tiles, thumbnail, file)
  }

  /// Decodes one tile after another until one tells, as flat ones are all alike.
  ///
  /// - Throws: `.handedOver` if the thumbnail does not match.
  func check(_ colour: CodedColour) throws(CodecError) {
    guard !tiles.isEmpty else { return }
    let decoder = try image.decoder(skipsFilters: true)
    for id in tiles {
      guard let index = image.tiles.firstIndex(of: id) else { continue }
      let tile = try decoder.decode(try file.item(id), of: file)
      guard tile.bits == image.bits, tile.chroma == image.chroma, tile.planes.allSatisfy({ $0.size.width > 0 }) else {
        throw .handedOver(reason: "the stream's samples are not those of the header")
      }
      let difference = difference(tile, at: index, tileColour: image.colour ?? tile.colour, colour)
      guard difference.mean <= PreviewPlan.mostDifference else {
        throw .handedOver(reason: "the thumbnail does not match")
      }
      if difference.contrast >= PreviewPlan.leastContrast { return }
    }
  }

  /// The mean difference of the cells' levels of luma and chroma, and the standard deviation of the tile's luma.
  private func difference(
    _ tile: CodedPlanes, at index: Int, tileColour: CodedColour, _ colour: CodedColour
  ) -> (mean: Double, contrast: Double) {
    let (left, top) = (index % image.columns * image.tileSize.width, index / image.columns * image.tileSize.height)
    let shown = PixelSize(
      min(image.tileSize.width, image.size.width - left), min(image.tileSize.height, image.size.height - top))
    let ranges = (
      CodedRange(bits: tile.bits, isFull: tileColour.isFullRange),
      CodedRange(bits: thumbnail.image.bits, isFull: colour.isFullRange)
    )
    let small = thumbnail.image.size
    var (sum, count, levels) = (0.0, 0, [Double]())
    for plane in 0..<min(tile.planes.count, thumbnail.planes.count) {
      for cell in 0..<Self.cells * Self.cells {
        let (x, y) = (cell % Self.cells, cell / Self.cells)
        let part = (
          x: shown.width * x / Self.cells..<shown.width * (x + 1) / Self.cells,
          y: shown.height * y / Self.cells..<shown.height * (y + 1) / Self.cells
        )
        let scaled = (
          x: Self.scaled(part.x, left, by: small.width, image.size.width),
          y: Self.scaled(part.y, top, by: small.height, image.size.height)
        )
        let one = Self.mean(tile.planes[plane], tile.bits, of: tile.planes[0].size, part.x, part.y)
        let other = Self.mean(
          thumbnail.planes[plane], thumbnail.image.bits, of: thumbnail.planes[0].size, scaled.x, scaled.y)
        let level = ranges.0.level(one, isChroma: plane > 0)
        sum += abs(level - ranges.1.level(other, isChroma: plane > 0))
        count += 1
        if plane == 0 { levels.append(level) }
      }
    }
    let mean = levels.reduce(0, +) / Double(levels.count)
    let variance = levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(levels.count)
    return (sum / Double(count), variance.squareRoot())
  }

  /// A range of the image's pixels in those of the thumbnail.
  private static func scaled(_ range: Range<Int>, _ origin: Int, by small: Int, _ large: Int) -> Range<Int> {
    let start = min(small - 1, (origin + range.lowerBound) * small / large)
    return start..<max(start + 1, min(small, (origin + range.upperBound) * small / large))
  }

  /// The mean of the samples of a plane under the pixels of an image of size `whole`.
  private static func mean(
    _ plane: CodedPlanes.Plane, _ bits: Int, of whole: PixelSize, _ columns: Range<Int>, _ rows: Range<Int>
  ) -> Double {
    func samples(_ range: Range<Int>, _ side: Int, _ whole: Int) -> Range<Int> {
      let start = min(side - 1, range.lowerBound * side / whole)
      return start..<max(start + 1, min(side, range.upperBound * side / whole))
    }
    let (across, down) = (
      samples(columns, plane.size.width, whole.width), samples(rows, plane.size.height, whole.height)
    )
    var sum = 0
    for y in down {
      let row = plane.start + y * plane.stride
      for x in across {
        // Within the plane: both ranges are clamped to its size.
        sum +=
          bits > 8
          ? Int(row.load(fromByteOffset: 2 * x, as: UInt16.self)) : Int(row.load(fromByteOffset: x, as: UInt8.self))
      }
    }
    return Double(sum) / Double(across.count * down.count)
  }
}
