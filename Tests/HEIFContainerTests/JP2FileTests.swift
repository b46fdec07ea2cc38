import Testing

@testable import HEIFContainer

struct JP2FileTests {
  private typealias Build = ContainerBuilder

  private static let palette = Build.box(
    "pclr", Build.number(2, 2), [3, 7, 7, 15], [1, 2, 0, 3], [255, 254, 255, 253])
  private static let mapping = Build.box("cmap", [0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 2])

  private static func bytes(_ header: [UInt8]...) -> [UInt8] {
    Build.box("jP  ", [0x0D, 0x0A, 0x87, 0x0A]) + Build.box("jp2h", header.flatMap { $0 })
      + Build.box("jp2c", [0xFF, 0x4F, 0xFF, 0x51])
  }

  private static func parse(_ bytes: [UInt8]) throws -> JP2File {
    try JP2File(length: bytes.count) { position, count in Array(bytes.dropFirst(position).prefix(count)) }
  }

  @Test func theBoxesTellColoursAndWhereTheCodestreamIs() throws {
    let bytes = Self.bytes(
      Build.box("colr", [1, 0, 0], Build.number(16, 4)), Self.palette, Self.mapping,
      Build.box("cdef", Build.number(1, 2), Build.number(2, 2), Build.number(1, 2), Build.number(0, 2)))
    let file = try Self.parse(bytes)
    #expect(Array(bytes[file.codestream]) == [0xFF, 0x4F, 0xFF, 0x51])
    #expect(file.colourSpace == 16 && file.profile == nil)
    #expect(file.palette?.bits == [8, 8, 16] && file.palette?.entries == [[1, 2, 3], [255, 254, 65_533]])
    #expect(file.channels == (0...2).map { JP2File.Source(component: 0, column: $0) })
    #expect(file.definitions == [.init(channel: 2, kind: 1, association: 0)])
  }

  @Test func ofSeveralColourSpacesTheFirstCounts() throws {
    let profile = Build.box("colr", [2, 0, 0], [9, 9])
    let file = try Self.parse(Self.bytes(profile, Build.box("colr", [1, 0, 0], Build.number(17, 4))))
    #expect(file.profile == [9, 9] && file.colourSpace == nil)
  }

  @Test func aPaletteWithoutTheColumnIsRefused() {
    let wrong = Build.box("cmap", [0, 0, 1, 3])
    #expect(throws: HEIFError.damaged("a palette without a column")) {
      try Self.parse(Self.bytes(Self.palette, wrong))
    }
  }

  @Test func aFileWithoutACodestreamIsRefused() {
    #expect(throws: HEIFError.truncated("before the codestream")) {
      try Self.parse(Build.box("jP  ", [0x0D, 0x0A, 0x87, 0x0A]))
    }
  }

  /// Every index is checked: nothing traps, whatever a byte is and wherever the file ends.
  @Test func changedAndCutFilesAreReadOrRefused() {
    let whole = Self.bytes(Build.box("colr", [1, 0, 0], Build.number(16, 4)), Self.palette, Self.mapping)
    var read = 0
    func check(_ bytes: [UInt8]) {
      guard let file = try? Self.parse(bytes) else { return }
      #expect(file.codestream.upperBound <= bytes.count)
      read += 1
    }
    for index in whole.indices {
      for value: UInt8 in [0, 1, 2, 8, 0x7F, 0x80, 0xFE, 0xFF] {
        var bytes = whole
        bytes[index] = value
        check(bytes)
        check(Array(bytes.dropLast(3)))
      }
      check(Array(whole.prefix(index)))
    }
    #expect(read > 500)
  }
}
