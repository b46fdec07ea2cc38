/// The parts of a file that have been read so far.
///
/// A walk reads from here. If a part is missing, it ends with `MissingBytes`, and begins again when the part has been
/// added. So it needs no stack of states, and its bytes may come from a file, a stream or requests of ranges.
package struct KnownBytes: Sendable {
  private var parts: [(start: Int, bytes: [UInt8])] = []
  /// The length of the file in bytes; nil as long as it is not known.
  package private(set) var end: Int?

  /// The least bytes that are read if some are missing.
  static let least = 4096

  package init() {}

  /// Whether nothing was read yet.
  var isEmpty: Bool { parts.isEmpty && end == nil }

  /// Adds the bytes of `range`: fewer only at the end of the file.
  package mutating func add(_ bytes: [UInt8], of range: Range<Int>) {
    if bytes.count < range.count { end = range.lowerBound + bytes.count }
    parts.append((range.lowerBound, bytes))
  }

  /// The bytes in `range`; nil if the file ends before.
  ///
  /// - Throws: The bytes that have to be read first.
  package func slice(_ range: Range<Int>) throws(MissingBytes) -> ArraySlice<UInt8>? {
    guard range.lowerBound >= 0 else { return nil }
    for part in parts where part.start <= range.lowerBound && range.upperBound <= part.start + part.bytes.count {
      return part.bytes[range.lowerBound - part.start..<range.upperBound - part.start]
    }
    if let end, range.upperBound > end { return nil }
    let upper = max(range.upperBound, range.lowerBound.addingReportingOverflow(Self.least).partialValue)
    throw MissingBytes(range: range.lowerBound..<min(upper, end ?? .max))
  }

  /// An unsigned number of up to 7 bytes; nil beyond the file's end.
  package func number(at position: Int, count: Int, isBigEndian: Bool) throws(MissingBytes) -> Int? {
    guard position >= 0, position <= Self.furthest, let bytes = try slice(position..<position + count) else {
      return nil
    }
    let append = { (value: Int, byte: UInt8) in value << 8 | Int(byte) }
    return isBigEndian ? bytes.reduce(0, append) : bytes.reversed().reduce(0, append)
  }

  /// Whether these bytes are at a position.
  package func has(_ wanted: [UInt8], at position: Int) throws(MissingBytes) -> Bool {
    guard position >= 0, position <= Self.furthest else { return false }
    return try slice(position..<position + wanted.count)?.elementsEqual(wanted) ?? false
  }

  /// Whether this ASCII text is at a position.
  package func has(_ wanted: String, at position: Int) throws(MissingBytes) -> Bool {
    try has(Array(wanted.utf8), at: position)
  }

  /// Whether one of these ASCII texts is at a position.
  package func has(anyOf wanted: [String], at position: Int) throws(MissingBytes) -> Bool {
    for text in wanted { if try has(text, at: position) { return true } }
    return false
  }

  /// No position in a file is beyond this, so sums of a few positions and lengths do not overflow.
  package static let furthest = 1 << 48
}

/// A walk needs these bytes of the file before it can go on.
package struct MissingBytes: Error, Equatable {
  package let range: Range<Int>
}

/// A box (ISO/IEC 14496-12) in the bytes of a file.
package struct KnownBox {
  /// Four characters.
  package let kind: [UInt8]
  /// The range of its content.
  package let payload: Range<Int>

  package var end: Int { payload.upperBound }

  package func isKind(_ name: String) -> Bool { kind.elementsEqual(name.utf8) }
}

extension KnownBytes {
  /// The box at a position; nil if there is none, or it does not end before `end`.
  package func box(at position: Int, before end: Int) throws(MissingBytes) -> KnownBox? {
    guard position + 8 <= end, var size = try number(at: position, count: 4, isBigEndian: true),
      let kind = try slice(position + 4..<position + 8)
    else { return nil }
    var header = 8
    if size == 1 {
      // No file is so long that the first byte is not 0.
      guard try has([0], at: position + 8), let long = try number(at: position + 9, count: 7, isBigEndian: true)
      else { return nil }
      (size, header) = (long, 16)
    } else if size == 0 {
      size = end - position
    }
    guard size >= header, size <= end - position else { return nil }
    return KnownBox(kind: Array(kind), payload: position + header..<position + size)
  }
}
