import Glibc

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

  /// Of a window, the offset in the body behind its data, and the offset in the buffer of what the next begins with.
  private var endPosition = 0
  private var tailStart = 0
  /// The intervals that begin in the tail of the window before.
  private var tailIntervals = 0

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
  mutating func refill(from cursor: inout BodyCursor, intervals: Int = 0, number: UInt8 = 0) throws(JPEGError) {
    guard ending == .full else { return }
    let position = min(bitPosition, count * 8)
    let kept = count - position >> 3
    if isTracked { startPosition = count == 0 ? cursor.position : offset(of: position >> 3) }
    memmove(start, start + position >> 3, kept)
    loaded = kept
    try load(from: &cursor, upTo: capacity, intervals: intervals, number: number)
    move(to: position & 7)
  }

  /// Loads more behind the loaded bytes, up to `end` of them.
  private mutating func load(
    from cursor: inout BodyCursor, upTo end: Int, intervals: Int, number: UInt8
  ) throws(JPEGError) {
    while true {
      let (copied, stop) = try cursor.unstuff(into: start + loaded, room: end - loaded)
      loaded += copied
      lastEnding = stop
      guard stop == .marker, beginLaterInterval(&cursor, intervals: intervals, number: number) else { break }
    }
    endInterval()
    memset(start + loaded, 0, 2 * Self.reserve)
  }

  /// Reads the restart marker before the next interval; false if there is another or none.
  private mutating func beginLaterInterval(_ cursor: inout BodyCursor, intervals: Int, number: UInt8) -> Bool {
    let marker = 0xD0 + (number &+ UInt8(truncatingIfNeeded: laterIntervals.count)) & 7
    guard laterIntervals.count < intervals, cursor.take(marker: marker) else { return false }
    laterIntervals.append(loaded)
    return true
  }

  /// Loads the next window of a scan that several buffers load in turn, of at most `length` bytes: the tail of the window
  /// before, and what follows it. False if the scan has no more, or has fill bytes.
  mutating func loadWindow(
    _ tail: inout WindowTail, length: Int, from cursor: inout BodyCursor
  ) throws(JPEGError) -> Bool {
    clear()
    memcpy(start, tail.bytes, tail.count)
    (loaded, laterIntervals) = (tail.count, tail.intervals)
    let number = UInt8(truncatingIfNeeded: tail.markers - tail.intervals.count)
    let intervals = min(BlockStarts.mostIntervals, tail.markersLeft + tail.intervals.count)
    if tail.ending == .marker {
      guard beginLaterInterval(&cursor, intervals: intervals, number: number) else { return false }
    }
    try load(from: &cursor, upTo: min(length, capacity), intervals: intervals, number: number)
    if loaded == tail.count || cursor.hasPassedFill { return false }
    tailIntervals = tail.intervals.count
    (endPosition, tailStart) = (cursor.position, max(0, loaded - Self.reserve))
    tail.markers += laterIntervals.count - tail.intervals.count
    tail.markersLeft -= laterIntervals.count - tail.intervals.count
    (tail.count, tail.ending) = (loaded - tailStart, lastEnding)
    memcpy(tail.bytes, start + tailStart, tail.count)
    tail.intervals = laterIntervals.map { $0 - tailStart }.filter { $0 >= 0 }
    return true
  }

  /// Moves to a bit of a window. Of the intervals that begin in the tail before, `waiting` have not begun.
  mutating func begin(at bit: Int, waiting: Int) {
    laterIntervals.removeFirst(max(0, tailIntervals - waiting))
    endInterval()
    move(to: bit)
  }

  /// The bit of a window with which the next one begins.
  var tailBit: Int { tailStart * 8 }

  /// The place in the body of a bit of a window, as `bodyPosition`; the bit is in the current interval.
  func windowPosition(of position: Int) -> (offset: Int, bit: Int) {
    let index = position >> 3
    // Another byte followed each byte of ones, and intervals are behind markers.
    let rest = UnsafeBufferPointer(start: start + index, count: max(0, loaded - index))
    let stuffed = rest.reduce(0) { $0 &+ ($1 == 0xFF ? 1 : 0) }
    return (endPosition - rest.count - stuffed - 2 * laterIntervals.count, position & 7)
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
  ) throws(JPEGError) {
    cursor.move(to: offset)
    clear()
    try refill(from: &cursor)
    window.drop(UInt64(bit))
  }

  /// Skips the rest up to the marker that ends the data.
  mutating func finish(_ cursor: inout BodyCursor) throws(JPEGError) {
    while ending == .full { (_, ending) = try cursor.unstuff(into: start, room: capacity) }
    (count, loaded) = (0, 0)
  }
}

/// What a window of a scan passes on to the next one: its last bytes, so that each window has the whole of all MCUs that
/// begin before its tail.
struct WindowTail {
  /// Room for `EntropyBuffer.reserve` bytes.
  let bytes: UnsafeMutablePointer<UInt8>
  var count = 0
  /// The offsets of restart intervals in them.
  var intervals: [Int] = []
  /// Why the window's data ends.
  var ending = BodyCursor.Stop.full
  /// The restart markers so far, and those that may follow.
  var markers = 0
  var markersLeft: Int
}
