import Glibc
import ThumbnailCore

/// Averages boxes of whole samples as rows arrive: the cheap first part of a large reduction.
final class BoxReducer {
  /// The sides of a box, in samples.
  struct Factors {
    var across: Int
    var down: Int

    /// The largest boxes that leave at least three times the new size: twice would be visible in fine patterns.
    init(extent: PixelExtent, target: PixelSize) {
      across = min(Self.longest, max(1, Int(extent.width / Double(3 * target.width))))
      down = min(Self.longest, max(1, Int(extent.height / Double(3 * target.height))))
    }

    var isOne: Bool { across == 1 && down == 1 }

    /// The 16 bits of a column's sum hold 256 rows of white.
    private static let longest = 256
  }

  /// The size of the reduced plane. The last column and row may be of partial boxes.
  let size: PixelSize
  private let source: PixelSize
  private let channels: Int
  private let isWide: Bool
  private let factors: Factors
  /// The sums of the columns: 16 bits for UInt8 samples, 32 bits for Int16 samples.
  private let sums: UnsafeMutableRawPointer
  private let output: UnsafeMutablePointer<Int16>
  private var rowsInSum = 0
  private var rowsSeen = 0

  init(_ source: PixelSize, channels: Int, isWide: Bool, _ factors: Factors) throws(CodecError) {
    (self.source, self.channels, self.isWide, self.factors) = (source, channels, isWide, factors)
    size = PixelSize(
      (source.width + factors.across - 1) / factors.across, (source.height + factors.down - 1) / factors.down)
    let count = source.width * channels
    guard let sums = calloc(count + 16, isWide ? 4 : 2) else { throw .outOfMemory }
    guard let output = malloc(2 * size.width * channels) else {
      free(sums)
      throw .outOfMemory
    }
    (self.sums, self.output) = (sums, output.assumingMemoryBound(to: Int16.self))
  }

  deinit {
    free(sums)
    free(output)
  }

  /// Adds a row; the reduced row that it completes, with `RowResampler.fractionBits` fraction bits, valid until the
  /// next call.
  func add(_ row: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard rowsSeen < source.height else { return nil }
    let count = source.width * channels
    if isWide { accumulate(row, count, as: Int16.self, UInt32.self) } else { accumulateBytes(row, count) }
    rowsInSum += 1
    rowsSeen += 1
    guard rowsInSum == factors.down || rowsSeen == source.height else { return nil }
    if isWide { average(UInt32.self) } else { average(UInt16.self) }
    memset(sums, 0, count * (isWide ? 4 : 2))
    rowsInSum = 0
    return UnsafeRawPointer(output)
  }

  /// Samples are not negative: the first reduction has no overshoot.
  private func accumulate<Sample: FixedWidthInteger, Sum: FixedWidthInteger>(
    _ row: UnsafeRawPointer, _ count: Int, as _: Sample.Type, _: Sum.Type
  ) {
    let (sums, samples) = (
      sums.assumingMemoryBound(to: Sum.self), row.assumingMemoryBound(to: Sample.self)
    )
    for index in 0..<count { sums[index] &+= Sum(truncatingIfNeeded: samples[index]) }
  }

  private func accumulateBytes(_ row: UnsafeRawPointer, _ count: Int) {
    let sums = sums.assumingMemoryBound(to: UInt16.self)
    var index = 0
    while index &+ 16 <= count {
      let samples = (row + index).loadUnaligned(as: SIMD16<UInt8>.self)
      let target = UnsafeMutableRawPointer(sums + index)
      let low = target.loadUnaligned(as: SIMD8<UInt16>.self)
      let high = target.loadUnaligned(fromByteOffset: 16, as: SIMD8<UInt16>.self)
      target.storeBytes(of: low &+ SIMD8<UInt16>(truncatingIfNeeded: samples.lowHalf), as: SIMD8<UInt16>.self)
      target.storeBytes(
        of: high &+ SIMD8<UInt16>(truncatingIfNeeded: samples.highHalf), toByteOffset: 16, as: SIMD8<UInt16>.self)
      index &+= 16
    }
    while index < count {
      sums[index] &+= UInt16((row + index).load(as: UInt8.self))
      index &+= 1
    }
  }

  /// Adds up the columns of each box and divides by its number of samples.
  private func average<Sum: FixedWidthInteger & UnsignedInteger>(_: Sum.Type) {
    switch channels {
    case 1: average(1, Sum.self)
    case 2: average(2, Sum.self)
    case 3: average(3, Sum.self)
    default: average(4, Sum.self)
    }
  }

  @inline(__always)
  private func average<Sum: FixedWidthInteger & UnsignedInteger>(_ channels: Int, _: Sum.Type) {
    let sums = sums.assumingMemoryBound(to: Sum.self)
    let across = factors.across
    let whole = source.width / across
    let scale = reciprocal(across * rowsInSum)
    for box in 0..<whole {
      let first = sums + box &* across &* channels
      for channel in 0..<channels {
        var sum: UInt64 = 0
        var column = first + channel
        for _ in 0..<across {
          sum &+= UInt64(truncatingIfNeeded: column.pointee)
          column += channels
        }
        output[box &* channels &+ channel] = Int16(truncatingIfNeeded: (sum &* scale &+ 1 << 31) &>> 32)
      }
    }
    let rest = source.width - whole * across
    guard rest > 0 else { return }
    let restScale = reciprocal(rest * rowsInSum)
    for channel in 0..<channels {
      var sum: UInt64 = 0
      for column in 0..<rest {
        sum &+= UInt64(truncatingIfNeeded: sums[(whole * across + column) * channels + channel])
      }
      output[whole * channels + channel] = Int16(truncatingIfNeeded: (sum &* restScale &+ 1 << 31) &>> 32)
    }
  }

  /// The factor of a sum of `count` samples, times 2³².
  private func reciprocal(_ count: Int) -> UInt64 {
    let one = isWide ? 1.0 : Double(1 << RowResampler.fractionBits)
    return UInt64((one * 0x1p32 / Double(count)).rounded())
  }
}
