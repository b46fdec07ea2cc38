import Testing

@testable import DecodeSandbox

/// The headers of films are read in this process, so no file may end it.
@Suite struct FilmHeaderTests {
  private static let beginnings: [[UInt8]] = [
    Array("\0\0\0\u{18}ftypisom".utf8), Array("\0\0\0\u{8}moov\0\0\0\0mvhd".utf8), Array("RIFF\0\0\0\0AVI LIST".utf8),
    Array("RIFF\0\0\0\0AVI LIST\0\0\0\0hdrlavih".utf8), [0x1A, 0x45, 0xDF, 0xA3, 0x80, 0x18, 0x53, 0x80, 0x67, 0xFF],
    [0, 0, 1, 0xBA], [0x30, 0x26, 0xB2, 0x75], [0x47], [0, 0, 0, 0, 0x47],
  ]

  @Test(arguments: beginnings) func aFileMayEndAtAnyByte(_ beginning: [UInt8]) {
    for length in 0...200 {
      for filling: UInt8 in [0, 0x47, 0xFF] {
        let padding = [UInt8](repeating: filling, count: max(0, length - beginning.count))
        let header = FilmHeader(.memory(Array(beginning.prefix(length)) + padding))
        #expect(length >= 12 || header == nil)
      }
    }
  }
}
