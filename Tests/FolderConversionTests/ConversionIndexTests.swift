import TestSupport

@testable import FolderConversion
@testable import ThumbnailCore

@Suite struct ConversionIndexTests {
  private let folder: TemporaryDirectory
  private var path: RawPath { RawPath(folder.url.path) }
  private var file: URL { folder.url.appendingPathComponent(".thumbs-index") }

  init() throws { folder = try TemporaryDirectory() }

  private func open() throws -> ConversionIndex { ConversionIndex(try RootFolder(path)) }

  private func entry(_ key: UInt64, _ source: String = "/in/a.jpg") -> IndexEntry {
    IndexEntry(
      key: key, source: RawPath(source), modified: 123, byteCount: 45, token: "0123abcd",
      outputs: [ConversionOutput(path: RawPath("x/a.jpg"), size: PixelSize(4, 3), format: .jpeg, byteCount: 67)])
  }

  @Test func anEntryIsOneLineWhateverTheNames() throws {
    var entry = entry(7)
    entry.source = RawPath(bytes: Array("/a\tb\nc%d/é".utf8) + [0xFF, 0x01])
    entry.outputs.append(
      ConversionOutput(path: RawPath("100%.jpg"), size: PixelSize(1, 1), format: .webp, byteCount: 1))
    let line = entry.line
    #expect(line.last == 0x0A && line.filter { $0 == 0x0A }.count == 1)
    #expect(IndexEntry(line: line.dropLast()) == entry)
    #expect(IndexEntry(line: line.dropLast(9)) == nil)
    (entry.disk, entry.outputs[0].digest) = (.max, 0xFF00_0000_0000_0001)
    #expect(IndexEntry(line: entry.line.dropLast()) == entry)
  }

  @Test func whatWasAddedIsThereForTheNextRun() throws {
    let index = try open()
    #expect(index.entry(1) == nil && !FileManager.default.fileExists(atPath: file.path))
    index.add(entry(1))
    #expect(index.entry(1) == entry(1))
    index.add(entry(1, "/in/other.jpg"))
    index.add(entry(UInt64.max))
    index.finish()
    #expect(index.entry(1) == entry(1, "/in/other.jpg"))
    let next = try open()
    #expect(next.entry(1) == entry(1, "/in/other.jpg") && next.entry(.max) == entry(.max) && next.entry(2) == nil)
  }

  @Test func itSaysTheSameInWhateverOrderItCameAbout() throws {
    let first = try open()
    for key in [3, 1, 2] as [UInt64] { first.add(entry(key)) }
    first.finish()
    let text = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    let second = try open()
    second.noteFolder(Array("x".utf8))
    for key in [2, 2, 1, 3] as [UInt64] {
      second.add(entry(key))
      second.settle(key)
    }
    second.finish()
    #expect(try Data(contentsOf: file) == text)
    // Nothing has changed: the file is left alone.
    let before = try FileState(of: path.appending(ConversionIndex.name))
    let third = try open()
    _ = third.entry(1)
    third.finish()
    #expect(try FileState(of: path.appending(ConversionIndex.name)) == before)
  }

  @Test func aLineThatAKillCutOffIsNoEntry() throws {
    let index = try open()
    for key in [1, 2] as [UInt64] { index.add(entry(key)) }
    index.finish()
    let whole = try Data(contentsOf: file)
    for cut in [1, 5, 40] {
      try whole.dropLast(cut).write(to: file)
      let next = try open()
      #expect(next.entry(1) == entry(1) && next.entry(2) == nil)
      next.add(entry(2))
      next.finish()
      #expect(try Data(contentsOf: file) == whole)
    }
  }

  @Test func theFoldersOfAKilledRunAreKnown() throws {
    let index = try open()
    index.noteFolder(Array("a\nb".utf8))
    index.add(entry(1))
    let next = try open()
    #expect(next.unfinishedFolders == [Array("a\nb".utf8)])
    next.finish()
    #expect(try open().unfinishedFolders.isEmpty)
  }

  @Test(arguments: [
    "", "thumbs index 99\n0000000000000001\t1\n", "anything\u{0}else", "thumbs index 1\nrubbish\n\n+\n",
  ])
  func aFileOfAnotherKindIsBegunAnew(content: String) throws {
    try Data(content.utf8).write(to: file)
    let index = try open()
    #expect(index.entry(1) == nil)
    index.add(entry(1))
    index.finish()
    #expect(try open().entry(1) == entry(1))
  }

  @Test func theLinesBeforeThoseOfAKilledRunAreKeptUntilItsFilesAreThere() throws {
    let (first, second) = (entry(1), entry(1, "/in/b.jpg"))
    try open().add(first)
    try open().add(second)
    #expect(try open().entries(1) == [second, first])
    try open().finish()
    let next = try open()
    #expect(next.entries(1) == [second, first] && next.entry(1) == second)
    next.settle(1)
    next.noteFolder([])
    next.finish()
    #expect(try open().entries(1) == [second])
  }

  @Test func aLineThatIsTooLongForAnyEntryIsPassedOver() throws {
    let long = Data("0000000000000002\t".utf8) + Data(repeating: UInt8(ascii: "x"), count: 3 << 20)
    try Data("thumbs index 1\n".utf8).write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    try handle.seekToEnd()
    try handle.write(contentsOf: long + Data("\n".utf8) + Data(entry(1).line))
    #expect(try open().entry(1) == entry(1) && open().entry(2) == nil)
  }

  @Test(arguments: ["-1", "99999999999999999999", "1:x:2", "", "1:-5", "9223372036854775807:18446744073709551616"])
  func numbersThatNoRunHasWrittenAreNoEntryOrAreLeftOut(number: String) throws {
    let line = "0000000000000001\t1\t\(number)\tt\t/in/a.jpg\ta.jpg\t1x1\tjpeg\t\(number)\n"
    try Data("thumbs index 1\n\(line)".utf8).write(to: file)
    let read = try open().entry(1)
    #expect(read == nil || (read?.byteCount ?? -1) >= 0 && read?.disk == nil)
  }

  @Test func orphansAreEntriesOfNoInputWhosePicturesAreGone() throws {
    let present = folder.url.appendingPathComponent("present.jpg")
    try Data().write(to: present)
    let index = try open()
    for (key, source) in [(1, "/gone/1.jpg"), (2, "/gone/2.jpg"), (3, present.path)] as [(UInt64, String)] {
      index.add(entry(key, source))
    }
    index.finish()
    let next = try open()
    #expect(next.orphans([1]).map(\.key) == [2])
    next.remove(2)
    next.finish()
    #expect(try open().entry(2) == nil)
  }
}
