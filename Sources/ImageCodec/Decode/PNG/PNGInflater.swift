import CISAL
import Glibc
import ThumbnailCore

/// Inflates a zlib stream piece by piece.
///
/// As in libvips, the checksum at the stream's end is read but not compared: every chunk has a CRC of its own. Unlike
/// zlib it allows distances of up to 32 KiB, even if the stream's header states a smaller window.
package final class PNGInflater {
  private enum Stage: Equatable {
    /// The zlib header; its first byte, once that has been read.
    case header(first: UInt8?)
    case data
    /// This many bytes of the checksum are missing.
    case checksum(missing: Int)
    case ended
    /// ISA-L holds this many bytes from before the damage.
    case damaged(rest: Int)
  }

  /// The bytes before damage that are dropped: ISA-L counts a match whose distance is invalid, up to 258 bytes, without
  /// having written it.
  private static let unreliableBytes = 264

  /// The version of ISA-L's headers, such as `2.30.0`; the library does not report its own.
  package static var version: String { "\(ISAL_MAJOR_VERSION).\(ISAL_MINOR_VERSION).\(ISAL_PATCH_VERSION)" }

  /// The memory that an inflater takes, in bytes.
  static let stateBytes = cisal_inflater_size()

  /// Owned.
  private let state: UnsafeMutableRawPointer
  private var stage = Stage.header(first: nil)
  /// The unread part of the last piece.
  private var input = UnsafeRawBufferPointer(start: nil, count: 0)

  /// - Throws: `.outOfMemory`.
  init() throws(CodecError) {
    guard let state = cisal_inflater_new() else { throw .outOfMemory }
    self.state = state
  }

  deinit { free(state) }

  /// Whether the stream has ended, well or by damage.
  var isDone: Bool { stage == .ended || isDamaged }
  /// Whether damage has been found. Bytes before it may not have been returned yet.
  var isDamaged: Bool { if case .damaged = stage { true } else { false } }

  /// Inflates until `target` is full, the stream is done or the input ends, and returns the number of bytes written.
  ///
  /// `nextPiece` returns the next bytes of the stream, none at its end. They must be valid until it is called again. It
  /// is not called before all earlier bytes are consumed, nor once `target` is full.
  func inflate(
    into target: UnsafeMutableRawBufferPointer,
    from nextPiece: () throws(CodecError) -> UnsafeRawBufferPointer
  ) throws(CodecError) -> Int {
    var filled = inflateRest(into: target)
    while filled < target.count && !isDone {
      input = try nextPiece()
      if input.isEmpty { break }
      filled += inflateRest(into: UnsafeMutableRawBufferPointer(rebasing: target[filled...]))
    }
    return filled
  }

  /// The same with one piece, once all earlier bytes are consumed.
  func inflate(piece: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int {
    input = piece
    return inflateRest(into: target)
  }

  /// The same with the rest of the last piece alone.
  func inflateRest(into target: UnsafeMutableRawBufferPointer) -> Int {
    while case .header(let first) = stage, let byte = input.first {
      consume(1)
      stage = first.map { Self.isHeader($0, byte) ? .data : .damaged(rest: 0) } ?? .header(first: byte)
    }
    guard let out = target.baseAddress else { return 0 }
    if case .damaged(let rest) = stage {
      let taken = min(rest, target.count)
      cisal_take_rest(state, out, taken)
      stage = .damaged(rest: rest - taken)
      return taken
    }
    var written = 0
    if stage == .data {
      // Safety: ISA-L reads and writes no more than the two counts, which fit, since a piece is shorter than a chunk.
      var (inputLeft, outputLeft) = (UInt32(input.count), UInt32(target.count))
      // Without input it only writes the bytes that it holds, and does not use the pointer.
      let result = cisal_inflate(state, input.baseAddress ?? UnsafeRawPointer(out), &inputLeft, out, &outputLeft)
      written = target.count - Int(outputLeft)
      // Bytes that ISA-L returns at the end may belong to an earlier piece.
      let earlier = max(0, Int(inputLeft) - input.count)
      consume(input.count - Int(inputLeft) + earlier)
      if result > 0 { stage = .checksum(missing: max(0, 4 - earlier)) }
      if result < 0 {
        let rest = cisal_rest(state)
        stage = .damaged(rest: max(0, rest - Self.unreliableBytes))
        return max(0, written - max(0, Self.unreliableBytes - rest))
      }
    }
    if case .checksum(let missing) = stage {
      let taken = min(missing, input.count)
      consume(taken)
      stage = taken == missing ? .ended : .checksum(missing: missing - taken)
    }
    return written
  }

  /// Whether these two bytes are a zlib header: deflate, a window of up to 32 KiB, no dictionary, divisible by 31.
  private static func isHeader(_ first: UInt8, _ second: UInt8) -> Bool {
    first & 15 == 8 && first >> 4 <= 7 && second & 32 == 0 && (Int(first) << 8 | Int(second)) % 31 == 0
  }

  private func consume(_ count: Int) { input = UnsafeRawBufferPointer(rebasing: input.dropFirst(count)) }
}
