import HEIFContainer
import ThumbnailCore

/// The samples of one row of an image's tiles at a time: a copy for a grid, the decoder's own for a single item.
final class TileStrip {
  let image: HEIFImage
  /// The rows of luma, of the whole image as coded, that are in memory now.
  private(set) var rows = 0..<0
  /// The planes of the strip; valid until the next one is loaded.
  private(set) var planes: [CodedPlanes.Plane] = []
  /// The colour space of the samples, from the container, else from the stream; known once a strip has been loaded.
  private(set) var colour: CodedColour?
  private let file: HEIFFile
  private let skipsFilters: Bool
  private var decoder: (any ItemDecoder)?
  /// Decodes the tiles of a grid; nil for a single item.
  private let team: TileTeam?

  init(_ image: HEIFImage, of file: HEIFFile, skipsFilters: Bool, onTwoThreads: Bool) throws(CodecError) {
    (self.image, self.file, self.skipsFilters) = (image, file, skipsFilters)
    colour = image.colour
    let divisors = image.chroma.divisors
    // A sample of chroma would belong to two tiles.
    let isWhole = image.tileSize.width % divisors.across == 0 && image.tileSize.height % divisors.down == 0
    guard image.tiles.count == 1 || isWhole else { throw .handedOver(reason: "tiles of odd sizes") }
    if image.tiles.count == 1 {
      team = nil
    } else {
      team = try TileTeam(image, of: file, skipsFilters: skipsFilters, onTwoThreads: onTwoThreads)
    }
  }

  deinit { team?.close() }

  /// The bytes of a sample.
  var sampleBytes: Int { image.sampleBytes }

  /// The size of a plane of an image of `size`: luma, or chroma, where a partial sample counts.
  static func size(of size: PixelSize, _ plane: Int, _ chroma: ChromaFormat) -> PixelSize {
    if plane == 0 { return size }
    let divisors = chroma.divisors
    return PixelSize(
      (size.width + divisors.across - 1) / divisors.across, (size.height + divisors.down - 1) / divisors.down)
  }

  /// Limits the columns of luma that are used: only their tiles of a grid are decoded from now on.
  func limit(to columns: Range<Int>) {
    let (width, last) = (image.tileSize.width, image.columns - 1)
    let tiles = min(last, columns.lowerBound / width)..<min(last, (columns.upperBound - 1) / width) + 1
    if tiles.count < image.columns { team?.limit(to: tiles) }
  }

  /// Decodes the strip with this row of luma, unless it is loaded.
  func load(_ row: Int) throws(CodecError) {
    if rows.contains(row) { return }
    let decoder = try knownDecoder()
    let index = row / image.tileSize.height
    rows = 0..<0
    if let team {
      try team.decodeStrip(index, with: decoder)
      planes = team.planes
      if colour == nil { colour = team.colour }
    } else {
      let coded = try decoder.decode(try file.item(image.tiles[0]), of: file)
      try image.check(coded)
      planes = coded.planes
      if colour == nil { colour = coded.colour }
    }
    rows = index * image.tileSize.height..<(index + 1) * image.tileSize.height
  }

  /// The decoder of this thread, made for the first tile.
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
}
