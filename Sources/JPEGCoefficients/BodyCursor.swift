import Glibc
import ThumbnailCore

/// Reads a body from start to end through a window of bounded length.
///
/// A body in memory is read in place; a file is read piece by piece into one buffer. The window's bytes are valid until
/// the next call that moves the cursor.
struct BodyCursor: ~Copyable {
  /// Why unstuffing stopped.
  enum Stop {
    /// The destination is full.
    case full
    /// The cursor is at a marker's 0xFF.
    case marker
    /// The body has no more bytes, except possibly a lone 0xFF.
    case end
  }

  private let source: any JPEGSource
  /// The whole body, if it is in memory.
  private let memory: UnsafeRawBufferPointer?
  /// The buffer for pieces of a file.
  private let buffer: UnsafeMutableRawBufferPointer
  private let windowLength: Int
  /// The unread bytes of the window: from `next` up to `limit`.
  private var next: UnsafePointer<UInt8>
  private var limit: UnsafePointer<UInt8>
  /// The offset in the body that `limit` corresponds to.
  private var limitPosition = 0
  /// The body's length in bytes: less than the source's `count` if its file was truncated since.
  private(set) var count: Int
  /// Whether coded data contained fill bytes, so that offsets in the buffer do not give offsets in the file.
  private(set) var hasPassedFill = false

  /// A cursor at the body's start. `memory` holds the bytes of a body in memory and must outlive the cursor; nil for a
  /// file.
  init(_ source: any JPEGSource, memory: UnsafeRawBufferPointer? = nil, windowLength: Int) {
    self.source = source
    self.memory = memory
    self.windowLength = max(2, windowLength)
    count = source.count
    // At least one byte, so that `baseAddress` is not nil.
    let room = memory == nil ? max(1, min(self.windowLength, source.count)) : 1
    buffer = .allocate(byteCount: room, alignment: 16)
    // A non-empty buffer has a base address.
    let start = UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped).assumingMemoryBound(to: UInt8.self)
    (next, limit) = (start, start)
  }

  deinit { buffer.deallocate() }

  /// The unread bytes in the window.
  private var available: Int { limit - next }
  /// The cursor's offset in the body.
  var position: Int { limitPosition - available }
  /// The number of bytes after the cursor.
  var remaining: Int { count - position }

  /// Ensures that `wanted` bytes, at most 2, are in the window. False if the body ends first.
  private mutating func have(_ wanted: Int) throws(CodecError) -> Bool {
    if available >= wanted { return true }
    let start = position
    guard start <= count - wanted else { return false }
    let length = min(windowLength, count - start)
    if let memory {
      // In bounds: start + length ≤ count ≤ memory.count, and a non-empty body has a base address.
      let bytes = memory.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
      (next, limit) = (bytes + start, bytes + start + length)
      limitPosition = start + length
      return true
    }
    let got: Int
    do {
      got = try source.read(at: start, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<length]))
    } catch {
      throw .unreadableBody(detail: "\(error)")
    }
    next = UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped).assumingMemoryBound(to: UInt8.self)
    limit = next + got
    limitPosition = start + got
    if got < length { count = start + got }
    return got >= wanted
  }

  /// Advances by `length` bytes, at most to the body's end.
  mutating func skip(_ length: Int) {
    if length <= available {
      next += length
    } else {
      limitPosition = min(count, position + length)
      next = limit
    }
  }

  /// Moves to an offset in the body.
  mutating func move(to offset: Int) { (next, limitPosition) = (limit, offset) }

  /// Reads some bytes anywhere in the body; fewer if it ends first. The cursor stays.
  func peek(at offset: Int, length: Int) throws(CodecError) -> [UInt8] {
    do { return try source.read(at: offset, length: length) } catch { throw .unreadableBody(detail: "\(error)") }
  }

  /// Reads a big-endian 16-bit number; nil if the body ends first.
  mutating func takeUInt16() throws(CodecError) -> Int? {
    guard try have(2) else { return nil }
    defer { next += 2 }
    return Int(next[0]) << 8 | Int(next[1])
  }

  /// Reads up to `length` bytes; fewer if the body ends first.
  mutating func take(_ length: Int) throws(CodecError) -> [UInt8] {
    var taken: [UInt8] = []
    taken.reserveCapacity(min(length, remaining))
    while taken.count < length, try have(1) {
      let part = min(length - taken.count, available)
      taken.append(contentsOf: UnsafeBufferPointer(start: next, count: part))
      next += part
    }
    return taken
  }

  /// Skips to the next marker, reads it and returns its second byte; nil if there is none. Stray bytes before it are
  /// skipped, as libjpeg does.
  mutating func takeMarker() throws(CodecError) -> UInt8? {
    while try have(2) {
      guard let found = memchr(next, 0xFF, available - 1) else {
        // The window's last byte may be the first byte of a marker.
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

  /// Reads this marker, where `unstuff` has stopped at one; false if it is another.
  mutating func take(marker: UInt8) -> Bool {
    // Both bytes are in the window.
    guard available >= 2, next[0] == 0xFF, next[1] == marker else { return false }
    next += 2
    return true
  }

  /// Skips coded data up to the next marker that is not a restart marker. False if the body ends first.
  mutating func skipCodedData() throws(CodecError) -> Bool {
    while let marker = try takeMarker() {
      if !(0xD0...0xD7).contains(marker) {
        // Both bytes are still in the window.
        next -= 2
        return true
      }
    }
    return false
  }

  /// Copies coded data without byte stuffing, at most `room` bytes, up to the next marker.
  mutating func unstuff(
    into target: UnsafeMutablePointer<UInt8>, room: Int
  ) throws(CodecError) -> (copied: Int, stop: Stop) {
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
      case 0xFF:
        next += 1
        hasPassedFill = true
      default: return (copied, .marker)
      }
    }
    return (copied, .full)
  }
}
