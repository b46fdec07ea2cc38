/// The places where rows of MCUs begin in the coded data of a sequential JPEG, so that earlier rows need not be
/// decoded.
///
/// The decoder that made it is not trusted: each entry is compared with the file before it is used. An entry that is
/// wrong in spite of that makes a wrong image of the same file, or damage, after which the file is read without the
/// index.
package struct JPEGRowIndex: Sendable, Equatable {
  /// The state of the decoder before a row.
  struct Entry: Sendable, Equatable {
    static let byteCount = 18

    /// The offset in the file of the first byte with bits of the row, and the number of its bits that belong to the row
    /// before.
    var position: Int
    var bit: Int
    /// The DC predictors of up to three components.
    var predictors: [Int]
    /// A checksum of some bytes of the file from `position` on.
    var checksum: UInt32
  }

  /// The most bytes of all entries.
  private static let mostBytes = 64 << 10
  private static let headerBytes = 16

  /// The longest index in bytes.
  package static let longest = headerBytes + mostBytes

  /// The file that the index belongs to.
  let fileLength: Int
  let scanPosition: Int
  /// The number of rows from an entry to the next; the first is of the row with this index.
  let step: Int
  private(set) var entries: [Entry] = []

  /// An empty index of an image of `rows` rows of MCUs.
  init(fileLength: Int, scanPosition: Int, rows: Int) {
    (self.fileLength, self.scanPosition) = (fileLength, scanPosition)
    step = Self.step(rows: rows)
  }

  private static func step(rows: Int) -> Int { max(1, (rows * Entry.byteCount + mostBytes - 1) / mostBytes) }

  /// Whether the next entry is that of a row.
  func lacks(_ row: Int) -> Bool { row == (entries.count + 1) * step }

  mutating func append(_ entry: Entry) { entries.append(entry) }

  mutating func removeAll() { entries = [] }

  /// The entry of a row, if there is one.
  func entry(of row: Int) -> Entry? {
    row > 0 && row % step == 0 && row / step <= entries.count ? entries[row / step - 1] : nil
  }

  /// The last row at or before a row that has an entry; 0 if there is none.
  func lastRow(upTo row: Int) -> Int { min(row / step, entries.count) * step }

  /// FNV-1a.
  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }
}

extension JPEGRowIndex {
  /// It as bytes: numbers with the lowest byte first.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    func add(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
    add(Int64(fileLength))
    add(Int64(scanPosition))
    for entry in entries {
      add(Int64(entry.position << 3 | entry.bit))
      for index in 0..<3 {
        add(Int16(truncatingIfNeeded: index < entry.predictors.count ? entry.predictors[index] : 0))
      }
      add(entry.checksum)
    }
    return bytes
  }

  /// Reads the index of an image of `rows` rows of MCUs. Nil for other bytes.
  init?(_ bytes: [UInt8], fileLength: Int, scanPosition: Int, rows: Int) {
    guard bytes.count <= Self.longest, bytes.count >= Self.headerBytes,
      (bytes.count - Self.headerBytes) % Entry.byteCount == 0
    else { return nil }
    self.init(fileLength: fileLength, scanPosition: scanPosition, rows: rows)
    func number(_ start: Int, _ count: Int) -> Int {
      bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    guard number(0, 8) == fileLength, number(8, 8) == scanPosition else { return nil }
    for start in stride(from: Self.headerBytes, to: bytes.count, by: Entry.byteCount) {
      let place = number(start, 8)
      guard (scanPosition..<fileLength).contains(place >> 3), (entries.count + 1) * step < rows else { return nil }
      entries.append(
        Entry(
          position: place >> 3, bit: place & 7,
          predictors: (0..<3).map { Int(Int16(truncatingIfNeeded: number(start + 8 + 2 * $0, 2))) },
          checksum: UInt32(number(start + 14, 4))))
    }
  }
}
