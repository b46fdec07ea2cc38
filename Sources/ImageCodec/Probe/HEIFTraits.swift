import HEIFContainer
import ThumbnailCore

/// What the readers of HEIC and AVIF need to know of an image that they read item by item.
struct HEIFTraits: Sendable, Equatable {
  /// Of which image a thumbnail must be, and the tiles that it is compared with, one after another until one tells.
  struct Comparison: Sendable, Equatable {
    var image: HEIFImage
    var tiles: [UInt32]
  }

  var image: HEIFImage
  var alpha: HEIFImage?
  /// Where the bytes of its items are in the file. Nil if they are not stated as places in it.
  var ranges: RangeSet<Int>?
  /// Only of a thumbnail that stands for its image.
  var compared: Comparison?

  /// Whether the container says that the samples have a high dynamic range, which thumbnails do not have.
  var isHighDynamicRange: Bool { image.colour?.isHighDynamicRange ?? false }

  /// An image that is read here, and its alpha.
  ///
  /// - Parameter grid: The content of the item, where it is a grid.
  /// - Throws: `.unsupported` for what is left to libheif.
  init(_ items: HEIFItems, _ id: UInt32, grid: [UInt8]? = nil) throws(HEIFError) {
    image = try items.image(id, grid: grid)
    ranges = items.ranges(image.tiles)
    guard let number = image.alpha else { return }
    let found = try items.image(number)
    guard found.part == image.part, found.orientation == image.orientation, found.size == image.size,
      items.item(id)?.references["prem"] == nil
    else { throw .unsupported("alpha of another shape") }
    alpha = found
    ranges = items.ranges(image.tiles + found.tiles)
  }
}

extension HEIFItems {
  /// Where the bytes of these items are in the file; nil if they are not stated as places in it.
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
  /// The largest thumbnail of the container that is an image's own, as far as the container tells; nil if there is none.
  init?(_ items: HEIFItems, of traits: HEIFTraits) {
    guard traits.alpha == nil else { return nil }
    let linked = items.items("thmb", to: traits.image.id).prefix(Self.mostThumbnails)
    let thumbnails: [HEIFTraits] = linked.compactMap { try? HEIFTraits(items, $0.id) }
      .filter { Self.fits($0.image, traits.image) && $0.alpha == nil }
    let largest = thumbnails.max { $0.image.part.size.width < $1.image.part.size.width }
    guard var thumbnail = largest, let ranges = thumbnail.ranges, let first = ranges.ranges.first else { return nil }
    let tiles = Self.comparedTiles(items, of: traits.image)
    thumbnail.compared = HEIFTraits.Comparison(image: traits.image, tiles: tiles)
    neededRanges = ranges.union(RangeSet(tiles.prefix(1).flatMap { items.item($0)?.ranges ?? [] }))
    rarelyNeededRanges = RangeSet(tiles.dropFirst().flatMap { items.item($0)?.ranges ?? [] })
    (range, size) = (first, PixelSize(thumbnail.image.part.size))
    heif = thumbnail
  }

  /// The most thumbnails that are looked at; cameras write one or two.
  private static let mostThumbnails = 8

  /// Whether a thumbnail has the image's aspect ratio within 2 %, its rotation, mirroring and profile, and is smaller.
  private static func fits(_ thumbnail: HEIFImage, _ image: HEIFImage) -> Bool {
    let (small, large) = (thumbnail.part.size, image.part.size)
    let (across, down) = (small.width * large.height, small.height * large.width)
    return abs(across - down) * 50 <= down && small.width < large.width && small.height < large.height
      && thumbnail.orientation == image.orientation && thumbnail.profile == image.profile
  }

  /// The tiles that a thumbnail is compared with: of a grid one that is read and decoded soon, as it has few bytes, but
  /// not so few that it is likely to be flat; and the one with the most, which is never flat unless all are. Of an image
  /// in one piece none: to decode it would take as long as without the thumbnail.
  private static func comparedTiles(_ items: HEIFItems, of image: HEIFImage) -> [UInt32] {
    guard image.tiles.count > 1 else { return [] }
    func length(_ id: UInt32) -> Int { items.item(id)?.byteCount ?? 0 }
    let sorted = image.tiles.sorted { length($0) < length($1) }
    let longest = sorted[sorted.count - 1]
    return [sorted.first { length($0) >= length(longest) / leastShareOfLongest } ?? longest, longest]
  }

  /// A tile with fewer bytes than this part of the longest one's may be flat.
  private static let leastShareOfLongest = 3
}

extension CodedColour {
  /// The transfer functions of a high dynamic range (ITU-T H.273): PQ and HLG.
  static let (pq, hlg) = (16, 18)

  var isHighDynamicRange: Bool { transfer == Self.pq || transfer == Self.hlg }
}
