/// Reads the size of an image from its header.
enum PictureHeader {
  static func size(of bytes: [UInt8]) -> (width: Int, height: Int)? {
    if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]), bytes.count >= 24 {
      return (number(bytes[16..<20]), number(bytes[20..<24]))
    }
    guard bytes.starts(with: [0xff, 0xd8]) else { return nil }
    var offset = 2
    while offset + 9 < bytes.count, bytes[offset] == 0xff {
      let marker = bytes[offset + 1]
      if (0xc0...0xcf).contains(marker), ![0xc4, 0xc8, 0xcc].contains(marker) {
        return (number(bytes[(offset + 7)..<(offset + 9)]), number(bytes[(offset + 5)..<(offset + 7)]))
      }
      offset += 2 + number(bytes[(offset + 2)..<(offset + 4)])
    }
    return nil
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
