import HEIFContainer
import ThumbnailCore

/// The properties of an image that the readers of HEIC and AVIF need to read it item by item.
struct HEIFTraits: Sendable, Equatable {
  /// The image of a thumbnail, and the tiles with which it is always compared.
  struct Comparison: Sendable, Equatable {
    /// The fewest tiles that a thumbnail is compared with, if the image has as many.
    static let leastTiles = 8

    let image: HEIFImage
    /// The places of tiles in the grid, by rows; none for an image in one piece.
    let tiles: [Int]
    /// Whether the body has all tiles, so that other tiles can be compared, too.
    var isBodyWhole = true

    init(_ image: HEIFImage) {
      self.image = image
      tiles = Self.spread(rows: image.rows, columns: image.columns)
    }

    /// The corners of a grid, and four places around its centre. If it has few rows or columns, other places replace
    /// those that coincide.
    static func spread(rows: Int, columns: Int) -> [Int] {
      let count = rows * columns
      guard count > 1 else { return [] }
      /// The place at a number of thirds of the way from the first to the last.
      func place(_ thirds: Int, _ count: Int) -> Int { (2 * thirds * (count - 1) + 3) / 6 }
      let wanted = [(0, 0), (0, 3), (3, 0), (3, 3), (1, 1), (1, 2), (2, 1), (2, 2)].map { row, column in
        place(row, rows) * columns + place(column, columns)
      }
      let even = (0..<leastTiles).map { $0 * (count - 1) / (leastTiles - 1) }
      var found: Set<Int> = []
      for tile in wanted + even + Array(0..<count) where found.count < leastTiles { found.insert(tile) }
      return found.sorted()
    }

    /// Whether that takes at most half of the time of decoding the image.
    var isWorthwhile: Bool { image.tiles.count >= 2 * Self.leastTiles }
  }

  var image: HEIFImage
  var alpha: HEIFImage?
  /// Whether the colours are multiplied by alpha.
  var isPremultiplied = false
  /// The ranges of its items in the file. Nil if the container does not give them as offsets in the file.
  var ranges: RangeSet<Int>?
  /// Only for a thumbnail that stands for its image.
  var compared: Comparison?

  /// The light that the container declares.
  var codedLight: CodedLight? { CodedLight(image.colour, peakLight: image.peakLight) }

  /// An image that is read here, and its alpha.
  ///
  /// Alpha is turned, mirrored and cropped as its image is: many encoders leave out its own properties for that.
  ///
  /// - Parameter grids: The content of the items that are grids.
  /// - Throws: `.handedOver` for images that are left to libheif.
  init(_ items: HEIFItems, _ id: UInt32, grids: [UInt32: [UInt8]] = [:]) throws(CodecError) {
    image = try items.image(id, grid: grids[id])
    ranges = items.ranges(image.tiles)
    guard let found = try items.alpha(of: image, grid: image.alpha.flatMap { grids[$0] }) else { return }
    guard found.size == image.size,
      found.isShownAsCoded || found.part == image.part && found.orientation == image.orientation
    else { throw .handedOver(reason: "alpha of another shape") }
    alpha = found
    isPremultiplied = items.item(id)?.references["prem"] != nil
    ranges = items.ranges(image.tiles + found.tiles)
  }
}

extension HEIFItems {
  /// The ranges of these items in the file; nil if the container does not give them as offsets in the file.
  fileprivate func ranges(_ ids: [UInt32]) -> RangeSet<Int>? {
    var all: [Range<Int>] = []
    for id in ids {
      guard let ranges = item(id)?.ranges else { return nil }
      all += ranges
    }
    return RangeSet(all)
  }
}

extension EmbeddedPreview {
  /// The largest thumbnail of an image, as far as the container shows; nil if there is none, or if comparing it would
  /// take too long.
  init?(_ items: HEIFItems, of traits: HEIFTraits) {
    guard traits.alpha == nil else { return nil }
    let linked = items.items("thmb", to: traits.image.id).prefix(Self.mostThumbnails)
    let thumbnails: [HEIFTraits] = linked.compactMap { try? HEIFTraits(items, $0.id) }
      .filter { Self.fits($0.image, traits.image) && $0.alpha == nil }
    let largest = thumbnails.max { $0.image.part.size.width < $1.image.part.size.width }
    guard var thumbnail = largest, let ranges = thumbnail.ranges, let first = ranges.ranges.first else { return nil }
    let compared = HEIFTraits.Comparison(traits.image)
    guard compared.isWorthwhile else { return nil }
    thumbnail.compared = compared
    neededRanges = ranges.union(RangeSet(compared.tiles.flatMap { items.item(traits.image.tiles[$0])?.ranges ?? [] }))
    (byteCount, size) = (first.count, thumbnail.image.part.size)
    heif = thumbnail
  }

  /// The most thumbnails that are examined; cameras write one or two.
  private static let mostThumbnails = 8

  /// Whether a thumbnail has the image's aspect ratio within 2 %, its rotation, mirroring, profile and chroma, is
  /// smaller, and both are shown whole.
  private static func fits(_ thumbnail: HEIFImage, _ image: HEIFImage) -> Bool {
    let (small, large) = (thumbnail.part.size, image.part.size)
    let (across, down) = (small.width * large.height, small.height * large.width)
    return abs(across - down) * 50 <= down && small.width < large.width && small.height < large.height
      && thumbnail.orientation == image.orientation && thumbnail.profile == image.profile
      && (thumbnail.chroma == .none) == (image.chroma == .none)
      && [thumbnail, image].allSatisfy { $0.part.size == $0.size }
  }
}
