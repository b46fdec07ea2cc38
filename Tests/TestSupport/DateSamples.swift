/// Files of a few hundred bytes that tell when they were made.
package enum DateSamples {
  package static func big(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  package static func little(_ number: Int, _ count: Int) -> [UInt8] { big(number, count).reversed() }

  // MARK: EXIF and XMP

  package static let original = 0x9003
  package static let created = 0x9004
  package static let fraction = 0x9291
  package static let zone = 0x9011

  /// A TIFF structure with texts in its EXIF directory, or in its first one.
  package static func tiff(_ texts: [Int: String], isBigEndian: Bool = false, inFirst: Bool = false, xmp: String? = nil)
    -> [UInt8]
  {
    func number(_ value: Int, _ count: Int) -> [UInt8] { isBigEndian ? big(value, count) : little(value, count) }
    func directory(_ fields: [(tag: Int, kind: Int, count: Int, value: Int)]) -> [UInt8] {
      var bytes = number(fields.count, 2)
      for field in fields {
        bytes += number(field.tag, 2) + number(field.kind, 2) + number(field.count, 4) + number(field.value, 4)
      }
      return bytes + number(0, 4)
    }
    let second = 8 + 2 + 12 + 4
    let begin = inFirst ? 8 : second
    var fields: [(tag: Int, kind: Int, value: [UInt8])] = []
    for (tag, text) in texts { fields.append((tag, 2, Array(text.utf8) + [0])) }
    if let xmp { fields.append((0x02BC, 1, Array(xmp.utf8))) }
    var place = begin + 2 + 12 * fields.count + 4
    var (values, entries): ([UInt8], [(tag: Int, kind: Int, count: Int, value: Int)]) = ([], [])
    for (tag, kind, value) in fields.sorted(by: { $0.0 < $1.0 }) {
      // What fits into a field stands in it.
      if value.count <= 4 {
        let padded = value + [UInt8](repeating: 0, count: 4 - value.count)
        entries.append(
          (tag, kind, value.count, (isBigEndian ? padded : padded.reversed()).reduce(0) { $0 << 8 | Int($1) }))
        continue
      }
      entries.append((tag, kind, value.count, place))
      values += value
      place += value.count
    }
    var bytes = isBigEndian ? Array("MM\0*".utf8) : Array("II*\0".utf8)
    bytes += number(8, 4)
    if !inFirst { bytes += directory([(0x8769, 4, 1, second)]) }
    return bytes + directory(entries) + values
  }

  package static func xmp(_ content: String) -> String {
    "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF><rdf:Description \(content)</rdf:RDF></x:xmpmeta>"
  }

  // MARK: Images

  package static func jpeg(_ segments: [(marker: UInt8, body: [UInt8])]) -> [UInt8] {
    var bytes: [UInt8] = [0xFF, 0xD8]
    for (marker, body) in segments { bytes += [0xFF, marker] + big(body.count + 2, 2) + body }
    return bytes + [0xFF, 0xDA, 0, 2, 0xFF, 0xD9]
  }

  package static func jpeg(exif: [UInt8]) -> [UInt8] { jpeg([(0xE1, Array("Exif\0\0".utf8) + exif)]) }

  package static func xmpSegment(_ text: String) -> (marker: UInt8, body: [UInt8]) {
    (0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(text.utf8))
  }

  package static func png(_ chunks: [(kind: String, body: [UInt8])]) -> [UInt8] {
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    for (kind, body) in chunks { bytes += big(body.count, 4) + Array(kind.utf8) + body + [0, 0, 0, 0] }
    return bytes
  }

  package static func webp(_ chunks: [(kind: String, body: [UInt8])]) -> [UInt8] {
    var all = Array("WEBP".utf8)
    for (kind, body) in chunks {
      all += Array(kind.utf8) + little(body.count, 4) + body
      if body.count % 2 == 1 { all.append(0) }
    }
    return Array("RIFF".utf8) + little(all.count, 4) + all
  }

  // MARK: Boxes

  package static func box(_ kind: String, _ body: [UInt8]) -> [UInt8] { box(Array(kind.utf8), body) }

  package static func box(_ kind: [UInt8], _ body: [UInt8]) -> [UInt8] { big(8 + body.count, 4) + kind + body }

  /// An image of one item, whose metadata follow in `mdat` behind `filler` bytes.
  package static func heif(brand: String, exif: [UInt8]? = nil, xmp: String? = nil, filler: Int = 0) -> [UInt8] {
    let begin = box("ftyp", Array("\(brand)\0\0\0\0\(brand)".utf8))
    var items: [(kind: String, body: [UInt8])] = [("hvc1", [0])]
    if let exif { items.append(("Exif", [0, 0, 0, 0] + exif)) }
    if let xmp { items.append(("mime", Array(xmp.utf8))) }
    func meta(_ start: Int) -> [UInt8] {
      var (kinds, references, places, place): ([UInt8], [UInt8], [UInt8], Int) = ([], [], [], start)
      for (index, item) in items.enumerated() {
        kinds += box("infe", [2, 0, 0, 0] + big(index + 1, 2) + [0, 0] + Array(item.kind.utf8) + [0])
        if index > 0 { references += box("cdsc", big(index + 1, 2) + big(1, 2) + big(1, 2)) }
        places += big(index + 1, 2) + [0, 0] + big(1, 2)
        places += big(place, 4) + big(item.body.count, 4)
        place += item.body.count
      }
      var tables: [UInt8] = [0, 0, 0, 0]
      tables += box("pitm", [0, 0, 0, 0] + big(1, 2))
      tables += box("iinf", [0, 0, 0, 0] + big(items.count, 2) + kinds)
      tables += box("iref", [0, 0, 0, 0] + references)
      tables += box("iloc", [0, 0, 0, 0, 0x44, 0] + big(items.count, 2) + places)
      return box("meta", tables)
    }
    let start = begin.count + meta(0).count + 8 + filler
    return begin + meta(start) + box("mdat", [UInt8](repeating: 0, count: filler) + items.flatMap(\.body))
  }

  /// A Canon RAW file of boxes.
  package static func cr3(exif: [UInt8], gps: [UInt8] = []) -> [UInt8] {
    let identifier: [UInt8] = [
      0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    let metadata = identifier + box("CMT1", tiff([:])) + box("CMT2", exif) + (gps.isEmpty ? [] : box("CMT4", gps))
    return box("ftyp", Array("crx \0\0\0\u{1}crx isom".utf8)) + box("moov", box("uuid", metadata))
  }
}
