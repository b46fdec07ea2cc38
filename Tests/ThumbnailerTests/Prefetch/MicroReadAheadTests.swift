import Testing

@testable import Thumbnailer

/// Micro thumbnails are read from the cells in view outwards.
struct MicroReadAheadTests {
  private typealias Read = MicroReadAhead.Read

  /// All reads of a view at rest, each ended before the next.
  private func reads(_ ahead: inout MicroReadAhead, _ visible: Range<Int>, count: Int, drops: Int = 0) -> [Read] {
    var all: [Read] = []
    while true {
      let next = ahead.next(visible: visible, count: count, drops: drops)
      if next.isEmpty { return all }
      all += next
      ahead.finishReadingAhead()
    }
  }

  @Test func thoseInViewComeFirstThenTheNearest() {
    var ahead = MicroReadAhead(reach: 100)
    let reads = reads(&ahead, 200..<212, count: 1000)
    #expect(reads.first == Read(items: 200..<212, isVisible: true))
    #expect(reads.dropFirst().map(\.items) == [212..<276, 136..<200, 276..<312, 100..<136])
    #expect(ahead.next(visible: 200..<212, count: 1000, drops: 0).isEmpty)
  }

  @Test func aScrollReadsWhatComesIntoReachAlone() {
    var ahead = MicroReadAhead(reach: 64)
    _ = reads(&ahead, 0..<10, count: 1000)
    #expect(reads(&ahead, 2..<12, count: 1000) == [Read(items: 74..<76, isVisible: false)])
    // Back at the beginning, what had left the reach is read again.
    #expect(reads(&ahead, 500..<510, count: 1000).first == Read(items: 500..<510, isVisible: true))
    #expect(reads(&ahead, 0..<10, count: 1000).first == Read(items: 0..<10, isVisible: true))
  }

  @Test func aJumpDoesNotWaitForAReadAhead() {
    var ahead = MicroReadAhead(reach: 1024)
    #expect(ahead.next(visible: 0..<10, count: 9000, drops: 0).count == 2)
    #expect(ahead.next(visible: 0..<10, count: 9000, drops: 0).isEmpty)
    #expect(ahead.next(visible: 5000..<5010, count: 9000, drops: 0) == [Read(items: 5000..<5010, isVisible: true)])
  }

  @Test func whatMemoryHasDroppedIsReadAgainOnceTheViewMoves() {
    var ahead = MicroReadAhead(reach: 16)
    _ = reads(&ahead, 0..<4, count: 100)
    #expect(reads(&ahead, 0..<4, count: 100, drops: 1).isEmpty)
    #expect(reads(&ahead, 1..<5, count: 100, drops: 1).map(\.items) == [1..<5, 5..<21, 0..<1])
  }

  @Test func withoutReachNothingIsRead() {
    var ahead = MicroReadAhead(reach: 0)
    #expect(ahead.next(visible: 0..<10, count: 100, drops: 0).isEmpty)
  }
}
