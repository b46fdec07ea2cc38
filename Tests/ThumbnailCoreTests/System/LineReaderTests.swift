@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct LineReaderTests {
  /// What a pipe with these bytes reads as: a line's text, or why there is none.
  private func lines(_ bytes: [UInt8], endingIn terminator: LineSplitter.Terminator = .lineFeed) throws -> [String] {
    let directory = try TemporaryDirectory()
    let path = directory.url.appendingPathComponent("list").path
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    var reader = LineReader(FileDescriptor(owning: open(path, O_RDONLY | O_CLOEXEC)), terminator: terminator)
    var lines: [String] = []
    while true {
      switch reader.next(patience: 1000) {
      case .line(.text(let bytes, let number)): lines.append("\(number) \(String(decoding: bytes, as: UTF8.self))")
      case .line(.overlong(let number)): lines.append("\(number) overlong")
      case .part: continue
      case .idle: lines.append("idle")
      case .failure(let failure): return lines + [failure.reason]
      case .end: return lines
      }
    }
  }

  @Test func lineFeedsEndLinesWithOrWithoutACarriageReturnAndTheLastNeedsNone() throws {
    #expect(try lines(Array("a\r\n\nb\rc\nd".utf8)) == ["1 a", "2 ", "3 b\rc", "4 d"])
    #expect(try lines([]) == [])
  }

  @Test func aByteOrderMarkIsNoPartOfTheFirstLine() throws {
    #expect(try lines([0xef, 0xbb, 0xbf] + Array("a\nb".utf8)) == ["1 a", "2 b"])
  }

  @Test func zeroBytesEndNamesThatMayHoldAnythingElse() throws {
    #expect(try lines(Array("a\r\0b\nc\0".utf8), endingIn: .zero) == ["1 a\r", "2 b\nc"])
    #expect(try lines([0xef, 0xbb, 0xbf, 0x61], endingIn: .zero) == ["1 \u{feff}a"])
  }

  @Test func bytesThatAreNoTextAreKept() throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appendingPathComponent("list").path
    try Data([0xff, 0xfe, 0x0a]).write(to: URL(fileURLWithPath: path))
    var reader = LineReader(FileDescriptor(owning: open(path, O_RDONLY | O_CLOEXEC)))
    guard case .line(.text([0xff, 0xfe], number: 1)) = reader.next(patience: 1000) else {
      Issue.record("the bytes have changed")
      return
    }
  }

  @Test func onlyALineThatIsTooLongIsLost() throws {
    let longest = [UInt8](repeating: 0x61, count: LineReader.longestLine)
    let read = try lines(longest + [0x0a] + longest + longest + [0x0a] + Array("b".utf8))
    #expect(read.count == 3 && read[0].utf8.count == 2 + longest.count)
    #expect(Array(read.dropFirst()) == ["2 overlong", "3 b"])
  }

  @Test func anInputThatIsNotOpenOrNoFileFails() throws {
    for descriptor in [Int32(-1), open("/", O_RDONLY | O_CLOEXEC)] {
      var reader = LineReader(FileDescriptor(owning: descriptor))
      guard case .failure = reader.next(patience: 1000) else {
        Issue.record("\(descriptor) was read")
        continue
      }
    }
  }

  @Test func aPipeWithoutInputIsIdle() throws {
    let ends = makePipe()
    defer { close(ends.write) }
    var reader = LineReader(FileDescriptor(owning: ends.read))
    guard case .idle = reader.next(patience: 1) else {
      Issue.record("an empty pipe was read")
      return
    }
    try #require(write(ends.write, "a\n", 2) == 2)
    guard case .line(.text([0x61], number: 1)) = reader.next(patience: 1000) else {
      Issue.record("the line was not read")
      return
    }
  }
}
