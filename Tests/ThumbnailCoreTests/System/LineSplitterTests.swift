@testable import ThumbnailCore

/// Lines out of pieces of any length.
@Suite struct LineSplitterTests {
  private func lines(_ text: String, limit: Int = 10, pieces length: Int) -> [LineSplitter.Line] {
    lines(Array(text.utf8), limit: limit, pieces: length)
  }

  private func lines(_ bytes: [UInt8], limit: Int, pieces length: Int) -> [LineSplitter.Line] {
    var splitter = LineSplitter(limit: limit)
    var lines: [LineSplitter.Line] = []
    for start in stride(from: 0, to: bytes.count, by: length) {
      let piece = Array(bytes[start..<min(start + length, bytes.count)])
      piece.withUnsafeBufferPointer { splitter.take($0) { lines.append($0) } }
    }
    if let last = splitter.finish() { lines.append(last) }
    return lines
  }

  private func text(_ text: String, _ number: Int) -> LineSplitter.Line { .text(Array(text.utf8), number: number) }

  @Test(arguments: [1, 2, 3, 7, 64]) func linesDoNotDependOnThePiecesTheyComeIn(length: Int) {
    #expect(
      lines("a\nbc\r\n\n1234567890\r\nlast", pieces: length)
        == [text("a", 1), text("bc", 2), text("", 3), text("1234567890", 4), text("last", 5)])
  }

  @Test(arguments: [1, 5, 64]) func ofAnOverlongLineOnlyTheNumberIsKept(length: Int) {
    #expect(lines("12345678901\nb\n", pieces: length) == [.overlong(number: 1), text("b", 2)])
    #expect(lines("a\n123456789012345678901234567890", pieces: length) == [text("a", 1), .overlong(number: 2)])
    #expect(lines("12345678901\r\nb", pieces: length) == [.overlong(number: 1), text("b", 2)])
  }

  @Test func aByteOrderMarkAtTheStartIsSkipped() {
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    #expect(lines(mark + Array("a\n".utf8) + mark, limit: 10, pieces: 4) == [text("a", 1), .text(mark, number: 2)])
  }

  @Test func anEmptyInputHasNoLines() { #expect(lines("", pieces: 1).isEmpty) }
}
