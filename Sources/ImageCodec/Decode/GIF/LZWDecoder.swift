import ThumbnailCore

/// Expands the LZW codes of a GIF frame to colour indices.
///
/// A table entry holds the last one to eight indices of its string, and the code of the preceding indices, whose number
/// is a multiple of eight. So most strings are written with one store, and none depends on earlier output.
final class LZWDecoder {
  /// The most indices of one code, rounded up to whole stores: `expand` may write as many beyond its end.
  static let overshoot = 4096 + 8

  private struct Entry {
    /// The last indices, the first of them in the lowest byte.
    var tail: UInt64
    /// The code of the indices before the tail. Meaningless if there are none.
    var head: UInt16
    /// The number of indices less one.
    var last: UInt16
    /// The first index.
    var first: UInt8

    /// The entry of this string, whose code is `code`, and one more index.
    func appending(_ index: UInt8, code: Int) -> Entry {
      let place = (last &+ 1) & 7
      var longer = self
      longer.last = last &+ 1
      longer.tail = (place == 0 ? 0 : tail) | UInt64(index) &<< UInt64(place &* 8)
      if place == 0 { longer.head = UInt16(truncatingIfNeeded: code) }
      return longer
    }
  }

  private var input: LZWInput
  /// 4096 entries, all initialised. No entry below `end` refers to one of `end` or more, and none is longer than `end`
  /// indices.
  private let table = UnsafeMutablePointer<Entry>.allocate(capacity: 4096)
  private let codeSize: Int
  /// The bits of the next code.
  private var width: Int
  /// The next free entry.
  private var end: Int
  /// The code before; -1 at the start and after a clear code.
  private var previous = -1
  /// The bit of the input's buffer up to which codes have been read.
  private var position = 0
  /// Whether there are no more codes.
  private(set) var isAtEnd = false

  /// - Parameter codeSize: The bits of a colour index, 2 to 8.
  init(_ bytes: GIFBytes, codeSize: Int) {
    precondition((2...8).contains(codeSize))
    input = LZWInput(bytes)
    self.codeSize = codeSize
    width = codeSize + 1
    end = 1 << codeSize + 2
    for code in 0..<4096 {
      let index = UInt8(truncatingIfNeeded: code)
      (table + code).initialize(to: Entry(tail: UInt64(index), head: 0, last: 0, first: index))
    }
  }

  deinit { table.deallocate() }

  /// Reads up to the end of the frame's data.
  func finish() throws(CodecError) { try input.finish() }

  /// Writes indices from `start` on until there are `wanted` or the data ends, and returns their number, which may
  /// exceed `wanted`. `output` must have room for `wanted` + `overshoot`.
  ///
  /// - Throws: `.damaged` for a code that has no meaning yet, `.truncated`, `.unreadableBody`.
  func expand(
    into output: UnsafeMutableRawPointer, from start: Int, wanted: Int
  ) throws(CodecError) -> Int {
    if isAtEnd { return start }
    // In local variables, since the stores below could change members for all that the compiler knows.
    var (width, end, previous, position, count) = (width, end, previous, position, start)
    var (source, lastOffset, limit) = (input.start, input.lastOffset, input.bitLimit)
    let (clear, table) = (1 << codeSize, table)
    var before = table[max(0, previous)]
    defer { (self.width, self.end, self.previous, self.position) = (width, end, previous, position) }
    while count < wanted {
      if position >> 3 > lastOffset {
        // At least four bytes are left before the last offset, unless this is the first refill: see `lastOffset`.
        try input.refill(dropping: position >> 3)
        (source, lastOffset, limit) = (input.start, input.lastOffset, input.bitLimit)
        position &= 7
      }
      // Within the buffer by the check above; 32 bits hold any code at any of the first eight.
      let bits = UInt32(littleEndian: source.loadUnaligned(fromByteOffset: position >> 3, as: UInt32.self))
      let code = Int((bits &>> UInt32(position & 7)) & (1 &<< UInt32(width) &- 1))
      position &+= width
      if position >= limit {
        isAtEnd = true
        break
      }
      if code == clear {
        (width, end, previous) = (codeSize + 1, clear + 2, -1)
        continue
      }
      if previous >= 0 {
        if code == clear + 1 {
          isAtEnd = true
          break
        }
        guard code <= end else { throw .damaged(.decode, detail: "code \(code) of \(end)") }
        if end < 4096 {
          let first = code < end ? table[code].first : before.first
          let added = before.appending(first, code: previous)
          table[end] = added
          if end == 1 << width - 1, width < 12 { width += 1 }
          end += 1
        }
      } else if code > clear {
        throw .damaged(.decode, detail: "code \(code) before any other")
      }
      // `code` is below `end`, so its length is at most 4096, and the stores end before `count` + 4096 + 8.
      let entry = table[code]
      var place = Int(entry.last & ~7)
      (output + count).storeBytes(of: entry.tail.littleEndian, toByteOffset: place, as: UInt64.self)
      if place > 0 {
        var head = Int(entry.head)
        repeat {
          // A head has a multiple of eight indices, eight fewer each time, so `place` ends at 0.
          place -= 8
          (output + count).storeBytes(of: table[head].tail.littleEndian, toByteOffset: place, as: UInt64.self)
          head = Int(table[head].head)
        } while place > 0
      }
      count += Int(entry.last) + 1
      (previous, before) = (code, entry)
    }
    return count
  }
}
