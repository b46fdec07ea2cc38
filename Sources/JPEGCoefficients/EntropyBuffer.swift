import Foundation

/// Coded data without its stuffing, up to the next marker, as much of it as a buffer of bounded length holds.
///
/// Behind what is there stand zeros, more than an MCU can take: decoding past the end is noticed afterwards and reads
/// only them.
struct EntropyBuffer: ~Copyable {
  /// The most bytes that a block takes: 64 coefficients, each of a code of 16 bits and a value of 15.
  static let longestBlock = 64 * 31 / 8
  /// The most blocks of an MCU, by the standard.
  static let mostBlocks = 10
  /// The most bytes that an MCU takes, and what a bit window reads ahead.
  static let reserve = mostBlocks * longestBlock + 16

  private let start: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private var count = 0
  /// What ended the data: a marker, or the body. Until then there is more to come.
  private(set) var ending = BodyCursor.Stop.full
  /// Where decoding stands.
  var window: BitWindow

  /// A buffer that takes `length` bytes at a time.
  init(length: Int) {
    capacity = length + Self.reserve
    start = .allocate(capacity: capacity + 2 * Self.reserve)
    memset(start, 0, Self.reserve)
    window = BitWindow(next: UnsafePointer(start))
  }

  deinit { start.deallocate() }

  /// The number of bits decoded, of those in the buffer.
  private var bitPosition: Int { (window.next - UnsafePointer(start)) * 8 - Int(window.count) }

  /// Whether more bits were decoded than there are.
  var hasOverrun: Bool { ending != .full && bitPosition > count * 8 }

  /// Whether a code that was not understood may be one that breaks off.
  var isNearItsEnd: Bool { ending != .full && bitPosition + 31 > count * 8 }

  /// An MCU that begins while `window.next` is not beyond this is there as a whole, or else ends before the padding
  /// does and is found by `hasOverrun`.
  var safeLimit: UnsafePointer<UInt8> {
    // Before the end of the data, no bit beyond it has been dropped.
    UnsafePointer(start) + (ending == .full ? count - Self.reserve : count)
  }

  /// Forgets what is there, for new data.
  mutating func clear() {
    count = 0
    ending = .full
    window = BitWindow(next: UnsafePointer(start))
    memset(start, 0, Self.reserve)
  }

  /// Takes more from the body, as long as there is more and room. Must not be called after an overrun.
  mutating func refill(from cursor: inout BodyCursor) throws(JPEGError) {
    guard ending == .full else { return }
    let position = min(bitPosition, count * 8)
    let kept = count - position >> 3
    memmove(start, start + position >> 3, kept)
    let (copied, stop) = try cursor.unstuff(into: start + kept, room: capacity - kept)
    count = kept + copied
    ending = stop
    memset(start + count, 0, 2 * Self.reserve)
    window = BitWindow(next: UnsafePointer(start))
    window.fill()
    window.drop(UInt64(position & 7))
  }

  /// Passes what is left up to the marker that ends the data.
  mutating func finish(_ cursor: inout BodyCursor) throws(JPEGError) {
    while ending == .full { (_, ending) = try cursor.unstuff(into: start, room: capacity) }
    count = 0
  }
}
