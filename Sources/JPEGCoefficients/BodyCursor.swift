import Foundation

/// Walks a body from its start to its end, through a window of bounded length.
///
/// A body in memory is walked where it lies; a file is read piece by piece into one buffer. The bytes lent here are
/// valid until the next call that moves the cursor.
struct BodyCursor: ~Copyable {
  /// Why unstuffing came to a stop.
  enum Stop {
    /// The room was used up.
    case full
    /// The cursor stands at a marker's 0xFF.
    case marker
    /// The body has no more bytes, but for a lone 0xFF perhaps.
    case end
  }

  private let source: any JPEGSource
  /// All of a body in memory.
  private let memory: UnsafeRawBufferPointer?
  /// Where the pieces of a file go.
  private let buffer: UnsafeMutableRawBufferPointer
  private let windowLength: Int
  /// The bytes of the window that are still to be taken: from `next` up to `limit`.
  private var next: UnsafePointer<UInt8>
  private var limit: UnsafePointer<UInt8>
  /// The position in the body of the byte that `limit` points to.
  private var limitPosition = 0
  /// The length of the body: less than the source says when its file was cut short since.
  private(set) var count: Int

  /// A cursor at the body's start. `memory` are the bytes of a body in memory, which must outlive the cursor; nil for a
  /// file.
  init(_ source: any JPEGSource, memory: UnsafeRawBufferPointer?, windowLength: Int) {
    self.source = source
    self.memory = memory
    self.windowLength = max(2, windowLength)
    count = source.count
    // Never empty, so that there is an address to point to.
    let room = memory == nil ? max(1, min(self.windowLength, source.count)) : 1
    buffer = .allocate(byteCount: room, alignment: 16)
    // A buffer that is not empty has an address.
    let start = UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped).assumingMemoryBound(to: UInt8.self)
    (next, limit) = (start, start)
  }

  deinit { buffer.deallocate() }

  /// The bytes at hand.
  private var available: Int { limit - next }
  /// Where in the body the cursor stands.
  var position: Int { limitPosition - available }
  /// How many bytes of the body are still to come.
  var remaining: Int { count - position }

  /// Makes sure of `wanted` bytes in the window, at most 2. False when the body ends before.
  private mutating func have(_ wanted: Int) throws(JPEGError) -> Bool {
    if available >= wanted { return true }
    let start = position
    guard start <= count - wanted else { return false }
    let length = min(windowLength, count - start)
    if let memory {
      // Within the body: start + length ≤ count ≤ memory.count, and a body that has bytes has an address.
      let bytes = memory.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
      (next, limit) = (bytes + start, bytes + start + length)
      limitPosition = start + length
      return true
    }
    let got: Int
    do {
      got = try source.read(at: start, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<length]))
    } catch {
      throw .unreadable(detail: "\(error)")
    }
    next = UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped).assumingMemoryBound(to: UInt8.self)
    limit = next + got
    limitPosition = start + got
    if got < length { count = start + got }
    return got >= wanted
  }

  /// Goes on by `length` bytes, at most to the body's end.
  mutating func skip(_ length: Int) {
    if length <= available {
      next += length
    } else {
      limitPosition = min(count, position + length)
      next = limit
    }
  }

  /// Takes two bytes as a number, most significant first; nil when the body ends before.
  mutating func takeUInt16() throws(JPEGError) -> Int? {
    guard try have(2) else { return nil }
    defer { next += 2 }
    return Int(next[0]) << 8 | Int(next[1])
  }

  /// Takes up to `length` bytes; fewer when the body ends before.
  mutating func take(_ length: Int) throws(JPEGError) -> [UInt8] {
    var taken: [UInt8] = []
    taken.reserveCapacity(min(length, remaining))
    while taken.count < length, try have(1) {
      let part = min(length - taken.count, available)
      taken.append(contentsOf: UnsafeBufferPointer(start: next, count: part))
      next += part
    }
    return taken
  }

  /// Takes everything up to the next marker and the marker itself, whose second byte is returned; nil when there is
  /// none. Stray bytes before it are passed, as libjpeg does.
  mutating func takeMarker() throws(JPEGError) -> UInt8? {
    while try have(2) {
      guard let found = memchr(next, 0xFF, available - 1) else {
        // The last byte at hand may be the first of a marker.
        next = limit - 1
        continue
      }
      next = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
      let second = next[1]
      if second == 0xFF {
        next += 1
        continue
      }
      next += 2
      if second != 0 { return second }
    }
    return nil
  }

  /// Passes coded data up to the next marker that is not a restart marker. False when the body ends before.
  mutating func skipCodedData() throws(JPEGError) -> Bool {
    while let marker = try takeMarker() {
      if !(0xD0...0xD7).contains(marker) {
        // Both bytes are in the window still.
        next -= 2
        return true
      }
    }
    return false
  }

  /// Copies coded data without its stuffing, at most `room` bytes, up to the next marker.
  mutating func unstuff(
    into target: UnsafeMutablePointer<UInt8>, room: Int
  ) throws(JPEGError) -> (copied: Int, stop: Stop) {
    var copied = 0
    while copied < room {
      guard try have(1) else { return (copied, .end) }
      let reach = min(available, room - copied)
      let found = memchr(next, 0xFF, reach)
      let plain = found.map { UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) - next } ?? reach
      memcpy(target + copied, next, plain)
      copied += plain
      next += plain
      if found == nil { continue }
      guard try have(2) else { return (copied, .end) }
      switch next[1] {
      case 0:
        target[copied] = 0xFF
        copied += 1
        next += 2
      case 0xFF: next += 1
      default: return (copied, .marker)
      }
    }
    return (copied, .full)
  }
}
