/// The header of a file in a tar archive (POSIX ustar): the same bytes for the same name and length.
enum TarHeader {
  /// Headers and contents are filled up to a multiple of this length.
  static let blockLength = 512
  /// The two empty blocks at the end of an archive.
  static let end = [UInt8](repeating: 0, count: 2 * blockLength)

  private static let mode = 0o644
  /// The longest name of a header; a longer one has a header of its own before it.
  private static let longestName = 100
  private static let (file, extended) = (UInt8(ascii: "0"), UInt8(ascii: "x"))

  /// Appends a file with its header.
  static func append(_ name: String, _ content: some Collection<UInt8>, to archive: inout [UInt8]) {
    let name = Array(name.utf8)
    if name.count > longestName {
      let record = pathRecord(name)
      append(header(Array("pax".utf8), length: record.count, kind: extended), record, to: &archive)
    }
    append(header(Array(name.prefix(longestName)), length: content.count, kind: file), content, to: &archive)
  }

  private static func append(_ header: [UInt8], _ content: some Collection<UInt8>, to archive: inout [UInt8]) {
    archive.append(contentsOf: header)
    archive.append(contentsOf: content)
    let rest = content.count % blockLength
    if rest > 0 { archive.append(contentsOf: repeatElement(0, count: blockLength - rest)) }
  }

  /// The record of a long name, which begins with its own length.
  private static func pathRecord(_ name: [UInt8]) -> [UInt8] {
    let rest = Array(" path=".utf8) + name + [UInt8(ascii: "\n")]
    var length = rest.count
    while String(length).utf8.count + rest.count != length { length = String(length).utf8.count + rest.count }
    return Array(String(length).utf8) + rest
  }

  private static func header(_ name: [UInt8], length: Int, kind: UInt8) -> [UInt8] {
    var header: [UInt8] = []
    header.reserveCapacity(blockLength)
    func field(_ bytes: [UInt8], _ length: Int) {
      header.append(contentsOf: bytes)
      header.append(contentsOf: repeatElement(0, count: length - bytes.count))
    }
    func number(_ number: Int, _ length: Int) {
      let digits = Array(String(number, radix: 8).utf8)
      field(repeatElement(UInt8(ascii: "0"), count: length - 1 - digits.count) + digits, length)
    }
    field(name, longestName)
    number(mode, 8)
    // The owner, the group and the time, which are the same in every run.
    number(0, 8)
    number(0, 8)
    number(length, 12)
    number(0, 12)
    let checksum = header.count
    field(Array("        ".utf8), 8)
    field([kind], 1)
    field([], 100)
    field(Array("ustar\0".utf8) + Array("00".utf8), 8)
    field([], blockLength - header.count)
    let sum = Array(String(header.reduce(0) { $0 + Int($1) }, radix: 8).utf8)
    let digits = repeatElement(UInt8(ascii: "0"), count: 6 - sum.count) + sum + [0, UInt8(ascii: " ")]
    header.replaceSubrange(checksum..<checksum + 8, with: digits)
    return header
  }
}
