/// Turns a stored row, its filter undone, into samples of whole bytes or of 16 bits, as libpng does: palettes and depths
/// below 8 expanded, a transparent colour as alpha.
struct PNGSamples {
  private enum Conversion {
    /// The rows are handed on as they are.
    case none
    /// Indices of 1 to 8 bits, or gray of 1 to 4 with a transparent level, each replaced by an entry of a table.
    case table([UInt32], bits: Int)
    /// Gray of 1 to 4 bits: the samples of each byte.
    case packed([UInt64], samplesPerByte: Int)
    /// Samples of 8 bits, with an alpha of 0 for pixels of the given colour.
    case bytes(transparent: [UInt8])
    /// Samples of 16 bits, big-endian, with alpha if there is a transparent colour.
    case words(samples: Int, transparent: [UInt16])
  }

  /// The channels of a pixel: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
  let channels: Int
  /// The bytes of a sample, 1 or 2.
  let sampleBytes: Int
  /// The bytes behind a converted row that may be written.
  static let margin = 8

  private let conversion: Conversion

  init(_ preamble: PNGPreamble) {
    let hasAlpha = preamble.transparency != nil
    let stored = preamble.colour == .indexed ? 3 : preamble.colour.samples
    channels = stored + (hasAlpha ? 1 : 0)
    sampleBytes = preamble.depth == 16 ? 2 : 1
    if preamble.colour == .indexed {
      conversion = .table(Self.colours(preamble), bits: preamble.depth)
    } else if preamble.depth < 8 {
      let levels = Self.levels(preamble)
      conversion =
        hasAlpha
        ? .table(levels, bits: preamble.depth)
        : .packed(Self.packed(levels, bits: preamble.depth), samplesPerByte: 8 / preamble.depth)
    } else {
      let words = Self.words(preamble.transparency ?? [])
      if preamble.depth == 16 {
        conversion = .words(samples: stored, transparent: words)
      } else {
        conversion = hasAlpha ? .bytes(transparent: words.map { UInt8(truncatingIfNeeded: $0) }) : .none
      }
    }
  }

  /// Whether rows must be converted at all.
  var convert: Bool { if case .none = conversion { false } else { true } }

  private static func words(_ bytes: [UInt8]) -> [UInt16] {
    stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
  }

  /// Red, green, blue and alpha of all 256 indices, the first in the lowest byte. Indices beyond the palette are black.
  private static func colours(_ preamble: PNGPreamble) -> [UInt32] {
    let (palette, alphas) = (preamble.palette ?? [], preamble.transparency ?? [])
    return (0..<256).map { index in
      let colour = index * 3 + 2 < palette.count ? Array(palette[index * 3..<index * 3 + 3]) : [0, 0, 0]
      let alpha = index < alphas.count ? alphas[index] : 255
      return UInt32(colour[0]) | UInt32(colour[1]) << 8 | UInt32(colour[2]) << 16 | UInt32(alpha) << 24
    }
  }

  /// Gray from 0 to 255, and alpha.
  private static func levels(_ preamble: PNGPreamble) -> [UInt32] {
    let most = 1 << preamble.depth - 1
    let transparent = words(preamble.transparency ?? []).first.map { Int($0) & most }
    return (0...most).map { UInt32($0 * 255 / most) | ($0 == transparent ? 0 : 0xFF00) }
  }

  /// The gray samples of all 256 bytes, the first in the lowest byte.
  private static func packed(_ levels: [UInt32], bits: Int) -> [UInt64] {
    (0..<256).map { byte in
      stride(from: 0, to: 8, by: bits).reduce(0) { samples, shift in
        samples << 8 | UInt64(levels[byte >> shift & (1 << bits - 1)] & 255)
      }
    }
  }

  /// Converts a row of `width` pixels.
  ///
  /// Safety: `row` has `width` stored pixels, `target` room for as many converted ones and `margin` bytes.
  func convert(_ row: UnsafeRawPointer, width: Int, into target: UnsafeMutableRawPointer) {
    switch conversion {
    case .none: target.copyMemory(from: row, byteCount: width * channels)
    case .table(let table, let bits): Self.look(up: table, row, bits: bits, width, target, channels: channels)
    case .packed(let table, let samplesPerByte):
      table.withUnsafeBufferPointer { table in
        // Eight samples are written for each byte; the next byte overwrites the surplus.
        for index in 0..<(width &+ samplesPerByte &- 1) / samplesPerByte {
          let samples = table[Int(row.load(fromByteOffset: index, as: UInt8.self))]
          target.storeBytes(of: samples.littleEndian, toByteOffset: index &* samplesPerByte, as: UInt64.self)
        }
      }
    case .bytes(let transparent):
      let samples = transparent.count
      for x in 0..<width {
        let (from, to) = (row + x &* samples, target + x &* (samples &+ 1))
        var isEqual = true
        for index in 0..<samples {
          let sample = from.load(fromByteOffset: index, as: UInt8.self)
          isEqual = isEqual && sample == transparent[index]
          to.storeBytes(of: sample, toByteOffset: index, as: UInt8.self)
        }
        to.storeBytes(of: isEqual ? 0 : 255, toByteOffset: samples, as: UInt8.self)
      }
    case .words(let samples, let transparent):
      if transparent.isEmpty {
        for index in 0..<width &* samples {
          let word = UInt16(bigEndian: (row + index &* 2).loadUnaligned(as: UInt16.self))
          target.storeBytes(of: word, toByteOffset: index &* 2, as: UInt16.self)
        }
        return
      }
      for x in 0..<width {
        let (from, to) = (row + x &* samples &* 2, target + x &* (samples &+ 1) &* 2)
        var isEqual = true
        for index in 0..<samples {
          let word = UInt16(bigEndian: (from + index &* 2).loadUnaligned(as: UInt16.self))
          isEqual = isEqual && word == transparent[index]
          to.storeBytes(of: word, toByteOffset: index &* 2, as: UInt16.self)
        }
        to.storeBytes(of: isEqual ? 0 : .max, toByteOffset: samples &* 2, as: UInt16.self)
      }
    }
  }

  /// Replaces indices of `bits` bits by the lower bytes of their entries; the table has one for each.
  private static func look(
    up table: [UInt32], _ row: UnsafeRawPointer, bits: Int, _ width: Int, _ target: UnsafeMutableRawPointer,
    channels: Int
  ) {
    table.withUnsafeBufferPointer { table in
      let mask = UInt8(truncatingIfNeeded: 1 &<< bits &- 1)
      var target = target
      for x in 0..<width {
        let bit = x &* bits
        let byte = row.load(fromByteOffset: bit &>> 3, as: UInt8.self)
        let index = (byte &>> UInt8(truncatingIfNeeded: 8 &- bits &- bit & 7)) & mask
        // Entries overlap: the next one overwrites the surplus of this one, and the margin takes that of the last.
        target.storeBytes(of: table[Int(index)].littleEndian, as: UInt32.self)
        target += channels
      }
    }
  }
}
