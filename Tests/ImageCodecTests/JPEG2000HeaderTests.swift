@testable import CodecTestSupport
@testable import ImageCodec

/// The files that libvips would show wrongly, and those that are no files.
struct JPEG2000HeaderTests {
  private static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func box(_ kind: String, _ content: [UInt8]) -> [UInt8] {
    number(content.count + 8, 4) + Array(kind.utf8) + content
  }

  /// The marker segment SIZ of components of one byte, and a tile-part for each of some tiles.
  private static func codestream(
    offset: Int = 0, tileOffset: Int = 0, tile: Int = 64, components: [[UInt8]] = [[7, 1, 1]], parts: [Int] = [0]
  ) -> [UInt8] {
    var size = number(0, 2)
    for side in [100, 80, offset, 0, tile, tile, tileOffset, 0] { size += number(side, 4) }
    size += number(components.count, 2) + components.joined()
    var tiles: [UInt8] = []
    for part in parts { tiles += [0xFF, 0x90, 0, 10] + number(part, 2) + number(14, 4) + [0, 1, 0xFF, 0x93] }
    return [0xFF, 0x4F, 0xFF, 0x51] + number(size.count + 2, 2) + size + tiles + [0xFF, 0xD9]
  }

  private static func file(_ colours: [UInt8]) -> [UInt8] {
    box("jP  ", [0x0D, 0x0A, 0x87, 0x0A]) + box("jp2h", colours) + box("jp2c", codestream())
  }

  private static func named(_ space: Int) -> [UInt8] { box("colr", [1, 0, 0] + number(space, 4)) }

  private static func channels(_ channels: [[Int]]) -> [UInt8] {
    box("cdef", number(channels.count, 2) + channels.joined().flatMap { number($0, 2) })
  }

  @Test(arguments: [
    codestream(), codestream(components: [[15, 1, 1], [15, 1, 1], [15, 1, 1]]), codestream(parts: [0, 0, 1]),
    file(named(16)), file(named(17) + named(18)), file(channels([[0, 0, 1], [1, 1, 0]])),
  ])
  func whatLibvipsShowsIsRead(_ bytes: [UInt8]) throws {
    let header = try JPEG2000Header(.memory(bytes))
    #expect(header.mostHalvings == 6 && header.blockBytes(halvings: 0) > header.blockBytes(halvings: 1))
  }

  @Test(arguments: [
    codestream(offset: 1), codestream(tileOffset: 1), codestream(components: [[6, 1, 1]]),
    codestream(components: [[16, 1, 1]]), codestream(components: [[0x87, 1, 1]]),
    codestream(components: [[7, 1, 1], [7, 2, 1], [7, 2, 1]]), codestream(components: [[7, 1, 1], [15, 1, 1]]),
    codestream(components: Array(repeating: [7, 1, 1], count: 5)), codestream(parts: [0, 1, 0]),
    file(named(18)), file(named(12)), file(box("pclr", [])),
    file(channels([[0, 0, 2], [1, 0, 1]])), file(channels([[0, 0, 1], [1, 2, 0]])),
    file(channels([[0, 1, 0], [1, 0, 1]])),
  ])
  func whatItWouldShowWronglyIsRefused(_ bytes: [UInt8]) {
    #expect(#expect(throws: CodecError.self) { try JPEG2000Header(.memory(bytes)) }?.kind == "unsupported")
  }

  @Test func tilesAreHalvedWithoutARest() throws {
    for (tile, halvings) in [(64, 6), (48, 4), (33, 0), (128, 32)] {
      #expect(try JPEG2000Header(.memory(Self.codestream(tile: tile))).mostHalvings == halvings)
    }
  }

  /// Every index is checked: nothing traps, whatever a byte is and wherever the file ends.
  @Test func changedAndCutFilesAreReadOrRefused() {
    let whole = Self.file(Self.named(16) + Self.channels([[0, 0, 1], [1, 1, 0]]))
    var read = 0
    for index in whole.indices {
      for value: UInt8 in [0, 1, 2, 8, 0x7F, 0x80, 0xFE, 0xFF] {
        var bytes = whole
        bytes[index] = value
        for length in [bytes.count, index] where (try? JPEG2000Header(.memory(Array(bytes.prefix(length))))) != nil {
          read += 1
        }
      }
    }
    #expect(read > 100)
    #expect(throws: CodecError.truncated(detail: "before the codestream")) {
      try JPEG2000Header(.memory(Array(whole.prefix(12))))
    }
  }
}
