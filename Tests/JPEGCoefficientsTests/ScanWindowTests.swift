@testable import JPEGCoefficients
import TestSupport
import Testing
@testable import ThumbnailCore

/// The windows of a scan that several threads decode.
@Suite(.timeLimit(.minutes(1)))
struct ScanWindowTests {
  /// Loads all windows of coded data, and calls `body` with each, and with the bytes of it that no other window has.
  private func forEachWindow(
    of file: [UInt8], markers: Int = 0, length: Int, _ body: (borrowing EntropyBuffer, _ bytes: [UInt8]) -> Void
  ) throws {
    try ByteSource.memory(file).withMemory { memory throws(JPEGError) in
      var cursor = BodyCursor(ByteSource.memory(file), memory: memory, windowLength: file.count)
      var tail = WindowTail(bytes: .allocate(capacity: EntropyBuffer.reserve), markersLeft: markers)
      defer { tail.bytes.deallocate() }
      var entropy = EntropyBuffer(length: length)
      while try entropy.loadWindow(&tail, length: length, from: &cursor) {
        body(entropy, (0..<entropy.tailBit / 8).map { entropy.data[$0] })
      }
    }
  }

  @Test func windowsHaveTheDataOneAfterTheOther() throws {
    var random = SplitMix(state: 3)
    let data = (0..<20_000).map { _ in UInt8(random.below(3) == 0 ? 255 : random.below(255)) }
    let stuffed = data.flatMap { (byte: UInt8) -> [UInt8] in byte == 255 ? [255, 0] : [byte] }
    let file = stuffed + [0xFF, 0xD9]
    var bytes: [UInt8] = []
    try forEachWindow(of: file, length: 6000) { entropy, window in
      // The offset of each of its bytes is where the file has it.
      for index in stride(from: 0, to: window.count, by: 37) {
        let (offset, bit) = entropy.windowPosition(of: 8 * index + 5)
        #expect(file[offset] == window[index] && bit == 5)
      }
      bytes += window
    }
    #expect(bytes.count > data.count - 6000)
    #expect(bytes == Array(data.prefix(bytes.count)))
  }

  @Test func restartIntervalsBeginWhereTheirMarkersWere() throws {
    let interval = (0..<700).map { UInt8($0 & 0x7F) }
    let intervals = (0..<20).flatMap { (number: UInt8) -> [UInt8] in interval + [0xFF, 0xD0 + number & 7] }
    let file = intervals + interval
    var (first, count) = (0, 0)
    try forEachWindow(of: file, markers: 20, length: 5000) { entropy, window in
      for offset in entropy.laterIntervals { #expect((first + offset) % 700 == 0 && entropy.data[offset] == 0) }
      count += entropy.laterIntervals.filter { $0 < window.count }.count
      first += window.count
    }
    #expect(count == first / 700)
  }

  @Test func fillBytesEndTheWindows() throws {
    let part = [UInt8](repeating: 1, count: 9000)
    var count = 0
    try forEachWindow(of: part + [0xFF, 0xFF, 0x00] + part, length: 4000) { _, bytes in count += bytes.count }
    #expect(count > 0 && count < 9000)
  }

  @Test func aCancelledDecodeEndsItsThreads() {
    let jpeg = SequentialJPEG(size: PixelSize(800, 600))
    let (flag, spare) = (CancellationFlag(), SpareProcessors(2))
    var decoder = CoefficientDecoder(
      ByteSource.memory(jpeg.bytes()), size: jpeg.size, scale: .eighth, cancellation: flag)
    decoder.lanes?.leastWindows = 1
    decoder.spare = spare
    flag.set()
    #expect(throws: JPEGError.cancelled) { try decoder.decode() }
    #expect(spare.take() && spare.take())
  }
}
