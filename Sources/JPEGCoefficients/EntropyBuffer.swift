import Glibc
import ThumbnailCore

/// Entropy-coded data without byte stuffing, up to the next marker, in a buffer of bounded length.
///
/// The data is followed by zeros for more than an MCU, or by that of the next restart interval: decoding past the end is
/// detected afterwards. Before a marker that is damage, and the samples are not used, so it does not matter what follows.
struct EntropyBuffer: ~Copyable {
  /// The most bytes that a block takes: 64 coefficients, each with a code of 16 bits and a value of 15.
  static let longestBlock = 64 * 31 / 8
  /// The most blocks per MCU in the JPEG standard.
  static let mostBlocks = 10
  /// The most bytes that an MCU takes, plus the bit window's read-ahead.
  static let reserve = mostBlocks * longestBlock + 16

  private let start: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  /// The bytes up to the end of the current interval's data, and of all that are loaded.
  private var count = 0
  private var loaded = 0
  /// The offsets where the intervals begin that are loaded behind the current one.
  private(set) var laterIntervals: [Int] = []
  /// Why the current interval's data ends: a marker or the body's end; `.full` while there is more to load.
  private(set) var ending = BodyCursor.Stop.full
  /// Why the last interval's data ends.
  private var lastEnding = BodyCursor.Stop.full
  /// The decoding position.
  var window: BitWindow
  /// Whether the data's place in the body is known.
  var isTracked = false
  /// The offset in the body of the buffer's first byte, if it is known.
  private var startPosition = 0

  /// A buffer that loads `length` bytes at a time.
  init(length: Int) {
    capacity = length + Self.reserve
    start = .allocate(capacity: capacity + 2 * Self.reserve)
    memset(start, 0, Self.reserve)
    window = BitWindow(next: UnsafePointer(start))
  }

  deinit { start.deallocate() }

  /// The first byte.
  var data: UnsafePointer<UInt8> { UnsafePointer(start) }
  /// The number of bits of the buffer decoded so far.
  var bitPosition: Int { (window.next - UnsafePointer(start)) * 8 - Int(window.count) }
  /// The bits up to the end of the current interval's data, and of all that are loaded.
  var endOfInterval: Int { count * 8 }
  var endOfData: Int { loaded * 8 }

  /// Whether decoding has consumed more bits than there are.
  var hasOverrun: Bool { ending != .full && bitPosition > count * 8 }

  /// Whether an invalid code may be a valid one that is truncated.
  var isNearItsEnd: Bool { ending != .full && bitPosition + 31 > count * 8 }

  /// An MCU that starts while `window.next` is at or below this is either complete or ends within the padding, which
  /// `hasOverrun` detects.
  var safeLimit: UnsafePointer<UInt8> {
    // Before the end of the data, no bit beyond it has been consumed.
    UnsafePointer(start) + (ending == .full ? count - Self.reserve : count)
  }

  /// Empties the buffer for new data.
  mutating func clear() {
    (count, loaded) = (0, 0)
    laterIntervals.removeAll(keepingCapacity: true)
    ending = .full
    window = BitWindow(next: UnsafePointer(start))
    memset(start, 0, Self.reserve)
  }

  /// Moves to a bit of the data.
  mutating func move(to bit: Int) { window = BitWindow(start, at: bit) }

  /// Loads more from the body while there are data and room. Must not be called after an overrun.
  ///
  /// Behind the interval's data it loads that of up to `intervals` more, if the restart markers between them have the
  /// numbers from `number` on.
  mutating func refill(from cursor: inout BodyCursor, intervals: Int = 0, number: UInt8 = 0) throws(CodecError) {
    guard ending == .full else { return }
    let position = min(bitPosition, count * 8)
    let kept = count - position >> 3
    if isTracked { startPosition = count == 0 ? cursor.position : offset(of: position >> 3) }
    memmove(start, start + position >> 3, kept)
    loaded = kept
    repeat {
      let (copied, stop) = try cursor.unstuff(into: start + loaded, room: capacity - loaded)
      loaded += copied
      lastEnding = stop
    } while lastEnding == .marker && beginLaterInterval(&cursor, intervals: intervals, number: number)
    endInterval()
    memset(start + loaded, 0, 2 * Self.reserve)
    move(to: position & 7)
  }

  /// Reads the restart marker before the next interval; false if there is another or none.
  private mutating func beginLaterInterval(_ cursor: inout BodyCursor, intervals: Int, number: UInt8) -> Bool {
    let marker = 0xD0 + (number &+ UInt8(truncatingIfNeeded: laterIntervals.count)) & 7
    guard laterIntervals.count < intervals, cursor.take(marker: marker) else { return false }
    laterIntervals.append(loaded)
    return true
  }

  /// Finds the end of the current interval.
  private mutating func endInterval() {
    count = laterIntervals.first ?? loaded
    ending = laterIntervals.isEmpty ? lastEnding : .marker
  }

  /// Moves to the next restart interval; false if it is not loaded.
  mutating func beginInterval() -> Bool {
    guard !laterIntervals.isEmpty else { return false }
    window = BitWindow(next: UnsafePointer(start) + laterIntervals.removeFirst())
    endInterval()
    return true
  }

  /// Whether half of the buffer is free for more data.
  var isHalfDecoded: Bool { loaded - bitPosition >> 3 < capacity / 2 }

  /// The offset in the body of a byte of the buffer.
  private func offset(of index: Int) -> Int {
    // Another byte followed each byte of ones.
    startPosition + index + UnsafeBufferPointer(start: start, count: index).reduce(0) { $0 &+ ($1 == 0xFF ? 1 : 0) }
  }

  /// The place of the next bit in the body: the offset of its byte, and the number of bits before it in that byte. Nil
  /// unless places are tracked and the data has been loaded.
  var bodyPosition: (offset: Int, bit: Int)? {
    isTracked && count > 0 ? (offset(of: bitPosition >> 3), bitPosition & 7) : nil
  }

  /// Moves to another place in the body.
  mutating func move(
    to offset: Int, bit: Int, _ cursor: inout BodyCursor
  ) throws(CodecError) {
    cursor.move(to: offset)
    clear()
    try refill(from: &cursor)
    window.drop(UInt64(bit))
  }

  /// Skips the rest up to the marker that ends the data.
  mutating func finish(_ cursor: inout BodyCursor) throws(CodecError) {
    while ending == .full { (_, ending) = try cursor.unstuff(into: start, room: capacity) }
    (count, loaded) = (0, 0)
  }
}
