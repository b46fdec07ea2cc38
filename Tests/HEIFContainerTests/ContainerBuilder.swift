import Foundation

@testable import HEIFContainer

/// Builds containers box by box.
enum ContainerBuilder {
  /// A big-endian number.
  static func number(_ value: Int, _ length: Int) -> [UInt8] {
    (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  static func box(_ kind: String, _ content: [UInt8]...) -> [UInt8] {
    let content = content.flatMap { $0 }
    return number(8 + content.count, 4) + Array(kind.utf8) + content
  }

  /// A box with a version and flags.
  static func fullBox(_ kind: String, version: Int = 0, flags: Int = 0, _ content: [UInt8]...) -> [UInt8] {
    box(kind, number(version, 1), number(flags, 3), content.flatMap { $0 })
  }

  static func extent(_ width: Int, _ height: Int) -> [UInt8] {
    fullBox("ispe", number(width, 4), number(height, 4))
  }

  /// The configuration of HEVC of 4:2:0 and 8 bits, with units of this length field and one parameter set.
  static func hevc(chroma: Int = 1, bits: Int = 8, set: [UInt8] = [0x42, 1]) -> [UInt8] {
    box(
      "hvcC", [UInt8](repeating: 0, count: 16), [UInt8(chroma), UInt8(bits - 8), UInt8(bits - 8), 0, 0, 3, 1, 0x21],
      number(1, 2), number(set.count, 2), set)
  }

  static func aperture(_ numbers: [Int]) -> [UInt8] { box("clap", numbers.flatMap { number($0, 4) }) }

  struct Item {
    var id: Int
    var kind = "hvc1"
    /// Its pieces, and whether they count from the start of `idat`.
    var pieces: [Range<Int>] = []
    var isInData = false
    /// The numbers of its properties, from 1; negative for essential ones.
    var properties: [Int] = []
  }

  /// The content of a `meta` box. Version 0 of `iloc` has no methods, and version 2 has longer numbers of items.
  static func meta(
    primary: Int = 1, _ items: [Item], properties: [[UInt8]], references: [(String, from: Int, to: [Int])] = [],
    data: [UInt8] = [], locationVersion version: Int = 1
  ) -> [UInt8] {
    let idBytes = version < 2 ? 2 : 4
    let kinds = items.map { fullBox("infe", version: 2, number($0.id, 2), number(0, 2), Array($0.kind.utf8), [0]) }
    let places = items.map { item in
      number(item.id, idBytes) + (version > 0 ? number(item.isInData ? 1 : 0, 2) : []) + number(0, 2)
        + number(item.pieces.count, 2)
        + item.pieces.flatMap { number($0.lowerBound, 4) + number($0.count, 4) }
    }
    let links = references.map { kind, from, targets in
      box(kind, number(from, 2), number(targets.count, 2), targets.flatMap { number($0, 2) })
    }
    let entries = items.map { item in
      number(item.id, 2) + number(item.properties.count, 1)
        + item.properties.flatMap { number(abs($0) | ($0 < 0 ? 0x80 : 0), 1) }
    }
    return [0, 0, 0, 0] + fullBox("pitm", number(primary, 2))
      + fullBox("iinf", number(items.count, 2), kinds.flatMap { $0 })
      + fullBox("iloc", version: version, [0x44, 0], number(items.count, idBytes), places.flatMap { $0 })
      + fullBox("iref", links.flatMap { $0 })
      + box(
        "iprp", box("ipco", properties.flatMap { $0 }), fullBox("ipma", number(items.count, 4), entries.flatMap { $0 })
      )
      + (data.isEmpty ? [] : box("idat", data))
  }

  /// As a phone writes it: two by two tiles of 512 pixels for an image of 1000 by 700, turned by 90 degrees, and a
  /// thumbnail. The content of the grid's item is in `idat`.
  static let phone = meta(
    primary: 5,
    (1...4).map { Item(id: $0, pieces: [1000 * $0..<1000 * $0 + 500], properties: [1, 2]) }
      + [
        Item(id: 5, kind: "grid", pieces: [0..<8], isInData: true, properties: [3, 4, 6]),
        Item(id: 6, pieces: [9000..<9100], properties: [1, 5, 4]),
      ],
    properties: [
      hevc(), extent(512, 512), extent(1000, 700), box("irot", [3]), extent(320, 224),
      box("colr", Array("nclx".utf8), number(12, 2), number(13, 2), number(6, 2), [0x80]),
    ],
    references: [("dimg", from: 5, to: [1, 2, 3, 4]), ("thmb", from: 6, to: [5])],
    data: [0, 0, 1, 1] + number(1000, 2) + number(700, 2))
  /// What the grid's item in `phone` holds.
  static let phoneGrid: [UInt8] = [0, 0, 1, 1] + number(1000, 2) + number(700, 2)
}
