import Glibc

/// The inverse transforms of blocks of 4×4 and 8×8 coefficients, in floating point: one instruction multiplies four
/// floats, but no instruction of the basic set multiplies four 32-bit integers.
///
/// A transform in one direction handles four columns, or rows, at a time. Its constant factors are part of the
/// quantisers.
enum BlockTransform {
  typealias Four = SIMD4<Float>

  /// The factors of the quantisers in each direction, by frequency.
  static func weights(_ side: BlockSide) -> [Float] {
    let cosines = (0..<8).map { cos(Double($0) * .pi / 16) }
    return switch side {
    case .one: [1]
    case .two: [1, 1]
    case .four: [Float](repeating: 1, count: 4)
    // The factors of Arai, Agui and Nakajima.
    case .eight: (0..<8).map { Float($0 == 0 ? (0.125).squareRoot() : cosines[$0] / 2) }
    }
  }

  /// Column `x` of the 4×4 samples of a coefficient of 1: its index in rows is `slot`.
  static func wave(_ slot: Int, _ x: Int) -> Four {
    func sample(_ frequency: Int, _ place: Int) -> Double {
      frequency == 0 ? (0.125).squareRoot() : cos(Double((2 * place + 1) * frequency) * .pi / 8) / 2
    }
    var column = Four()
    for y in 0..<4 { column[y] = Float(sample(slot % 4, x) * sample(slot / 4, y)) }
    return column
  }

  /// Writes 4×4 samples from the offsets in their columns.
  @inline(__always)
  static func store(
    _ a: Four, _ b: Four, _ c: Four, _ d: Four, into output: UnsafeMutableRawPointer, rowBytes: Int
  ) {
    let words = packed(a, b, c, d)
    output.storeBytes(of: words[0].littleEndian, as: UInt32.self)
    output.storeBytes(of: words[1].littleEndian, toByteOffset: rowBytes, as: UInt32.self)
    output.storeBytes(of: words[2].littleEndian, toByteOffset: 2 &* rowBytes, as: UInt32.self)
    output.storeBytes(of: words[3].littleEndian, toByteOffset: 3 &* rowBytes, as: UInt32.self)
  }

  /// Writes 4×4 samples from as many coefficients in rows, which are twice their values. `factors` are the quantisers.
  @inline(__always)
  static func four(
    _ block: UnsafePointer<Int16>, _ factors: UnsafePointer<Float>, into output: UnsafeMutableRawPointer, rowBytes: Int
  ) {
    func row(_ y: Int) -> Four {
      let values = block + 4 &* y
      return Four(Float(values[0]), Float(values[1]), Float(values[2]), Float(values[3]))
        * load(UnsafeRawPointer(factors), 16 &* y)
    }
    let rows = four(row(0), row(1), row(2), row(3))
    let columns = transposed(rows.0, rows.1, rows.2, rows.3)
    let samples = four(columns.0, columns.1, columns.2, columns.3)
    store(samples.0, samples.1, samples.2, samples.3, into: output, rowBytes: rowBytes)
  }

  /// Four samples from four frequencies, times √½.
  @inline(__always)
  private static func four(_ f0: Four, _ f1: Four, _ f2: Four, _ f3: Four) -> (Four, Four, Four, Four) {
    let (e0, e1) = ((f0 + f2) * 0.25, (f0 - f2) * 0.25)
    // ½ · √½ of the cosine and the sine of π/8.
    let (o0, o1) = (f1 * 0.326640741 + f3 * 0.135299025, f1 * 0.135299025 - f3 * 0.326640741)
    return (e0 + o0, e1 + o1, e1 - o1, e0 - o0)
  }

  /// Writes 8×8 samples of a block that has only its DC coefficient.
  @inline(__always)
  static func flat(_ block: UnsafePointer<Float>, into output: UnsafeMutableRawPointer, rowBytes: Int) {
    let sample = UInt8(max(0, min(255, block[0].rounded(.toNearestOrEven) + 128)))
    let row = UInt64(sample) &* 0x0101_0101_0101_0101
    for y in 0..<8 { output.storeBytes(of: row.littleEndian, toByteOffset: y &* rowBytes, as: UInt64.self) }
  }

  /// Writes 8×8 samples from as many coefficients in rows, which have been multiplied by the quantisers. They are
  /// overwritten. `isSparse` says that only the first 4×4 are not 0.
  static func eight(
    _ block: UnsafeMutablePointer<Float>, isSparse: Bool, into output: UnsafeMutableRawPointer, rowBytes: Int
  ) {
    let rows = UnsafeMutableRawPointer(block)
    if isSparse {
      sparseColumns(rows)
    } else {
      columns(rows)
      columns(rows + 16)
    }
    for y in [0, 4] {
      let half = UnsafeRawPointer(rows + 32 &* y)
      let left = transposed(load(half, 0), load(half, 32), load(half, 64), load(half, 96))
      let right =
        isSparse
        ? (Four.zero, Four.zero, Four.zero, Four.zero)
        : transposed(load(half, 16), load(half, 48), load(half, 80), load(half, 112))
      let samples = eight(left.0, left.1, left.2, left.3, right.0, right.1, right.2, right.3)
      let (first, second) = (
        packed(samples.0, samples.1, samples.2, samples.3), packed(samples.4, samples.5, samples.6, samples.7)
      )
      let target = output + y &* rowBytes
      for y in 0..<4 {
        let row = UInt64(first[y]) | UInt64(second[y]) &<< 32
        target.storeBytes(of: row.littleEndian, toByteOffset: y &* rowBytes, as: UInt64.self)
      }
    }
  }

  /// Transforms four columns in place.
  @inline(never)
  private static func columns(_ rows: UnsafeMutableRawPointer) {
    let from = UnsafeRawPointer(rows)
    store(
      eight(
        load(from, 0), load(from, 32), load(from, 64), load(from, 96), load(from, 128), load(from, 160),
        load(from, 192), load(from, 224)), rows)
  }

  @inline(never)
  private static func sparseColumns(_ rows: UnsafeMutableRawPointer) {
    let from = UnsafeRawPointer(rows)
    store(
      eight(
        load(from, 0), load(from, 32), load(from, 64), load(from, 96), Four.zero, Four.zero, Four.zero, Four.zero),
      rows)
  }

  @inline(__always)
  private static func store(
    _ samples: (Four, Four, Four, Four, Four, Four, Four, Four), _ rows: UnsafeMutableRawPointer
  ) {
    rows.storeBytes(of: samples.0, as: Four.self)
    rows.storeBytes(of: samples.1, toByteOffset: 32, as: Four.self)
    rows.storeBytes(of: samples.2, toByteOffset: 64, as: Four.self)
    rows.storeBytes(of: samples.3, toByteOffset: 96, as: Four.self)
    rows.storeBytes(of: samples.4, toByteOffset: 128, as: Four.self)
    rows.storeBytes(of: samples.5, toByteOffset: 160, as: Four.self)
    rows.storeBytes(of: samples.6, toByteOffset: 192, as: Four.self)
    rows.storeBytes(of: samples.7, toByteOffset: 224, as: Four.self)
  }

  @inline(__always)
  private static func load(_ rows: UnsafeRawPointer, _ offset: Int) -> Four {
    rows.loadUnaligned(fromByteOffset: offset, as: Four.self)
  }

  /// Eight samples from eight frequencies, by the algorithm of Arai, Agui and Nakajima.
  @inline(__always)
  private static func eight(
    _ f0: Four, _ f1: Four, _ f2: Four, _ f3: Four, _ f4: Four, _ f5: Four, _ f6: Four, _ f7: Four
  ) -> (Four, Four, Four, Four, Four, Four, Four, Four) {
    let (sum, difference, pair) = (f0 + f4, f0 - f4, f2 + f6)
    let turned = (f2 - f6) * 1.414213562 - pair
    let (e0, e3, e1, e2) = (sum + pair, sum - pair, difference + turned, difference - turned)
    let (z13, z10, z11, z12) = (f5 + f3, f5 - f3, f1 + f7, f1 - f7)
    let o0 = z11 + z13
    let z5 = (z10 + z12) * 1.847759065
    let o1 = z5 - z10 * 2.613125930 - o0
    let o2 = (z11 - z13) * 1.414213562 - o1
    let o3 = z5 - z12 * 1.082392200 - o2
    return (e0 + o0, e1 + o1, e2 + o2, e3 + o3, e3 - o3, e2 - o2, e1 - o1, e0 - o0)
  }

  /// The columns as rows. As integers, so that the compiler keeps the arithmetic in vector registers.
  @inline(__always)
  private static func transposed(_ a: Four, _ b: Four, _ c: Four, _ d: Four) -> (Four, Four, Four, Four) {
    typealias Words = SIMD4<UInt32>
    let (a, b) = (unsafeBitCast(a, to: Words.self), unsafeBitCast(b, to: Words.self))
    let (c, d) = (unsafeBitCast(c, to: Words.self), unsafeBitCast(d, to: Words.self))
    return (
      unsafeBitCast(Words(a[0], b[0], c[0], d[0]), to: Four.self),
      unsafeBitCast(Words(a[1], b[1], c[1], d[1]), to: Four.self),
      unsafeBitCast(Words(a[2], b[2], c[2], d[2]), to: Four.self),
      unsafeBitCast(Words(a[3], b[3], c[3], d[3]), to: Four.self)
    )
  }

  /// Rounds, clamps and packs four columns of offsets: a word for each lane, its first column in the lowest byte.
  @inline(__always)
  private static func packed(_ a: Four, _ b: Four, _ c: Four, _ d: Four) -> SIMD4<UInt32> {
    let (first, second, third, fourth) = (level(a), level(b), level(c), level(d))
    let all = unsafeBitCast(first | second | third | fourth, to: SIMD2<UInt64>.self)
    if (all[0] | all[1]) & 0xFFFF_FF00_FFFF_FF00 != 0 { return clampedWords(a, b, c, d) }
    return first | second &<< 8 | third &<< 16 | fourth &<< 24
  }

  /// The same if some are out of range.
  @inline(never)
  private static func clampedWords(_ a: Four, _ b: Four, _ c: Four, _ d: Four) -> SIMD4<UInt32> {
    var words = SIMD4<UInt32>()
    for lane in 0..<4 {
      for (column, offset) in [a[lane], b[lane], c[lane], d[lane]].enumerated() {
        let sample = max(0, min(255, offset.rounded(.toNearestOrEven) + 128))
        words[lane] |= UInt32(sample) << UInt32(8 * column)
      }
    }
    return words
  }

  /// Offsets from mid-grey as samples; more than 255 if out of range.
  @inline(__always)
  private static func level(_ offset: Four) -> SIMD4<UInt32> {
    // Adding 1.5 · 2²³ leaves the rounded number in the lowest bits; a number out of range shows as another exponent.
    unsafeBitCast(offset + (12_582_912 + 128), to: SIMD4<UInt32>.self) &- 0x4B40_0000
  }
}
