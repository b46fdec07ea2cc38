import Glibc
import ThumbnailCore

/// Follows the scans of a progressive JPEG while its bytes arrive, and records the length that is sufficient for each
/// scale.
///
/// It parses segments as the coefficient decoder does and skips coded data with `memchr`: a microsecond for 16 KiB. It
/// buffers at most a kilobyte, and stops if the file is not a progressive JPEG.
package struct ScanWatcher: Sendable {
  /// The parser's state: the meaning of the next byte.
  private enum Place {
    /// The first or second byte of the file.
    case start
    /// Part of a segment's length or of a header, buffered until it has `wanted` bytes.
    case part(Part, wanted: Int)
    /// Part of an ignored segment, with this many bytes left.
    case passed(Int)
    /// Anything before a marker's 0xFF: coded data, or stray bytes, which libjpeg skips too.
    case gap
    /// The byte after an 0xFF.
    case marker
    /// Irrelevant: parsing has ended.
    case done
  }

  private enum Part {
    case length(marker: UInt8)
    case frame
    case quantisers
    case scan
  }

  /// Frame and scan headers that name at most four components are no longer than this, in bytes.
  private static let longestHeader = 20
  /// Twice four quantisation tables of 64 numbers of 16 bits.
  private static let longestTables = 8 * 129
  /// More than any encoder writes.
  private static let mostSegments = 100_000

  private var place = Place.start
  private var held: [UInt8] = []
  private var position = 0
  private var segments = 0
  private var scans = 0
  private var tables = QuantiserTables()
  private var coverages: [JPEGScale: ScanCoverage] = [:]
  /// The scan whose coded data is passing.
  private var scan: JPEGScan?
  private var lengths: [JPEGScale: Int] = [:]

  /// The length in bytes of the shortest prefix of the body that is sufficient for the scale: up to and including the
  /// marker after the last scan that is needed. Nil until that has arrived.
  package func sufficientLength(for scale: JPEGScale) -> Int? { lengths[scale] }

  /// The finest scale that the body so far is sufficient for.
  package var finestScale: JPEGScale? { lengths.keys.max() }

  package init() {}

  /// Consumes the next bytes of the body, in order.
  package mutating func feed(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    while let first = rest.first {
      let taken: Int
      switch place {
      case .done:
        return
      case .gap:
        taken = Self.distanceBehindPrefix(in: rest) ?? rest.count
        if rest[rest.startIndex + taken - 1] == 0xFF { place = .marker }
      case .passed(let count):
        taken = min(count, rest.count)
        place = taken < count ? .passed(count - taken) : .gap
      case .part(let part, let wanted):
        taken = min(wanted - held.count, rest.count)
        held.append(contentsOf: rest.prefix(taken))
        if held.count == wanted { finish(part) }
      case .start:
        taken = 1
        takeStart(first)
      case .marker:
        taken = 1
        takeMarker(first, end: position + 1)
      }
      position += taken
      rest = rest.dropFirst(taken)
    }
  }

  /// The number of bytes up to and including the first 0xFF.
  private static func distanceBehindPrefix(in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
    guard let base = UnsafeRawBufferPointer(rebasing: bytes).baseAddress, let found = memchr(base, 0xFF, bytes.count)
    else { return nil }
    return UnsafeRawPointer(found) - base + 1
  }

  private mutating func takeStart(_ byte: UInt8) {
    held.append(byte)
    if held.count == 2 {
      place = held == [0xFF, 0xD8] ? .gap : .done
      held.removeAll()
    }
  }

  /// Handles the byte after an 0xFF; `end` is the offset after it.
  private mutating func takeMarker(_ marker: UInt8, end: Int) {
    switch marker {
    case 0xFF: return
    // Stuffing and restart markers do not end a scan.
    case 0, 0xD0...0xD7: place = .gap
    default:
      endScan(at: end)
      // `endScan` ends parsing once every scale is sufficient.
      if case .done = place { return }
      segments += 1
      if marker == 0x01 {
        place = .gap
      } else if marker == 0xD8 || marker == 0xD9 || segments > Self.mostSegments {
        place = .done
      } else {
        place = .part(.length(marker: marker), wanted: 2)
      }
    }
  }

  private mutating func endScan(at end: Int) {
    guard let ended = scan else { return }
    scan = nil
    for scale in JPEGScale.reduced {
      let isSkipped = coverages[scale]?.needs(ended) != true
      coverages[scale]?.add(ended, tables: tables, isSkipped: isSkipped)
      if lengths[scale] == nil && coverages[scale]?.isEnough == true { lengths[scale] = end }
    }
    if lengths.count == JPEGScale.reduced.count { place = .done }
  }

  private mutating func finish(_ part: Part) {
    let bytes = SegmentBytes(held)
    held.removeAll(keepingCapacity: true)
    switch part {
    case .length(let marker): takeLength(bytes.bigEndian(at: 0, count: 2) ?? 0, of: marker)
    case .frame: takeFrame(bytes)
    case .quantisers: takeQuantisers(bytes)
    case .scan: takeScan(bytes)
    }
  }

  private mutating func takeLength(_ length: Int, of marker: UInt8) {
    let contents = length - 2
    switch marker {
    case 0xC2 where (1...Self.longestHeader).contains(contents): place = .part(.frame, wanted: contents)
    case 0xDA where (1...Self.longestHeader).contains(contents): place = .part(.scan, wanted: contents)
    case 0xDB where (1...Self.longestTables).contains(contents): place = .part(.quantisers, wanted: contents)
    // Frames of other coding processes, and invalid headers.
    case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF, 0xDA, 0xDB: place = .done
    default: place = contents < 0 ? .done : contents == 0 ? .gap : .passed(contents)
    }
  }

  private mutating func takeFrame(_ bytes: SegmentBytes) {
    guard coverages.isEmpty, let frame = try? JPEGFrame(bytes, marker: 0xC2) else {
      place = .done
      return
    }
    for scale in JPEGScale.reduced { coverages[scale] = ScanCoverage(frame, scale: scale) }
    place = .gap
  }

  private mutating func takeQuantisers(_ bytes: SegmentBytes) {
    do throws(CodecError) {
      try tables.read(bytes)
      place = .gap
    } catch {
      place = .done
    }
  }

  private mutating func takeScan(_ bytes: SegmentBytes) {
    scans += 1
    guard !coverages.isEmpty, scans <= JPEGStructure.mostScans, let header = JPEGScan(bytes) else {
      place = .done
      return
    }
    scan = header
    place = .gap
  }
}
