/// A RAW file as a camera of a maker writes it, by the maker's published layout, around JPEGs of the caller.
package struct RAWSample: Sendable {
  /// The JPEGs to embed; each maker takes those that its cameras have.
  package struct Previews: Sendable {
    package var thumbnail: [UInt8]
    package var preview: [UInt8]
    package var full: [UInt8]

    package init(thumbnail: [UInt8], preview: [UInt8], full: [UInt8]) {
      (self.thumbnail, self.preview, self.full) = (thumbnail, preview, full)
    }
  }

  /// The maker's extension, as `RAWFormat` names the format.
  package var name: String
  package var bytes: [UInt8]
  /// The ranges of the JPEGs in it, in their order.
  package var images: [Range<Int>]

  /// The length of the sensor's samples, which are nothing but a pattern.
  package static let defaultSensorLength = 20_000

  private static func sensor(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) } }

  /// A file of a kind; see `kinds`.
  package init(_ kind: String, _ previews: Previews, orientation: Int = 1, sensorLength: Int = defaultSensorLength) {
    let sensor = Self.sensor(sensorLength)
    name = kind
    switch kind {
    case "CR3": (bytes, images) = Self.cr3(previews, orientation, sensor)
    case "RAF": (bytes, images) = Self.raf(previews, orientation, sensor)
    case "MRW": (bytes, images) = Self.mrw(previews, orientation, sensor)
    default: (bytes, images) = Self.tiff(kind, previews, orientation, sensor)
    }
  }

  /// All kinds that can be written.
  package static let kinds = [
    "CR2", "CR3", "NEF", "ARW", "DNG", "RAF", "ORF", "ORF-OLD", "RW2", "PEF", "SRW", "MRW", "3FR", "IIQ", "ERF",
  ]

  // MARK: TIFF/EP

  private static func tiff(
    _ kind: String, _ previews: Previews, _ orientation: Int, _ sensor: [UInt8]
  ) -> ([UInt8], [Range<Int>]) {
    var file: TIFFWriter
    var blocks: [(String, [UInt8])] = []
    func jpeg(_ name: String, _ content: [UInt8]) -> TIFFWriter.Directory {
      blocks.append((name, content))
      return [(0x0103, .short([6])), (0x0201, .start(of: name)), (0x0202, .length(of: name))]
    }
    func strip(_ name: String, _ content: [UInt8], _ compression: Int = 7) -> TIFFWriter.Directory {
      blocks.append((name, content))
      return [(0x0103, .short([compression])), (0x0111, .start(of: name)), (0x0117, .length(of: name))]
    }
    let raw: TIFFWriter.Directory = [
      (0x00FE, .long([0])), (0x0100, .long([6000])), (0x0101, .long([4000])), (0x0103, .short([34713])),
      (0x0106, .short([32803])), (0x0111, .start(of: "sensor")), (0x0117, .length(of: "sensor")),
    ]
    func head(_ make: String) -> TIFFWriter.Directory {
      [(0x010F, .text(make)), (0x0110, .text("\(make) of a test")), (0x0112, .short([orientation]))]
    }
    func exif(_ notes: TIFFWriter.Value) -> TIFFWriter.Directory {
      [(0x8769, .directories([[(0x9000, .bytes(Array("0230".utf8))), (0x927C, notes)]]))]
    }
    switch kind {
    case "CR2":
      file = TIFFWriter(signature: Array("CR\u{2}\0".utf8) + [0, 0, 0, 0])
      let notes = TIFFWriter.Value.notes(header: [], [(0x0013, .short([0, 159, 7, 112]))], origin: nil)
      file.write(chain: [
        strip("full", previews.full, 6) + head("Canon") + exif(notes), jpeg("thumbnail", previews.thumbnail),
        [(0x0103, .short([6])), (0x0111, .start(of: "sensor")), (0x0117, .length(of: "sensor"))], raw,
      ])
    case "NEF":
      file = TIFFWriter(isBigEndian: true)
      let structure: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8]
      let notes = TIFFWriter.Value.notes(
        header: Array("Nikon\0\u{2}\u{10}\0\0".utf8) + structure,
        [(0x0001, .text("0210")), (0x0011, .directories([jpeg("preview", previews.preview)]))], origin: 10)
      file.write(chain: [
        [(0x00FE, .long([1])), (0x0103, .short([1]))] + head("NIKON CORPORATION")
          + [(0x014A, .directories([jpeg("full", previews.full), raw]))] + exif(notes)
      ])
    case "ARW":
      file = TIFFWriter()
      file.write(chain: [
        jpeg("preview", previews.preview) + head("SONY") + [(0x014A, .directories([raw]))],
        jpeg("thumbnail", previews.thumbnail), jpeg("full", previews.full),
      ])
    case "DNG":
      file = TIFFWriter()
      file.write(chain: [
        strip("thumbnail", previews.thumbnail) + head("Maker") + [
          (0x014A, .directories([raw, strip("preview", previews.preview), strip("full", previews.full)])),
          (0xC612, .bytes([1, 4, 0, 0])),
        ]
      ])
    case "ORF", "ORF-OLD":
      file = TIFFWriter(magic: 0x4F52)
      let settings: TIFFWriter.Directory = [
        (0x0100, .long([1])), (0x0101, .start(of: "preview")), (0x0102, .length(of: "preview")),
      ]
      blocks.append(("thumbnail", previews.thumbnail))
      blocks.append(("preview", previews.preview))
      let header = kind == "ORF" ? Array("OLYMPUS\0II\u{3}\0".utf8) : Array("OLYMP\0\u{1}\0".utf8)
      let notes = TIFFWriter.Value.notes(
        header: header, [(0x0100, .block("thumbnail")), (0x2020, .directories([settings]))],
        origin: kind == "ORF" ? 0 : nil)
      file.write(chain: [raw + head("OLYMPUS CORPORATION") + exif(notes)])
    case "RW2":
      file = TIFFWriter(magic: 0x55)
      let jpeg = withExif(previews.full, orientation: orientation, thumbnail: previews.thumbnail)
      blocks.append(("full", jpeg))
      file.write(chain: [
        [(0x002E, .block("full"))] + head("Panasonic")
          + [(0x0111, .start(of: "sensor")), (0x0117, .long([0xFFFF_FFFF]))]
      ])
    case "PEF":
      file = TIFFWriter(isBigEndian: true)
      blocks.append(("preview", previews.preview))
      let notes = TIFFWriter.Value.notes(
        header: Array("AOC\0MM".utf8),
        [(0x0002, .short([640, 480])), (0x0003, .length(of: "preview")), (0x0004, .start(of: "preview"))], origin: nil)
      file.write(chain: [
        raw + head("PENTAX") + exif(notes), jpeg("thumbnail", previews.thumbnail), jpeg("full", previews.full),
      ])
    case "SRW":
      file = TIFFWriter()
      let notes = TIFFWriter.Value.notes(
        header: [],
        [(0x0001, .bytes(Array("0100".utf8))), (0x0035, .directories([jpeg("preview", previews.preview)]))],
        origin: nil)
      file.write(chain: [
        [(0x00FE, .long([1])), (0x0103, .short([1]))] + head("SAMSUNG")
          + [(0x014A, .directories([jpeg("full", previews.full), raw]))] + exif(notes)
      ])
    case "ERF":
      file = TIFFWriter(isBigEndian: true)
      blocks.append(("preview", previews.preview))
      let notes = TIFFWriter.Value.notes(
        header: Array("EPSON\0\u{1}\0".utf8), [(0x0280, .block("preview"))], origin: nil)
      file.write(chain: [
        [(0x0103, .short([1]))] + head("SEIKO EPSON CORP.") + [(0x014A, .directories([raw]))] + exif(notes)
      ])
    default:
      file = kind == "IIQ" ? TIFFWriter(signature: Array("IIII".utf8)) : TIFFWriter(isBigEndian: true)
      let make = kind == "IIQ" ? "Phase One A/S" : "Hasselblad"
      file.write(chain: [
        [(0x0103, .short([1]))] + head(make) + [(0x014A, .directories([raw]))], jpeg("full", previews.full),
      ])
    }
    for (name, content) in blocks { file.add(block: name, content) }
    file.add(block: "sensor", sensor)
    var images = blocks.compactMap { file.blocks[$0.0] }
    if kind == "RW2", let jpeg = images.first {
      let start = jpeg.lowerBound + exifThumbnailStart
      images.append(start..<start + previews.thumbnail.count)
    }
    return (file.bytes, images.sorted { $0.lowerBound < $1.lowerBound })
  }

  // MARK: Headers of their own

  private static func raf(_ previews: Previews, _ orientation: Int, _ sensor: [UInt8]) -> ([UInt8], [Range<Int>]) {
    let jpeg = withExif(previews.full, orientation: orientation, thumbnail: previews.thumbnail)
    var bytes = Array("FUJIFILMCCD-RAW 0201FF123456".utf8)
    bytes += [UInt8](repeating: 0, count: 84 - bytes.count)
    bytes += big(148) + big(jpeg.count) + big(148 + jpeg.count) + big(16) + big(164 + jpeg.count) + big(sensor.count)
    bytes += [UInt8](repeating: 0, count: 148 - bytes.count)
    bytes += jpeg + [UInt8](repeating: 0, count: 16) + sensor
    let thumbnail = 148 + exifThumbnailStart
    return (bytes, [148..<148 + jpeg.count, thumbnail..<thumbnail + previews.thumbnail.count])
  }

  /// Where the thumbnail of `withExif` begins.
  private static let exifThumbnailStart = 2 + 4 + 6 + 68

  /// A JPEG with EXIF data: an orientation and a thumbnail.
  private static func withExif(_ jpeg: [UInt8], orientation: Int, thumbnail: [UInt8]) -> [UInt8] {
    var exif = TIFFWriter()
    exif.write(chain: [
      [(0x0112, .short([orientation]))],
      [(0x0103, .short([6])), (0x0201, .start(of: "thumbnail")), (0x0202, .length(of: "thumbnail"))],
    ])
    exif.add(block: "thumbnail", thumbnail)
    let segment = Array("Exif\0\0".utf8) + exif.bytes
    let length = segment.count + 2
    return [0xFF, 0xD8, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + segment + jpeg.dropFirst(2)
  }

  private static func mrw(_ previews: Previews, _ orientation: Int, _ sensor: [UInt8]) -> ([UInt8], [Range<Int>]) {
    let start = 8 + 8 + 24 + 8
    var tiff = TIFFWriter(isBigEndian: true)
    let notes = TIFFWriter.Value.notes(
      header: [], [(0x0088, .start(of: "preview")), (0x0089, .length(of: "preview"))], origin: nil)
    tiff.write(chain: [
      [
        (0x0106, .short([32803])), (0x010F, .text("Minolta Co., Ltd.")), (0x0112, .short([orientation])),
        (0x8769, .directories([[(0x927C, notes)]])),
      ]
    ])
    // The cameras overwrite the first byte.
    tiff.add(block: "preview", [0x02] + previews.preview.dropFirst())
    let blocks =
      Array("\0PRD".utf8) + big(24) + [UInt8](repeating: 0, count: 24) + Array("\0TTW".utf8) + big(tiff.bytes.count)
      + tiff.bytes
    let range = tiff.blocks["preview"] ?? 0..<0
    return (
      Array("\0MRM".utf8) + big(blocks.count) + blocks + sensor, [range.lowerBound + start..<range.upperBound + start]
    )
  }

  private static func big(_ number: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
  }

  // MARK: CR3

  private static func box(_ kind: String, _ content: [UInt8]) -> [UInt8] {
    big(content.count + 8) + Array(kind.utf8) + content
  }

  private static func cr3(_ previews: Previews, _ orientation: Int, _ sensor: [UInt8]) -> ([UInt8], [Range<Int>]) {
    var first = TIFFWriter()
    first.write(chain: [[(0x010F, .text("Canon")), (0x0112, .short([orientation]))]])
    var notes = TIFFWriter()
    notes.write(chain: [[(0x0013, .short([0, 159, 6, 113]))]])
    let metadata: [UInt8] = [
      0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    let preview: [UInt8] = [
      0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
    ]
    let ftyp = box("ftyp", Array("crx \0\0\0\u{1}crx isom".utf8))
    let thumbnail = box(
      "THMB",
      big(0) + big(160, 2) + big(120, 2) + big(previews.thumbnail.count) + big(1, 2) + big(0, 2)
        + previews.thumbnail)
    func movie(fullStart: Int) -> [UInt8] {
      func track(_ codec: String, start: Int, length: Int) -> [UInt8] {
        let entry = box("CRAW", [UInt8](repeating: 0, count: 82) + box(codec, [0, 0, 0, 0]))
        let tables =
          box("stsd", big(0) + big(1) + entry) + box("stsz", big(0) + big(length) + big(1))
          + box("co64", big(0) + big(1) + big(start, 8))
        return box("trak", box("tkhd", big(0)) + box("mdia", box("mdhd", big(0)) + box("minf", box("stbl", tables))))
      }
      let canon =
        metadata + box("CNCV", Array("CanonCR3_001/00.09.00/00.00.00".utf8)) + box("CMT1", first.bytes)
        + box("CMT3", notes.bytes) + thumbnail
      return box(
        "moov",
        box("uuid", canon) + box("mvhd", big(0)) + track("JPEG", start: fullStart, length: previews.full.count)
          + track("CMP1", start: fullStart + previews.full.count, length: sensor.count))
    }
    let prvw = box(
      "PRVW",
      big(0) + big(1, 2) + big(1620, 2) + big(1080, 2) + big(1, 2) + big(previews.preview.count)
        + previews.preview)
    let uuid = box("uuid", preview + big(0) + big(1) + box("free", [0]) + prvw)
    let length = movie(fullStart: 0).count
    let fullStart = ftyp.count + length + uuid.count + 16
    let content = previews.full + sensor
    let bytes =
      ftyp + movie(fullStart: fullStart) + uuid + big(1) + Array("mdat".utf8) + big(content.count + 16, 8) + content
    let previewEnd = ftyp.count + length + uuid.count
    // The thumbnail is the last of Canon's metadata, before the box of the movie's header.
    let thumbnailEnd =
      ftyp.count + 8 + 8 + metadata.count + 38 + 8 + first.bytes.count + 8 + notes.bytes.count
      + thumbnail.count
    return (
      bytes,
      [
        thumbnailEnd - previews.thumbnail.count..<thumbnailEnd, previewEnd - previews.preview.count..<previewEnd,
        fullStart..<fullStart + previews.full.count,
      ]
    )
  }
}
