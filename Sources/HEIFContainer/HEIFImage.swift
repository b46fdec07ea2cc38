package import ThumbnailCore

/// An image of the container: the items of its pixels, and how they are shown.
package struct HEIFImage: Sendable, Hashable {
  /// How the items are coded.
  package enum Coding: Sendable, Hashable {
    case hevc, av1
  }

  /// The item's number.
  package let id: UInt32
  package let coding: Coding
  /// The size as coded, in pixels.
  package let size: PixelSize
  /// The items with the pixels, row by row: the image's own, or a grid's.
  package let tiles: [UInt32]
  /// The number of tiles in a row.
  package let columns: Int
  package let tileSize: PixelSize
  package let chroma: ChromaFormat
  /// The bits per sample, 8 to 16.
  package let bits: Int
  /// The colour space of the samples, if the container states it.
  package let colour: CodedColour?
  package let profile: [UInt8]?
  /// The brightest light in the image in cd/m², if the container states it.
  package let peakLight: Int?
  /// The part of it that is shown, before it is turned.
  package let part: PixelRectangle
  /// The EXIF orientation that has the same effect as its rotation and mirroring: 1 to 8.
  package let orientation: Int
  /// The number of the item with its alpha.
  package internal(set) var alpha: UInt32?

  package var rows: Int { tiles.count / columns }

  /// Whether it is shown whole, and neither turned nor mirrored.
  package var isShownAsCoded: Bool { part.size == size && orientation == 1 }
}

extension HEIFItems {
  /// How alpha is named in HEVC's, AV1's and the common standard.
  private static let alphaNames = [
    "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1",
  ]

  /// The image in an item.
  ///
  /// - Parameters:
  ///   - grid: The content of the item, if it is a grid.
  ///   - usual: The size of an item that states none.
  /// - Throws: `.handedOver` for images that this reader leaves to others.
  package func image(_ id: UInt32, grid: [UInt8]? = nil, usual: PixelSize? = nil) throws(CodecError) -> HEIFImage {
    guard let item = item(id) else { throw .damaged(.header, detail: "no item \(id)") }
    guard item.kind == "grid" else { return try image(item, of: [item], columns: 1, item.extent ?? usual) }
    guard let grid else { throw .handedOver(reason: "a grid of unknown content") }
    let layout = try HEIFGrid(grid)
    let ids = item.references["dimg"] ?? []
    guard ids.count == layout.rows * layout.columns else {
      throw .damaged(.header, detail: "a grid without all its tiles")
    }
    let tiles = ids.compactMap { self.item($0) }
    guard tiles.count == ids.count, let tile = tiles[0].extent else {
      throw .damaged(.header, detail: "a grid of unknown tiles")
    }
    guard layout.isCovered(by: tile) else { throw .handedOver(reason: "a grid of different tiles") }
    return try image(item, of: tiles, columns: layout.columns, layout.size)
  }

  /// The alpha of an image: an item, a grid with this content, or an item for each of the image's tiles.
  package func alpha(of image: HEIFImage, grid: [UInt8]?) throws(CodecError) -> HEIFImage? {
    if let alpha = image.alpha { return try self.image(alpha, grid: grid, usual: image.size) }
    let tiles = image.tiles.compactMap { alpha(of: $0) }.compactMap { item($0) }
    guard tiles.count == image.tiles.count, tiles.allSatisfy({ $0.extent == image.tileSize }) else { return nil }
    return try self.image(tiles[0], of: tiles, columns: image.columns, image.size)
  }

  private func image(
    _ item: HEIFItem, of tiles: [HEIFItem], columns: Int, _ size: PixelSize?
  ) throws(CodecError) -> HEIFImage {
    guard let size, size.width > 0, size.height > 0 else {
      throw .damaged(.header, detail: "an image without a size")
    }
    let tileSize = tiles[0].extent ?? size
    guard tiles.count == 1 || tiles.allSatisfy({ $0.extent == tileSize && $0.kind == tiles[0].kind }) else {
      throw .handedOver(reason: "a grid of different tiles")
    }
    let samples = try samples(tiles)
    let shown = try showing(item, of: size)
    if columns > 1 || tiles.count > 1 {
      for tile in tiles {
        var own = try showing(tile, of: tileSize)
        // Some encoders say of each tile, too, how the whole is turned.
        if own.orientation == shown.orientation { own.orientation = Showing(tileSize).orientation }
        if own != Showing(tileSize) { throw .handedOver(reason: "turned tiles") }
      }
    }
    var image = HEIFImage(
      id: item.id, coding: samples.coding, size: size, tiles: tiles.map(\.id), columns: columns, tileSize: tileSize,
      chroma: samples.chroma, bits: samples.bits, colour: colour(item) ?? colour(tiles[0]),
      profile: profile(item) ?? profile(tiles[0]), peakLight: peakLight(item) ?? peakLight(tiles[0]), part: shown.part,
      orientation: shown.orientation.exif)
    image.alpha = alpha(of: item.id)
    return image
  }

  /// How the items' samples are coded, all in the same way.
  private func samples(
    _ tiles: [HEIFItem]
  ) throws(CodecError) -> (coding: HEIFImage.Coding, chroma: ChromaFormat, bits: Int) {
    var found: (coding: HEIFImage.Coding, chroma: ChromaFormat, bits: Int)?
    for tile in tiles {
      let next: (HEIFImage.Coding, ChromaFormat, Int)
      if tile.kind == "hvc1", let configuration = tile.hevc {
        guard configuration.bits.0 == configuration.bits.1 || configuration.chroma == .none else {
          throw .handedOver(reason: "luma and chroma of different depth")
        }
        next = (.hevc, configuration.chroma, configuration.bits.0)
      } else if tile.kind == "av01", let configuration = tile.av1 {
        next = (.av1, configuration.chroma, configuration.bits)
      } else {
        throw .handedOver(reason: "an item of the kind \(tile.kind?.description ?? "unknown")")
      }
      if tile.properties.contains(where: \.isObstacle) { throw .handedOver(reason: "an unknown property") }
      if let found, found != next { throw .handedOver(reason: "a grid of different tiles") }
      found = next
    }
    guard let found else { throw .damaged(.header, detail: "a grid without tiles") }
    return found
  }

  /// How an item is shown: the visible part, and then its orientation.
  private struct Showing: Equatable {
    var part: PixelRectangle
    var orientation = Orientation(exif: 1)

    init(_ size: PixelSize) { part = PixelRectangle(x: 0, y: 0, size: size) }
  }

  private func showing(_ item: HEIFItem, of size: PixelSize) throws(CodecError) -> Showing {
    var shown = Showing(size)
    for property in item.properties {
      switch property.value {
      case .rotation(let turns): shown.orientation = shown.orientation.then(Orientation(quarters: -turns))
      case .mirror(let exchangesSides):
        shown.orientation = shown.orientation.then(Orientation(exif: exchangesSides ? 2 : 4))
      case .aperture(let aperture):
        guard shown == Showing(size) else { throw .handedOver(reason: "an aperture after a rotation") }
        shown.part = try aperture.part(of: size)
      default:
        if property.isObstacle { throw .handedOver(reason: "an unknown property") }
      }
    }
    return shown
  }

  /// The item with the alpha of another.
  package func alpha(of id: UInt32) -> UInt32? {
    items("auxl", to: id).first { item in
      item.properties.contains { property in
        if case .auxiliary(let name) = property.value { Self.alphaNames.contains(name) } else { false }
      }
    }?.id
  }

  private func colour(_ item: HEIFItem) -> CodedColour? {
    for property in item.properties { if case .colour(let colour) = property.value { return colour } }
    return nil
  }

  private func peakLight(_ item: HEIFItem) -> Int? {
    for property in item.properties {
      if case .peakLight(let light) = property.value, light > 0 { return light }
    }
    return nil
  }

  private func profile(_ item: HEIFItem) -> [UInt8]? {
    for property in item.properties { if case .profile(let bytes) = property.value { return bytes } }
    return nil
  }
}

extension HEIFItem {
  /// How its HEVC is coded.
  package var hevc: HEVCConfiguration? {
    for property in properties { if case .hevc(let configuration) = property.value { return configuration } }
    return nil
  }

  /// How its AV1 is coded.
  package var av1: AV1Configuration? {
    for property in properties { if case .av1(let configuration) = property.value { return configuration } }
    return nil
  }
}
