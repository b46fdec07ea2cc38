import JPEGCoefficients
import ThumbnailCore

/// Parses a JPEG's segments up to the first scan.
///
/// The frame header gives the size; the first scan shows whether all components are interleaved. The EXIF orientation
/// precedes both.
struct JPEGHeader: HeaderParser {
  private enum Awaiting {
    case sniffed
    case marker
    case exif
    case quantisers
    case frame(marker: Int)
    case scan
  }

  private(set) var draft: ImageProbe?
  private(set) var isSettled = false
  private(set) var run: SegmentRun?
  private var awaiting = Awaiting.sniffed
  private var position = 2
  private var nextSegment = 0
  private var orientation: Int?
  private var componentCount = 0
  /// The mean of each quantisation table's entries, by its slot, and the slot of the first component.
  private var quantisers: [Int: Double] = [:]
  private var firstSlot = 0
  private var segments = 0

  /// More than any encoder writes; bounds files of only empty segments.
  private static let maximumSegments = 100_000

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    switch awaiting {
    case .sniffed:
      return expectMarker(at: 2)
    case .marker:
      return try parseMarker(bytes)
    case .exif:
      // A truncated segment is detected at the next marker.
      if bytes.has("Exif\0\0") { run = nil }
      if bytes.has("Exif\0\0"), let exif = Exif(bytes, at: 6) {
        if orientation == nil { orientation = exif.orientation }
      }
      return expectMarker(at: nextSegment)
    case .quantisers:
      parseQuantisers(bytes)
      return expectMarker(at: nextSegment)
    case .frame(let marker):
      try parseFrame(bytes, marker: marker)
      return expectMarker(at: nextSegment)
    case .scan:
      guard let inScan = bytes[0] else { throw cutOff() }
      if inScan < componentCount { draft?.isProgressive = true }
      draft?.meanQuantiser = quantisers[firstSlot]
      isSettled = true
      return nil
    }
  }

  private mutating func expectMarker(at offset: Int) -> Range<Int> {
    awaiting = .marker
    position = offset
    return offset..<offset + 4
  }

  private mutating func parseMarker(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    segments += 1
    guard segments < Self.maximumSegments else { throw damaged("too many segments") }
    guard let prefix = bytes[0], let marker = bytes[1] else { throw cutOff() }
    // Stray bytes before a marker, and fill bytes, are skipped as libjpeg does.
    if prefix != 0xFF || marker == 0xFF || marker == 0 { return expectMarker(at: position + 1) }
    if marker == 0x01 || (0xD0...0xD8).contains(marker) { return expectMarker(at: position + 2) }
    if marker == 0xD9 { throw draft == nil ? damaged("no frame") : damaged("no scan") }
    guard let length = bytes.bigEndian(at: 2, count: 2) else { throw cutOff() }
    guard length >= 2 else { throw damaged("a segment of length \(length)") }
    let body = position + 4
    nextSegment = position + 2 + length
    run = SegmentRun(marker, position..<nextSegment, after: run)
    switch marker {
    case 0xE1 where length > 2 && orientation == nil:
      awaiting = .exif
      return body..<nextSegment
    case 0xDB where length > 2:
      awaiting = .quantisers
      return body..<nextSegment
    case 0xC3, 0xC5...0xC7, 0xCB, 0xCD...0xCF, 0xDE, 0xF7: throw .unsupported("a lossless or hierarchical JPEG")
    case 0xC0...0xC2, 0xC9, 0xCA:
      guard draft == nil, length >= 11 else { throw damaged("a second or too short frame header") }
      awaiting = .frame(marker: marker)
      return body..<nextSegment
    case 0xDA:
      guard draft != nil, length >= 3 else { throw damaged("a scan without a frame") }
      awaiting = .scan
      return body..<body + 1
    default:
      return expectMarker(at: nextSegment)
    }
  }

  /// Reads whole tables; the decoder checks the rest.
  private mutating func parseQuantisers(_ bytes: HeaderBytes) {
    var start = 0
    while let kind = bytes[start] {
      let entryBytes = kind >> 4 == 0 ? 1 : 2
      let sum = (0..<64).reduce(0) { $0 + (bytes.bigEndian(at: start + 1 + $1 * entryBytes, count: entryBytes) ?? 0) }
      quantisers[kind & 15] = Double(sum) / 64
      start += 1 + 64 * entryBytes
    }
  }

  private mutating func parseFrame(_ bytes: HeaderBytes, marker: Int) throws(CodecError) {
    guard let precision = bytes[0], let height = bytes.bigEndian(at: 1, count: 2),
      let width = bytes.bigEndian(at: 3, count: 2), let components = bytes[5], bytes.count >= 6 + 3 * components
    else { throw cutOff() }
    guard components > 0 else { throw damaged("no components") }
    guard components <= 4, precision == 8 else { throw .unsupported("a JPEG of \(components) times \(precision) bits") }
    guard height > 0 else { throw .unsupported("a JPEG whose header does not state its height") }
    var areas: [Int] = []
    var identifiers: [UInt8] = []
    var (widest, highest) = (1, 1)
    var (narrowest, lowest) = (4, 4)
    for index in 0..<components {
      guard let identifier = bytes[6 + 3 * index], let sampling = bytes[7 + 3 * index] else { throw cutOff() }
      identifiers.append(UInt8(identifier))
      if index == 0 { firstSlot = bytes[8] ?? 0 }
      let (across, down) = (sampling >> 4, sampling & 15)
      guard (1...4).contains(across), (1...4).contains(down) else { throw damaged("sampling factors") }
      areas.append(across * down)
      (widest, highest) = (max(widest, across), max(highest, down))
      (narrowest, lowest) = (min(narrowest, across), min(lowest, down))
    }
    componentCount = components
    var probe = ImageProbe(format: .jpeg, storedSize: PixelSize(width, height))
    probe.orientation = orientation ?? 1
    probe.frameCount = 1
    probe.isProgressive = marker == 0xC2 || marker == 0xCA
    probe.hasAlpha = false
    probe.channels = components
    let subsampling = max((widest + narrowest - 1) / narrowest, (highest + lowest - 1) / lowest)
    probe.jpeg = JPEGFrameTraits(
      process: JPEGProcess(marker: marker), components: identifiers,
      // Blocks have a power of two of samples across.
      subsampling: subsampling == 3 ? 4 : subsampling,
      mcu: components == 1 ? PixelSize(8, 8) : PixelSize(8 * widest, 8 * highest))
    probe.samplesPerPixel = Double(areas.reduce(0, +)) / Double(widest * highest)
    draft = probe
  }
}
