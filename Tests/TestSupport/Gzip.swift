/// A gzip file with its bytes stored, not packed: enough to see that somebody unpacks it.
package func gzip(_ bytes: [UInt8]) -> [UInt8] {
  var file: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
  for start in stride(from: 0, to: bytes.count, by: 65535) {
    let piece = bytes[start..<min(start + 65535, bytes.count)]
    let length = UInt16(piece.count)
    file.append(start + piece.count == bytes.count ? 1 : 0)
    for word in [length, ~length] { file += [UInt8(word & 255), UInt8(word >> 8)] }
    file += piece
  }
  var checksum: UInt32 = ~0
  for byte in bytes {
    checksum ^= UInt32(byte)
    for _ in 0..<8 { checksum = checksum & 1 == 1 ? checksum >> 1 ^ 0xedb8_8320 : checksum >> 1 }
  }
  for word in [~checksum, UInt32(bytes.count)] {
    for shift in [0, 8, 16, 24] { file.append(UInt8(word >> shift & 255)) }
  }
  return file
}
