import TestSupport

@testable import ImageCodec
@testable import ThumbnailCore

/// A HEIC or AVIF put together of tiles that libheif has encoded.
struct TileFile {
  var format = ImageFormat.heif
  /// The side of a tile in pixels.
  var side: Int
  /// The colours' meaning that the container claims, as ITU-T H.273 numbers it: primaries, transfer, matrix.
  var colour = (primaries: 1, transfer: 13, matrix: 6)
  var isFullRange = false
  /// The bits of a sample as coded. Of more than 8 each is twice the byte of the picture.
  var bits = 8
  /// The thumbnail of the picture, or what the file says is one.
  var thumbnail: TestPicture?

  private struct Tile {
    var configuration: [UInt8]
    var data: [UInt8]
  }

  /// The file with a picture whose sides are multiples of a tile's.
  func bytes(_ picture: TestPicture) throws -> [UInt8] {
    let (columns, rows) = (picture.size.width / side, picture.size.height / side)
    let tiles = try (0..<rows * columns).map { try tile($0 % columns, $0 / columns, of: picture) }
    let first = try #require(tiles.first)
    let small = try thumbnail.map { try coded($0) }
    let kind = format == .avif ? "av01" : "hvc1"
    let code = Self.number(colour.primaries, 2) + Self.number(colour.transfer, 2) + Self.number(colour.matrix, 2)
    var properties = [
      Self.box("colr", Array("nclx".utf8), code, [isFullRange ? 0x80 : 0]), first.configuration,
      Self.extent(side, side), Self.extent(picture.size.width, picture.size.height),
    ]
    if let small, let size = thumbnail?.size {
      properties += [small.configuration, Self.extent(size.width, size.height)]
    }
    let grid = tiles.count + 1
    let last = grid + (small == nil ? 0 : 1)
    let content =
      [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + Self.number(picture.size.width, 2)
      + Self.number(picture.size.height, 2)
    let entries =
      (1...tiles.count).flatMap { Self.number($0, 2) + [3, 1, 0x82, 3] } + Self.number(grid, 2) + [2, 1, 4]
      + (small == nil ? [] : Self.number(last, 2) + [3, 1, 0x85, 6])
    let links =
      Self.box(
        "dimg", Self.number(grid, 2), Self.number(tiles.count, 2), (1...tiles.count).flatMap { Self.number($0, 2) })
      + (small == nil ? [] : Self.box("thmb", Self.number(last, 2), Self.number(1, 2), Self.number(grid, 2)))
    func meta(_ start: Int) -> [UInt8] {
      var (places, position) = ([UInt8](), start)
      for (index, tile) in tiles.enumerated() {
        places += Self.number(index + 1, 2) + [0, 0, 0, 0, 0, 1] + Self.number(position, 4)
        places += Self.number(tile.data.count, 4)
        position += tile.data.count
      }
      places += Self.number(grid, 2) + [0, 1, 0, 0, 0, 1] + Self.number(0, 4) + Self.number(content.count, 4)
      if let small {
        places +=
          Self.number(last, 2) + [0, 0, 0, 0, 0, 1] + Self.number(position, 4) + Self.number(small.data.count, 4)
      }
      let kinds = (1...last).flatMap { number in
        Self.fullBox(
          "infe", version: 2, Self.number(number, 2), [0, 0], Array((number == grid ? "grid" : kind).utf8), [0])
      }
      return Self.fullBox(
        "meta", Self.fullBox("hdlr", [0, 0, 0, 0], Array("pict".utf8), [UInt8](repeating: 0, count: 13)),
        Self.fullBox("pitm", Self.number(grid, 2)), Self.fullBox("iinf", Self.number(last, 2), kinds),
        Self.fullBox("iref", links),
        Self.box(
          "iprp", Self.box("ipco", properties.flatMap { $0 }), Self.fullBox("ipma", Self.number(last, 4), entries)),
        Self.box("idat", content),
        Self.fullBox("iloc", version: 1, [0x44, 0], Self.number(last, 2), places))
    }
    let brand = Array((format == .avif ? "avif" : "heic").utf8)
    let head = Self.box("ftyp", brand, [0, 0, 0, 0], Array("mif1".utf8), brand)
    let start = head.count + meta(0).count + 8
    return head + meta(start) + Self.box("mdat", tiles.flatMap(\.data) + (small?.data ?? []))
  }

  private func tile(_ column: Int, _ row: Int, of picture: TestPicture) throws -> Tile {
    try coded(
      TestPicture(side, side) { x, y in
        let start = ((row * side + y) * picture.size.width + column * side + x) * picture.bands
        return Array(picture.pixels[start..<start + picture.bands])
      })
  }

  private func coded(_ part: TestPicture) throws -> Tile {
    let options = format == .avif ? "compression=av1,effort=0,Q=80" : "compression=hevc,Q=80"
    let depth = bits > 8 ? ",bitdepth=\(bits)" : ""
    let file = try part.encoded("heifsave_buffer", options + depth, bits: bits > 8 ? 16 : 8, widens: bits > 8)
    let name = Array((format == .avif ? "av1C" : "hvcC").utf8)
    let place = try #require(file.indices.first { file[$0...].starts(with: name) })
    let length = file[place - 4..<place].reduce(0) { $0 << 8 | Int($1) }
    let container = try HEIFFile(.memory(file))
    let item = try container.item(container.items.primary)
    let data = try item.ranges(inFileOf: file.count).flatMap { file[$0] }
    return Tile(configuration: Array(file[place - 4..<place - 4 + length]), data: data)
  }

  // MARK: Boxes

  private static func number(_ value: Int, _ length: Int) -> [UInt8] {
    (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func box(_ kind: String, _ content: [UInt8]...) -> [UInt8] {
    let content = content.flatMap { $0 }
    return number(8 + content.count, 4) + Array(kind.utf8) + content
  }

  private static func fullBox(_ kind: String, version: UInt8 = 0, _ content: [UInt8]...) -> [UInt8] {
    box(kind, [version, 0, 0, 0], content.flatMap { $0 })
  }

  private static func extent(_ width: Int, _ height: Int) -> [UInt8] {
    fullBox("ispe", number(width, 4), number(height, 4))
  }
}
