@testable import ThumbnailCore

/// A JPEG written by the test, coefficient by coefficient, so that what a reader should find is known.
///
/// Its Huffman tables have all symbols, of codes of one length: short ones by default, or 16 bits.
struct TestJPEG: Sendable {
  struct Component: Sendable {
    var identifier: UInt8
    var across = 1
    var down = 1
    var table = 0
  }

  struct Scan: Sendable {
    var components: [Int]
    var positions = 0...63
    /// The bit position that the scan is exact to; progressive files only.
    var bit = 0
  }

  /// Luma, of which there are so many samples for each of chroma, and two of chroma.
  static func colours(_ across: Int = 1, _ down: Int = 1) -> [Component] {
    [Component(identifier: 1, across: across, down: down), Component(identifier: 2), Component(identifier: 3)]
  }

  var size: PixelSize
  var components = [Component(identifier: 1)]
  var isProgressive = false
  /// The frame header's marker, if it is to be another than the process has.
  var frameMarker: UInt8?
  var precision: UInt8 = 8
  var scans: [Scan] = []
  /// For each table the quantisers in zigzag order; the last counts for all that follow.
  var quantisers: [[Int]] = [[3, 2, 2, 1, 2, 1]]
  var hasWideQuantisers = false
  var restartInterval = 0
  var hasLongCodes = false
  /// Bytes between the start of the file and its first table, before the first scan, and before every later one.
  var atStart: [UInt8] = []
  var beforeScan: [UInt8] = []
  var betweenScans: [UInt8] = []
  /// Bytes between the last code of a scan and the marker that follows.
  var atScanEnd: [UInt8] = []
  /// What each block has at a zigzag position: by component, block across, block down, position.
  var coefficient: @Sendable (_ component: Int, _ x: Int, _ y: Int, _ position: Int) -> Int = {
    component, x, y, position in
    switch position {
    case 0: (x * 37 + y * 53 + component * 11) % 401 - 200
    case 1, 2, 3, 4, 5: (x * 5 + y * 3 + position * 7 + component) % 9 - 4
    case 6...20: (x + y + position) % 5 == 0 ? position - 13 : 0
    case 63: (x + y) % 7 == 0 ? 1 : 0
    default: (x * 31 + y * 17 + position) % 97 == 0 ? -2 : 0
    }
  }

  var mostAcross: Int { components.map { $0.across }.max() ?? 1 }
  var mostDown: Int { components.map { $0.down }.max() ?? 1 }

  func quantiser(_ table: Int, _ position: Int) -> Int {
    let table = quantisers[min(table, quantisers.count - 1)]
    return table[min(position, table.count - 1)]
  }

  /// The blocks that hold a component's samples.
  func blocks(_ component: Int) -> PixelSize {
    let (across, down) = (components[component].across, components[component].down)
    return PixelSize(
      (size.width * across + 8 * mostAcross - 1) / (8 * mostAcross),
      (size.height * down + 8 * mostDown - 1) / (8 * mostDown))
  }

  // MARK: - Writing

  /// The file.
  func bytes() -> [UInt8] {
    var file: [UInt8] = [0xFF, 0xD8] + atStart
    for table in Set(components.map { $0.table }).sorted() {
      let values = (0..<64).map { quantiser(table, $0) }
      let coded = hasWideQuantisers ? values.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } : values.map { UInt8($0) }
      file += Self.segment(0xDB, [UInt8(table) | (hasWideQuantisers ? 0x10 : 0)] + coded)
    }
    var frame: [UInt8] = [
      precision, UInt8(size.height >> 8), UInt8(size.height & 255), UInt8(size.width >> 8), UInt8(size.width & 255),
      UInt8(components.count),
    ]
    for component in components {
      frame += [component.identifier, UInt8(component.across << 4 | component.down), UInt8(component.table)]
    }
    file += Self.segment(frameMarker ?? (isProgressive ? 0xC2 : 0xC0), frame)
    file += huffmanSegment()
    if restartInterval > 0 {
      file += Self.segment(0xDD, [UInt8(restartInterval >> 8), UInt8(restartInterval & 255)])
    }
    file += beforeScan
    for (index, scan) in allScans.enumerated() {
      if index > 0 { file += betweenScans }
      var header = [UInt8(scan.components.count)]
      for component in scan.components { header += [components[component].identifier, 0] }
      let positions = isProgressive ? scan.positions : 0...63
      header += [UInt8(positions.lowerBound), UInt8(positions.upperBound), UInt8(scan.bit)]
      file += Self.segment(0xDA, header) + code(scan) + atScanEnd
    }
    return file + [0xFF, 0xD9]
  }

  var allScans: [Scan] { scans.isEmpty ? [Scan(components: Array(components.indices))] : scans }

  static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let length = payload.count + 2
    return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + payload
  }

  /// A symbol's code: its value, in as many bits as all codes have.
  private var dcBits: Int { hasLongCodes ? 16 : 5 }
  private var acBits: Int { hasLongCodes ? 15 : 9 }

  private func huffmanSegment() -> [UInt8] {
    func table(_ head: UInt8, _ bits: Int, _ symbols: [UInt8]) -> [UInt8] {
      var counts = [UInt8](repeating: 0, count: 16)
      counts[bits - 1] = UInt8(symbols.count)
      return [head] + counts + symbols
    }
    // All ones is no code, so there is no symbol 255.
    return Self.segment(0xC4, table(0x00, dcBits, Array(0..<16)) + table(0x10, acBits, Array(0..<255)))
  }

  /// The coded data of a scan, in the order that the standard asks for.
  private func code(_ scan: Scan) -> [UInt8] {
    var writer = BitWriter()
    var predictors: [Int: Int] = [:]
    var ended = 0
    func endRun() {
      guard ended > 0 else { return }
      let size = Int.bitWidth - 1 - ended.leadingZeroBitCount
      writer.put(size << 4, acBits)
      writer.put(ended - (1 << size), size)
      ended = 0
    }
    func block(_ component: Int, _ x: Int, _ y: Int) {
      // What lies beyond the picture repeats its last block.
      let last = blocks(component)
      func value(_ position: Int) -> Int {
        let value = coefficient(component, min(x, last.width - 1), min(y, last.height - 1), position)
        if position == 0 { return value >> scan.bit }
        return value < 0 ? -(-value >> scan.bit) : value >> scan.bit
      }
      var positions = isProgressive ? scan.positions : 0...63
      if positions.lowerBound == 0 {
        let difference = value(0) - predictors[component, default: 0]
        predictors[component] = value(0)
        writer.put(Self.size(difference), dcBits)
        writer.putValue(difference)
        if positions.upperBound == 0 { return }
        positions = 1...63
      }
      var zeros = 0
      for position in positions {
        let value = value(position)
        if value == 0 {
          zeros += 1
          continue
        }
        endRun()
        while zeros > 15 {
          writer.put(0xF0, acBits)
          zeros -= 16
        }
        writer.put(zeros << 4 | Self.size(value), acBits)
        writer.putValue(value)
        zeros = 0
      }
      guard zeros > 0 else { return }
      if isProgressive {
        ended += 1
        if ended == 0x7FFF { endRun() }
      } else {
        writer.put(0, acBits)
      }
    }
    let isAlone = scan.components.count == 1
    let mcus =
      isAlone
      ? blocks(scan.components[0])
      : PixelSize(
        (size.width + 8 * mostAcross - 1) / (8 * mostAcross), (size.height + 8 * mostDown - 1) / (8 * mostDown))
    for mcu in 0..<mcus.pixelCount {
      if restartInterval > 0 && mcu > 0 && mcu % restartInterval == 0 {
        endRun()
        writer.restart(mcu / restartInterval - 1)
        predictors = [:]
      }
      let (column, row) = (mcu % mcus.width, mcu / mcus.width)
      for component in scan.components {
        let (across, down) = isAlone ? (1, 1) : (components[component].across, components[component].down)
        for y in 0..<down { for x in 0..<across { block(component, column * across + x, row * down + y) } }
      }
    }
    endRun()
    writer.align()
    return writer.bytes
  }

  /// The bits of a value.
  static func size(_ value: Int) -> Int { Int.bitWidth - abs(value).leadingZeroBitCount }

  /// Collects bits, stuffed as coded data have to be.
  private struct BitWriter {
    var bytes: [UInt8] = []
    private var bits = 0
    private var count = 0

    mutating func put(_ value: Int, _ length: Int) {
      for index in (0..<length).reversed() {
        bits = bits << 1 | (value >> index & 1)
        count += 1
        if count == 8 {
          bytes.append(UInt8(bits))
          if bits == 0xFF { bytes.append(0) }
          (bits, count) = (0, 0)
        }
      }
    }

    mutating func putValue(_ value: Int) {
      let size = TestJPEG.size(value)
      put(value < 0 ? value + (1 << size) - 1 : value, size)
    }

    mutating func align() { while count > 0 { put(1, 1) } }

    mutating func restart(_ number: Int) {
      align()
      bytes += [0xFF, 0xD0 + UInt8(number & 7)]
    }
  }
}
