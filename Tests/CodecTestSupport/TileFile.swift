import TestSupport

@testable import ImageCodec
@testable import ThumbnailCore

/// A HEIC or AVIF put together of items that libheif has encoded: a grid of tiles, or one item.
struct TileFile {
  /// How a picture's alpha is stored: in one item, in tiles of a grid, or in an item for each tile of the colours.
  enum Alpha: CaseIterable { case item, grid, tiles }

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
  /// Nil leaves out the picture's alpha.
  var alpha: Alpha?
  /// Whether the colours are multiplied by alpha.
  var isPremultiplied = false
  /// The boxes that say how the picture is turned, mirrored and cropped, and whether its alpha has them.
  var showing: [[UInt8]] = []
  var showsAlpha = false

  private struct Item {
    var kind: String
    var data: [UInt8]
    /// Those that the reader must know first.
    var essential: [[UInt8]]
    var properties: [[UInt8]]
    var isInData = false
  }

  /// The file with a picture whose sides are multiples of a tile's; one as wide as a tile is a single item.
  func bytes(_ picture: TestPicture) throws -> [UInt8] {
    let size = picture.size
    let (columns, rows) = (size.width / side, max(1, size.height / side))
    let code = [colour.primaries, colour.transfer, colour.matrix].flatMap { Self.number($0, 2) }
    let claim = Self.box("colr", Array("nclx".utf8), code, [isFullRange ? 0x80 : 0])
    let content =
      [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + Self.number(size.width, 2) + Self.number(size.height, 2)
    let name = Self.fullBox("auxC", Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha".utf8), [0])
    func tiles(_ sample: @escaping ([UInt8]) -> [UInt8], _ properties: [[UInt8]]) throws -> [Item] {
      try (0..<rows * columns).map { try item(picture, $0 % columns, $0 / columns, side, sample, properties) }
    }
    func opacity(_ pixel: [UInt8]) -> [UInt8] { Array(repeating: pixel[3], count: 3) }
    var (items, links) = (try tiles(colours, [claim]), [UInt8]())
    func link(_ kind: String, _ from: Int, _ to: [Int]) {
      links += Self.box(kind, Self.number(from, 2), Self.number(to.count, 2), to.flatMap { Self.number($0, 2) })
    }
    // A picture of one tile is no grid.
    var primary = 1
    if items.count == 1 {
      items[0].essential += showing
    } else {
      let (_, whole) = (link("dimg", items.count + 1, Array(1...items.count)), Self.extent(size))
      items.append(Item(kind: "grid", data: content, essential: showing, properties: [claim, whole], isInData: true))
      primary = items.count
    }
    let shown = showsAlpha ? showing : []
    switch alpha {
    case .item:
      var whole = try item(picture, 0, 0, size.width, opacity, [name])
      whole.essential += shown
      items.append(whole)
    case .grid:
      let parts = try tiles(opacity, [])
      link("dimg", items.count + parts.count + 1, parts.indices.map { items.count + 1 + $0 })
      items += parts
      items.append(Item(kind: "grid", data: content, essential: shown, properties: [Self.extent(size), name]))
    case .tiles:
      let parts = try tiles(opacity, [name])
      for index in parts.indices { link("auxl", items.count + 1 + index, [index + 1]) }
      items += parts
    case nil: break
    }
    if alpha == .item || alpha == .grid { link("auxl", items.count, [primary]) }
    if isPremultiplied { link("prem", primary, [items.count]) }
    if let thumbnail {
      items.append(try item(thumbnail, 0, 0, thumbnail.size.width, colours, [claim]))
      link("thmb", items.count, [primary])
    }
    return Self.file(items, primary: primary, links, brand: format == .avif ? "avif" : "heic")
  }

  private static func file(_ items: [Item], primary: Int, _ links: [UInt8], brand: String) -> [UInt8] {
    var properties: [[UInt8]] = []
    let entries = items.enumerated().flatMap { index, item in
      let all = item.essential.map { ($0, UInt8(0x80)) } + item.properties.map { ($0, 0) }
      return number(index + 1, 2) + [UInt8(all.count)]
        + all.map { box, flag in
          if !properties.contains(box) { properties.append(box) }
          return flag | UInt8((properties.firstIndex(of: box) ?? 0) + 1)
        }
    }
    let data = items.first(where: \.isInData)?.data ?? []
    func meta(_ start: Int) -> [UInt8] {
      var (places, position) = ([UInt8](), start)
      for (index, item) in items.enumerated() {
        places += number(index + 1, 2) + [0, item.isInData ? 1 : 0, 0, 0, 0, 1]
        places += number(item.isInData ? 0 : position, 4) + number(item.data.count, 4)
        if !item.isInData { position += item.data.count }
      }
      let kinds = items.enumerated().flatMap { index, item in
        fullBox("infe", version: 2, number(index + 1, 2), [0, 0], Array(item.kind.utf8), [0])
      }
      return fullBox(
        "meta", fullBox("hdlr", [0, 0, 0, 0], Array("pict".utf8), [UInt8](repeating: 0, count: 13)),
        fullBox("pitm", number(primary, 2)), fullBox("iinf", number(items.count, 2), kinds), fullBox("iref", links),
        box("iprp", box("ipco", properties.flatMap { $0 }), fullBox("ipma", number(items.count, 4), entries)),
        box("idat", data), fullBox("iloc", version: 1, [0x44, 0], number(items.count, 2), places))
    }
    let head = box("ftyp", Array(brand.utf8), [0, 0, 0, 0], Array("mif1".utf8), Array(brand.utf8))
    let start = head.count + meta(0).count + 8
    return head + meta(start) + box("mdat", items.filter { !$0.isInData }.flatMap(\.data))
  }

  /// A pixel's colours as they are stored.
  private func colours(_ pixel: [UInt8]) -> [UInt8] {
    guard isPremultiplied else { return Array(pixel.prefix(3)) }
    return pixel.prefix(3).map { UInt8((Int($0) * Int(pixel[3]) + 127) / 255) }
  }

  /// A square of a picture, or all of it if it is as wide, with these samples of each pixel.
  private func item(
    _ picture: TestPicture, _ column: Int, _ row: Int, _ side: Int, _ sample: ([UInt8]) -> [UInt8],
    _ properties: [[UInt8]]
  ) throws -> Item {
    let size = PixelSize(side, side == picture.size.width ? picture.size.height : side)
    let part = TestPicture(size.width, size.height) { x, y in
      let start = ((row * side + y) * picture.size.width + column * side + x) * picture.bands
      return sample(Array(picture.pixels[start..<start + picture.bands]))
    }
    let coded = try coded(part)
    return Item(
      kind: format == .avif ? "av01" : "hvc1", data: coded.data, essential: [coded.configuration],
      properties: [Self.extent(size)] + properties)
  }

  private func coded(_ part: TestPicture) throws -> (configuration: [UInt8], data: [UInt8]) {
    let options = format == .avif ? "compression=av1,effort=0,Q=80" : "compression=hevc,Q=80"
    let depth = bits > 8 ? ",bitdepth=\(bits)" : ""
    let file = try part.encoded("heifsave_buffer", options + depth, bits: bits > 8 ? 16 : 8, widens: bits > 8)
    let name = Array((format == .avif ? "av1C" : "hvcC").utf8)
    let place = try #require(file.indices.first { file[$0...].starts(with: name) })
    let length = file[place - 4..<place].reduce(0) { $0 << 8 | Int($1) }
    let container = try HEIFFile(.memory(file))
    let item = try container.item(container.items.primary)
    let data = try item.ranges(inFileOf: file.count).flatMap { file[$0] }
    return (Array(file[place - 4..<place - 4 + length]), data)
  }

  // MARK: Boxes

  static func number(_ value: Int, _ length: Int) -> [UInt8] {
    (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  static func box(_ kind: String, _ content: [UInt8]...) -> [UInt8] {
    let content = content.flatMap { $0 }
    return number(8 + content.count, 4) + Array(kind.utf8) + content
  }

  private static func fullBox(_ kind: String, version: UInt8 = 0, _ content: [UInt8]...) -> [UInt8] {
    box(kind, [version, 0, 0, 0], content.flatMap { $0 })
  }

  private static func extent(_ size: PixelSize) -> [UInt8] {
    fullBox("ispe", number(size.width, 4), number(size.height, 4))
  }
}
