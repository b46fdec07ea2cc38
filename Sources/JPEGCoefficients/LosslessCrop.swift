package import ThumbnailCore

/// Writes a part of a sequential JPEG as a file of its own, with the same coefficients, as `jpegtran -crop` does.
///
/// The codes of AC coefficients are copied. Those of DC coefficients are written anew, because the block before is a
/// different one. So every decoder makes the same samples of both files.
package struct LosslessCrop {
  /// Its upper left corner is that of an MCU, as is its lower right one, unless the image ends there.
  let area: PixelRectangle
  /// The file's relevant segments before the scan.
  private var head: [UInt8] = [0xFF, 0xD8]

  init(_ area: PixelRectangle) { self.area = area }

  /// The DC table of the new file: a code of five bits for each number of value bits.
  private static let codes: [UInt8] = [0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + (0...15).map { UInt8($0) }

  /// The most bytes of its coded data: more than in any photograph. A pixel of noise takes four bytes.
  package static func mostBytes(of area: PixelRectangle) -> Int { 65_536 + 2 * area.size.pixelCount }
  var mostBytes: Int { Self.mostBytes(of: area) }
  /// The most bytes that the segments before the scan may have, a profile among them.
  package static let longestHead = ProfileSegments.mostBytes + 1 << 20

  /// Adds a segment: the bytes after its length.
  ///
  /// - Throws: `.handedOver` if there are too many.
  mutating func add(_ marker: UInt8, _ bytes: SegmentBytes) throws(CodecError) {
    guard head.count + bytes.count <= Self.longestHead else { throw .handedOver(reason: "a header of many segments") }
    switch marker {
    // The new file has no restart markers.
    case 0xDD: return
    case 0xC0, 0xC1:
      var frame = bytes.array
      func put(_ length: Int, at index: Int) { frame.replaceSubrange(index..<index + 2, with: Self.big(length)) }
      put(area.rows.count, at: 1)
      put(area.columns.count, at: 3)
      // The factors of a component alone mean nothing, and its MCUs are single blocks.
      if frame[5] == 1 { frame[7] = 0x11 }
      append(marker, frame)
    default: append(marker, bytes.array)
    }
  }

  private mutating func append(_ marker: UInt8, _ bytes: [UInt8]) {
    head += [0xFF, marker] + Self.big(bytes.count + 2) + bytes
  }

  private static func big(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 255), UInt8(number & 255)] }

  /// The file, with the coded data of a scan with this header.
  func file(_ scan: SegmentBytes, data: [UInt8]) -> [UInt8] {
    var file = self
    file.append(0xC4, [0] + Self.codes)
    var header = scan.array
    for component in 0..<Int(header[0]) { header[2 + 2 * component] &= 15 }
    header.replaceSubrange((header.count - 3)..., with: [0, 63, 0])
    file.append(0xDA, header)
    var whole = file.head
    whole.reserveCapacity(whole.count + data.count + 2)
    whole += data
    whole += JPEGStructure.endMarker
    return whole
  }

  /// The MCUs of the area.
  func mcus(across: Int, down: Int) -> (columns: Range<Int>, rows: Range<Int>) {
    (
      area.columns.lowerBound / across..<(area.columns.upperBound + across - 1) / across,
      area.rows.lowerBound / down..<(area.rows.upperBound + down - 1) / down
    )
  }
}

/// Writes the coded data of a `LosslessCrop`.
final class ScanWriter {
  private(set) var bytes: [UInt8] = []
  /// Whether there are more bytes than allowed.
  var isTooLong: Bool { bytes.count > most }
  private let most: Int
  /// The bits that do not yet fill a byte, in the lowest places, and their number.
  private var bits: UInt64 = 0
  private var count = 0
  private var predictors = [0, 0, 0]

  init(most: Int) {
    self.most = most
    bytes.reserveCapacity(min(most, 1 << 20))
  }

  /// Adds a block: its DC coefficient, and the codes of its other coefficients, which begin at `start` and have
  /// `length` bits. False if the table has no code for a coefficient.
  func add(_ dc: Int, component: Int, from start: BitWindow, length: Int) -> Bool {
    let difference = dc &- predictors[component]
    predictors[component] = dc
    let size = Int.bitWidth - difference.magnitude.leadingZeroBitCount
    guard size <= 15 else { return false }
    let value = difference < 0 ? difference &+ (1 &<< size) &- 1 : difference
    put(UInt64(truncatingIfNeeded: size &<< size | value), 5 &+ size)
    copy(from: start, length: length)
    return true
  }

  /// Safety: it reads up to 8 bytes behind the bits; the entropy buffer is padded by more.
  private func copy(from start: BitWindow, length: Int) {
    let behind = Int(truncatingIfNeeded: start.count)
    var source = UnsafeRawPointer(start.next - (behind &+ 7) &>> 3)
    let shift = UInt64(truncatingIfNeeded: -behind & 7)
    var left = length
    while left > 0 {
      let word = UInt64(bigEndian: source.loadUnaligned(as: UInt64.self)) &<< shift
      let taken = min(left, 32)
      put(word &>> UInt64(truncatingIfNeeded: 64 &- taken), taken)
      source += 4
      left &-= taken
    }
  }

  /// Adds at most 32 bits.
  private func put(_ value: UInt64, _ length: Int) {
    var (bits, count) = (bits &<< UInt64(truncatingIfNeeded: length) | value, count &+ length)
    while count >= 8 {
      count &-= 8
      let byte = UInt8(truncatingIfNeeded: bits &>> UInt64(truncatingIfNeeded: count))
      bytes.append(byte)
      if byte == 0xFF { bytes.append(0) }
    }
    bits &= (1 &<< UInt64(truncatingIfNeeded: count)) &- 1
    (self.bits, self.count) = (bits, count)
  }

  /// Fills up the last byte.
  func finish() { if count > 0 { put((1 &<< UInt64(8 - count)) - 1, 8 - count) } }
}
