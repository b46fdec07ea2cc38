// The module HEIFContainer: reads the table of contents of HEIC and AVIF files. It depends on nothing.

package import ThumbnailCore

/// A HEIF file's table of contents, from its `meta` box (ISO/IEC 23008-12 and 14496-12).
///
/// Nothing in it is trusted: ranges are checked against their containers, counts have limits, boxes nest three deep.
package struct HEIFItems: Sendable {
  /// The most items, properties and references; an image of 200 megapixels has 800 tiles.
  static let mostItems = 1 << 14
  private static let mostReferences = 1 << 16

  /// The item that the file shows.
  package let primary: UInt32
  private var items: [UInt32: HEIFItem] = [:]

  /// Parses the content of the box `meta`, which lies at `offset` in the file.
  package init(meta: [UInt8], at offset: Int) throws(CodecError) {
    var cursor = BoxCursor(meta)
    _ = try cursor.versionAndFlags()
    let boxes = try cursor.boxes()
    func content(_ kind: FourCC) -> BoxCursor? { boxes.first { $0.kind == kind }?.content }
    guard var first = content("pitm") else { throw .damaged(.header, detail: "no primary picture") }
    primary = UInt32(truncatingIfNeeded: try first.number(try first.versionAndFlags().version == 0 ? 2 : 4))
    if let table = content("iinf") { try readKinds(table) }
    if let table = content("iloc") {
      let itemData = content("idat").map { offset + $0.rest.lowerBound..<offset + $0.rest.upperBound }
      for (id, ranges) in try ItemLocations(table, itemData: itemData).ranges { self[id].ranges = ranges }
    }
    if let table = content("iref") { try readReferences(table) }
    if let table = content("iprp") { try readProperties(table) }
    guard items.count <= Self.mostItems else { throw .damaged(.header, detail: "too many items") }
  }

  private subscript(id: UInt32) -> HEIFItem {
    get { items[id] ?? HEIFItem(id: id) }
    set { items[id] = newValue }
  }

  /// The item of this number; nil if there is none.
  package func item(_ id: UInt32) -> HEIFItem? { items[id] }

  /// The items with this kind of reference to this one, in the order of their numbers: `thmb` for its thumbnails,
  /// `auxl` for its alpha and depth.
  package func items(_ kind: FourCC, to id: UInt32) -> [HEIFItem] {
    items.values.filter { $0.references[kind]?.contains(id) == true }.sorted { $0.id < $1.id }
  }

  private mutating func readKinds(_ table: BoxCursor) throws(CodecError) {
    var table = table
    let version = try table.versionAndFlags().version
    let count = try table.number(version == 0 ? 2 : 4)
    guard count <= Self.mostItems else { throw .damaged(.header, detail: "too many items") }
    for _ in 0..<count {
      guard var (_, entry) = try table.box() else { throw .truncated(detail: "in the list of items") }
      let version = try entry.versionAndFlags().version
      // Older entries name no kinds, and no image has them.
      guard version == 2 || version == 3 else { continue }
      let id = UInt32(truncatingIfNeeded: try entry.number(version == 2 ? 2 : 4))
      // Protected items are encrypted.
      let isProtected = try entry.number(2) != 0
      let kind = try entry.fourCC()
      self[id].kind = isProtected ? "encv" : kind
    }
  }

  private mutating func readReferences(_ table: BoxCursor) throws(CodecError) {
    var table = table
    let idBytes = try table.versionAndFlags().version == 0 ? 2 : 4
    var total = 0
    for (kind, content) in try table.boxes() {
      var content = content
      let from = UInt32(truncatingIfNeeded: try content.number(idBytes))
      let count = try content.number(2)
      total += count
      guard total <= Self.mostReferences else { throw .damaged(.header, detail: "too many references") }
      var targets: [UInt32] = []
      for _ in 0..<count { targets.append(UInt32(truncatingIfNeeded: try content.number(idBytes))) }
      self[from].references[kind, default: []] += targets
    }
  }

  private mutating func readProperties(_ table: BoxCursor) throws(CodecError) {
    let sections = try table.boxes()
    var values: [HEIFProperty.Value] = []
    for (kind, content) in try sections.first(where: { $0.kind == "ipco" })?.content.boxes() ?? [] {
      // A property that cannot be read concerns only the items that have it.
      values.append((try? HEIFProperty.Value(kind, content)) ?? .other(kind))
    }
    var total = 0
    for (kind, content) in sections where kind == "ipma" {
      var content = content
      let (version, flags) = try content.versionAndFlags()
      let entries = try content.number(4)
      guard entries <= Self.mostItems else { throw .damaged(.header, detail: "too many items") }
      for _ in 0..<entries {
        let id = UInt32(truncatingIfNeeded: try content.number(version < 1 ? 2 : 4))
        let count = try content.number(1)
        total += count
        guard total <= Self.mostReferences else { throw .damaged(.header, detail: "too many properties") }
        for _ in 0..<count {
          let length = flags & 1 == 1 ? 2 : 1
          let entry = try content.number(length)
          let essential = 0x80 << (8 * (length - 1))
          let index = entry & (essential - 1)
          guard index > 0 else { continue }
          guard index <= values.count else { throw .damaged(.header, detail: "a property that is missing") }
          self[id].properties.append(
            HEIFProperty(value: values[index - 1], isEssential: entry & essential != 0))
        }
      }
    }
  }
}
