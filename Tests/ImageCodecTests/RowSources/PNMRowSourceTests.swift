@testable import CodecTestSupport
@testable import ImageCodec

struct PNMRowSourceTests {
  private static func rows(_ text: String, _ samples: [UInt8] = []) throws(CodecError) -> SourceRows {
    try SourceRows(PNMRowSource(.memory(Array(text.utf8) + samples)))
  }

  private static func gray(_ rows: SourceRows) -> [UInt8] { rows.planes[0] }

  @Test(arguments: ["P1 3 2 1 0 1 0 1 0", "P1\n3 2\n101010", "P1 # one\n3 # two\n2\n10 # three\n1\n0 1 0\n"])
  func bitsNeedNoBlanksBetweenThem(_ text: String) throws {
    #expect(try Self.gray(Self.rows(text)) == [0, 255, 0, 255, 0, 255])
  }

  @Test func numbersAreScaledToTheirGreatest() throws {
    #expect(try Self.gray(Self.rows("P2 4 1 3 0 1 2 3")) == [0, 85, 170, 255])
    #expect(try Self.gray(Self.rows("P5 4 1 3\n", [0, 1, 2, 3])) == [0, 85, 170, 255])
    // Bytes beyond the greatest are as bright as it; numbers are a mistake.
    #expect(try Self.gray(Self.rows("P5 2 1 3\n", [9, 1])) == [255, 85])
    #expect(throws: CodecError.damaged(.decode, detail: "a sample of 4")) { try Self.rows("P2 1 1 3 4") }
  }

  @Test func wideNumbersAreBigEndian() throws {
    let rows = try Self.rows("P5 2 1 65535\n", [0x12, 0x34, 0xFF, 0xFF])
    #expect(rows.layout.sample == .uint16 && rows.planes == [[0x34, 0x12, 0xFF, 0xFF]])
  }

  @Test(arguments: [
    "P1 3 2 1 0 1 0 1", "P2 2 2 9 1 2 3", "P3 1 1 9 1 2", "P5 2 2 255\nabc", "P4 9 1\nx", "P6 2 1 255\nabcde", "P6 2 1",
  ])
  func whatIsMissingIsToldAndNeverWhite(_ text: String) {
    #expect(#expect(throws: CodecError.self) { try Self.rows(text) }?.kind == "truncated")
  }

  @Test(arguments: ["P2 0 1 9 1", "P2 -1 1 9 1", "P2 x 1 9 1", "P5 1 1 65536\nab", "Pf 1 1 0\nabcd", "P2 1 1 9 z"])
  func nonsenseIsRefused(_ text: String) {
    #expect(throws: CodecError.self) { try Self.rows(text) }
  }
}
