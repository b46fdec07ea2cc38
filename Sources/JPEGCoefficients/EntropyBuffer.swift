import Glibc

/// Entropy-coded data without byte stuffing, up to the next marker, in a buffer of bounded length.
///
/// The data is followed by zeros for more than an MCU: decoding past the end reads only these and is detected
/// afterwards.
struct EntropyBuffer: ~Copyable {
  /// The most bytes that a block takes: 64 coefficients, each with a code of 16 bits and a value of 15.
  static let longestBlock = 64 * 31 / 8
  /// The most blocks per MCU in the JPEG standard.
  static let mostBlocks = 10
  /// The most bytes that an MCU takes, plus the bit window's read-ahead.
  static let reserve = mostBlocks * longestBlock + 16

  private let start: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private var count = 0
  /// Why the data ends: a marker or the body's end; `.full` while there is more to load.
  private(set) var ending = BodyCursor.Stop.full
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

  /// The number of bits of the buffer decoded so far.
  private var bitPosition: Int { (window.next - UnsafePointer(start)) * 8 - Int(window.count) }

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
    count = 0
    ending = .full
    window = BitWindow(next: UnsafePointer(start))
    memset(start, 0, Self.reserve)
  }

  /// Loads more from the body while there are data and room. Must not be called after an overrun.
  mutating func refill(from cursor: inout BodyCursor) throws(JPEGError) {
    guard ending == .full else { return }
    let position = min(bitPosition, count * 8)
    let kept = count - position >> 3
    if isTracked { startPosition = count == 0 ? cursor.position : offset(of: position >> 3) }
    memmove(start, start + position >> 3, kept)
    let (copied, stop) = try cursor.unstuff(into: start + kept, room: capacity - kept)
    count = kept + copied
    ending = stop
    memset(start + count, 0, 2 * Self.reserve)
    window = BitWindow(next: UnsafePointer(start))
    window.fill()
    window.drop(UInt64(position & 7))
  }

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
    count = 0
  }
}
