/// An ICC profile of primaries, those of Adobe RGB unless others are given, and one curve for all channels.
struct TestProfile {
  var kind = "mntr"
  var space = "RGB "
  var connection = "XYZ "
  var primaries = [[0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457]]
  var curve = Self.power(0x0233)
  var others: [(String, [UInt8])] = []

  /// A curve of a power with eight fraction bits.
  static func power(_ value: Int) -> [UInt8] {
    Array("curv".utf8) + number(0) + number(1) + [UInt8(value >> 8), UInt8(value & 255), 0, 0]
  }

  private static func number(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func xyz(_ values: [Double]) -> [UInt8] {
    Array("XYZ ".utf8) + number(0) + values.flatMap { number(Int(($0 * 65536).rounded())) }
  }

  var bytes: [UInt8] {
    let number = Self.number
    let tags =
      [("kTRC", curve), ("rTRC", curve), ("gTRC", curve), ("bTRC", curve), ("wtpt", Self.xyz([0.96420, 1, 0.82491]))]
      + zip(["rXYZ", "gXYZ", "bXYZ"], primaries).map { ($0, Self.xyz($1)) } + others
    var table = number(tags.count)
    var data: [UInt8] = []
    for (name, bytes) in tags {
      table += Array(name.utf8) + number(132 + 12 * tags.count + data.count) + number(bytes.count)
      data += bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
    var header = number(128 + table.count + data.count) + [UInt8](repeating: 0, count: 124)
    header.replaceSubrange(8..<12, with: number(0x0400_0000))
    header.replaceSubrange(12..<24, with: Array("\(kind)\(space)\(connection)".utf8))
    header.replaceSubrange(36..<40, with: Array("acsp".utf8))
    header.replaceSubrange(68..<80, with: number(63190) + number(65536) + number(54061))
    return header + table + data
  }
}
