/// The boxes of a JP2 file, which describe its codestream (ISO/IEC 15444-1, annex I). They have the form of HEIF's.
package struct JP2File: Sendable, Equatable {
  /// A palette: for each index a value in each column.
  package struct Palette: Sendable, Equatable {
    /// The bits of each column, 1 to 16.
    package let bits: [Int]
    package let entries: [[Int]]
  }

  /// The source of a channel's samples: a component, through a column of the palette if there is one.
  package struct Source: Sendable, Equatable {
    package let component: Int
    package let column: Int?

    package init(component: Int, column: Int? = nil) { (self.component, self.column) = (component, column) }
  }

  /// The meaning of a channel.
  package struct Definition: Sendable, Equatable {
    package let channel: Int
    /// 0 is a colour, 1 opacity, 2 opacity by which the colours have been multiplied.
    package let kind: Int
    /// The number of the colour, from 1; 0 is the whole image.
    package let association: Int
  }

  /// The range of the codestream in the file.
  package private(set) var codestream = 0..<0
  /// The enumerated colour space: 16 is sRGB, 17 gray, 18 sYCC, 12 CMYK.
  package private(set) var colourSpace: Int?
  /// The ICC profile in place of a colour space.
  package private(set) var profile: [UInt8]?
  package private(set) var palette: Palette?
  /// The channels in order, if there is a palette; empty: the components are the channels.
  package private(set) var channels: [Source] = []
  package private(set) var definitions: [Definition] = []

  /// The most bytes of the boxes about colours, a profile included.
  private static let mostHeaderBytes = 8 << 20

  /// Reads a file of `length` bytes. `read` returns the bytes at a position, or fewer at the end of the file.
  ///
  /// - Throws: `.truncated`, `.damaged`, or the errors of `read`.
  package init(length: Int, read: (_ position: Int, _ count: Int) throws -> [UInt8]) throws {
    var position = 0
    for _ in 0..<BoxCursor.mostBoxes where position < length {
      let header = try BoxHeader(read(position, BoxHeader.mostBytes))
      let content = position + header.headerLength
      // The last box may have no length, or in a truncated file a length beyond its end.
      let end = header.length.map { min(position + $0, length) } ?? length
      if header.kind == "jp2c" {
        codestream = content..<max(content, end)
        return
      }
      if header.kind == "jp2h" {
        guard end - content <= Self.mostHeaderBytes else { throw HEIFError.tooMany("bytes about colours") }
        try take(BoxCursor(read(content, end - content)))
      }
      position = end
    }
    throw HEIFError.truncated("before the codestream")
  }

  private mutating func take(_ header: BoxCursor) throws(HEIFError) {
    var mapping: [Source] = []
    for (kind, box) in try header.boxes() {
      var box = box
      switch kind {
      case "colr" where colourSpace == nil && profile == nil:
        let method = try box.number(1)
        _ = try box.number(2)
        if method == 1 { colourSpace = try box.number(4) }
        if method == 2 || method == 3 { profile = box.remaining }
      case "pclr":
        let (count, columns) = (try box.number(2), try box.number(1))
        var bits: [Int] = []
        for _ in 0..<columns { bits.append(try box.number(1) + 1) }
        guard (1...1024).contains(count), bits.allSatisfy({ (1...16).contains($0) }) else {
          throw .unsupported("a palette of \(count) colours of \(bits) bits")
        }
        var entries: [[Int]] = []
        for _ in 0..<count {
          var entry: [Int] = []
          for bits in bits { entry.append(try box.number((bits + 7) / 8)) }
          entries.append(entry)
        }
        palette = Palette(bits: bits, entries: entries)
      case "cmap":
        while !box.isAtEnd {
          let (component, usesPalette, column) = (try box.number(2), try box.number(1), try box.number(1))
          mapping.append(Source(component: component, column: usesPalette == 1 ? column : nil))
        }
      case "cdef":
        for _ in 0..<(try box.number(2)) {
          definitions.append(
            Definition(channel: try box.number(2), kind: try box.number(2), association: try box.number(2)))
        }
      default: break
      }
    }
    guard let palette else { return }
    guard mapping.allSatisfy({ $0.column ?? 0 < palette.bits.count }) else {
      throw .damaged("a palette without a column")
    }
    channels = mapping
  }
}
