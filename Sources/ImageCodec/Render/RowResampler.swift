import CVectors
import Glibc
import ThumbnailCore

/// Downsamples one plane of an image as its rows arrive, and passes on each new row as soon as its window is complete.
///
/// A plane that becomes at most a sixth as large is first averaged in boxes of whole samples, down to at least three
/// times the new size, where libvips goes down to twice. Then the vertical reduction combines the rows in the window of
/// a new row into one row of 16-bit samples, which is immediately reduced horizontally. Only a window of rows is kept.
///
/// The loops use unsafe memory without bounds checks. They rely on the checks of `init`, and on the kernels: every
/// window begins within the source, and its weights beyond the source are 0.
final class RowResampler {
  /// The longest side of a plane: safe for the arithmetic of offsets.
  private static let longestSide = 1 << 20
  /// New samples, and wide source samples, have 6 fraction bits: with the overshoot of two reductions they fit into 16
  /// bits.
  static let fractionBits: Int32 = 6
  /// The number of samples combined at once.
  private static let chunk = 16

  private let channels: Int
  private let across: ResampleKernel
  private let down: ResampleKernel
  private let boxes: BoxReducer?
  private let rows: RowWindow
  /// Whether the rows in the window are Int16.
  private let isWide: Bool
  private let usesAVX2: Bool
  private let scratch: UnsafeMutablePointer<Int16>
  /// The next new row.
  private var next = 0
  /// The remaining rows above the region, and those of the region.
  private var (skipped, left): (Int, Int)
  /// The bytes of each row that are beside the region.
  private let margin: Int
  /// The samples of the plane that are looked at.
  let window: PixelRectangle

  /// Prepares to compute `part` of an image whose full size is `target`.
  ///
  /// - Parameters:
  ///   - isWide: Whether samples are Int16 with `fractionBits` fraction bits instead of UInt8.
  ///   - region: The part of the image that is resampled; nil: all of it.
  ///   - usesAVX2: Whether the loops of `CVectors` are used, which give the same samples.
  /// - Throws: `.damaged(.shrink, …)` for invalid sizes, `.outOfMemory`.
  init(
    _ source: RowLayout.Plane, isWide: Bool, region: ImageShare?, target: PixelSize, part: PixelRectangle,
    usesAVX2: Bool = SampleVectors.hasAVX2
  ) throws(CodecError) {
    guard Self.supports(source.size), Self.supports(target), part.fits(into: target),
      (1...4).contains(source.channels),
      source.extent.width > 0, source.extent.height > 0, source.extent.width <= Double(source.size.width),
      source.extent.height <= Double(source.size.height)
    else { throw .damaged(.shrink, detail: "a plane of \(source.size) cannot become \(target)") }
    (channels, self.usesAVX2) = (source.channels, usesAVX2)
    // Only the samples that the region touches are used, so that none beyond its edges counts.
    var columns = (region?.across ?? .all).samples(of: source.extent.width, count: source.size.width)
    var lines = (region?.down ?? .all).samples(of: source.extent.height, count: source.size.height)
    let extent = PixelExtent(width: columns.extent, height: lines.extent)
    let factors = BoxReducer.Factors(extent: extent, target: target)
    // But interpolated pixels also depend on the samples beside them.
    if factors.across == 1, source.upsampling.width > 1 { columns.widen(within: source.size.width) }
    if factors.down == 1, source.upsampling.height > 1 { lines.widen(within: source.size.height) }
    let size = PixelSize(columns.range.count, lines.range.count)
    (skipped, left) = (lines.range.lowerBound, size.height)
    margin = columns.range.lowerBound * channels * (isWide ? 2 : 1)
    boxes = factors.isOne ? nil : try BoxReducer(size, channels: source.channels, isWide: isWide, factors)
    let base = boxes?.size ?? size
    // Boxes are used only if much reduction remains, and the kernel then is Lanczos.
    let box = factors.isOne ? source.box : 1
    across = KernelCache.kernel(
      ResampleKernel.Axis(
        count: base.width, origin: columns.origin / Double(factors.across),
        extent: extent.width / Double(factors.across), target: target.width,
        range: part.x..<part.x + part.size.width, box: box,
        upsampling: factors.across == 1 ? source.upsampling.width : 1,
        group: channels == 1 ? 8 : 4, alignment: channels == 1 ? 1 : 2))
    down = KernelCache.kernel(
      ResampleKernel.Axis(
        count: base.height, origin: lines.origin / Double(factors.down),
        extent: extent.height / Double(factors.down), target: target.height,
        range: part.y..<part.y + part.size.height, box: box,
        upsampling: factors.down == 1 ? source.upsampling.height : 1,
        group: 2, alignment: 1))
    // Boxes are added up whole.
    let (usedColumns, usedRows) =
      boxes == nil
      ? (across.source, down.starts[0]..<min(size.height, (down.starts.last ?? 0) + down.taps))
      : (0..<size.width, 0..<size.height)
    window = PixelRectangle(
      x: columns.range.lowerBound + usedColumns.lowerBound, y: lines.range.lowerBound + usedRows.lowerBound,
      size: PixelSize(usedColumns.count, usedRows.count))
    self.isWide = isWide || boxes != nil
    let sampleBytes = self.isWide ? 2 : 1
    rows = try RowWindow(
      height: base.height, count: down.taps, rowBytes: base.width * channels * sampleBytes,
      used: across.source.lowerBound * channels * sampleBytes..<across.source.upperBound * channels * sampleBytes)
    // The regions of the intermediate row, in samples: as far as the vectors and windows that begin in them reach.
    rowLength = across.source.count * channels + max(across.taps, Self.chunk)
    pairsLength = channels == 1 ? 0 : 4 * (across.source.count + across.taps + 2)
    let count = rowLength + pairsLength + across.starts.count * channels + 8
    guard let memory = calloc(count, 2) else { throw .outOfMemory }
    scratch = memory.assumingMemoryBound(to: Int16.self)
    rows.drop(before: down.starts[0])
  }

  deinit { free(scratch) }

  private let rowLength: Int
  private let pairsLength: Int

  /// Whether a plane of this size can be read or written.
  static func supports(_ size: PixelSize) -> Bool {
    (1...longestSide).contains(size.width) && (1...longestSide).contains(size.height)
  }

  /// An upper bound of the memory of a resampler in bytes, for planes of any orientation.
  static func bytes(base: PixelSize, channels: Int, target: PixelSize) -> Int {
    let (width, height) = (max(base.width, base.height), max(target.width, target.height))
    let reduction = max(1, width / max(1, min(target.width, target.height)))
    let window = 2 * 3 * min(reduction, 6) + 8
    return width * channels * 2 * (window + 4) + 40 * width + 64 * height * min(reduction, 6) + 4096
  }

  /// Adds the next rows of the plane, and passes each row that they complete to `emit`: its index within the part, and
  /// its samples with `fractionBits` fraction bits, not clamped. Rows beyond the plane are ignored.
  ///
  /// - Parameter isLasting: Whether the rows stay in memory until the last call, so that they need not be copied.
  func take(_ band: RowBand, isLasting: Bool = false, _ emit: (Int, UnsafePointer<Int16>) -> Void) {
    let above = min(skipped, band.count)
    skipped -= above
    let taken = min(left, band.count - above)
    left -= taken
    for index in above..<above + taken {
      let row = band.start + index * band.stride + margin
      if let boxes {
        guard let reduced = boxes.add(row) else { continue }
        rows.append(reduced, isLasting: false)
      } else {
        rows.append(row, isLasting: isLasting)
      }
      while next < down.starts.count, rows.has(down.starts[next]..<down.starts[next] + down.taps) {
        emit(next, newRow(next))
        next += 1
        if next < down.starts.count { rows.drop(before: down.starts[next]) }
      }
    }
  }

  /// Whether all new rows have been computed.
  var isDone: Bool { next == down.starts.count }

  /// Computes a new row; valid until the next call.
  private func newRow(_ y: Int) -> UnsafePointer<Int16> {
    let samples = across.source.count * channels
    let (pairs, reduced) = (scratch + rowLength, scratch + rowLength + pairsLength)
    let left = across.source.lowerBound * channels
    if isWide {
      reduceDown(y: y, left: left, count: samples, Int16.self)
    } else {
      reduceDown(y: y, left: left, count: samples, UInt8.self)
    }
    if channels == 1 {
      reducePlaneAcross(scratch, into: reduced)
    } else {
      Self.pairUp(scratch, count: (across.source.count + 1) / 2, channels: channels, into: pairs)
      reducePixelsAcross(pairs, into: reduced)
    }
    return UnsafePointer(reduced)
  }

  /// Combines the source rows in the window of the new row `y` into one, for `count` samples from `left` on.
  @inline(__always)
  private func reduceDown<Sample: RowSample>(y: Int, left: Int, count: Int, _: Sample.Type) {
    let row = scratch
    down.weights.withUnsafeBufferPointer { weights in
      guard let weights = weights.baseAddress.map({ $0 + y * down.taps }) else { return }
      let shift = Int32(ResampleKernel.fractionBits) &+ Sample.fractionBits &- Self.fractionBits
      let half = Int32(1) &<< (shift &- 1)
      rows.withRows(from: down.starts[y], count: down.taps) { pointers, taps in
        #if arch(x86_64)
          if usesAVX2, count >= Self.chunk {
            // In C it is an array of pointers that may be NULL.
            let rows = UnsafeRawPointer(pointers).assumingMemoryBound(to: UnsafeRawPointer?.self)
            return Sample.fractionBits == 0
              ? cvectors_combine_bytes(rows, taps, weights, left, count, row)
              : cvectors_combine_words(rows, taps, weights, left, count, row)
          }
        #endif
        let stride = MemoryLayout<Sample>.size
        var x = 0
        while x &+ Self.chunk <= count {
          var sums = SampleVectors.Sums(repeating: half)
          let offset = (left &+ x) &* stride
          var tap = 0
          while tap &+ 1 < taps {
            sums.add(
              pointers[tap] + offset, pointers[tap &+ 1] + offset, SampleVectors.pair(weights + tap), Sample.self)
            tap &+= 2
          }
          // The last row of an odd number; its partner below the image has weight 0.
          if tap < taps {
            let last = pointers[tap] + offset
            sums.add(last, last, SampleVectors.pair(weights + tap), Sample.self)
          }
          sums.store(shiftedBy: shift, to: row + x)
          x &+= Self.chunk
        }
        while x < count {
          var sum = half
          for tap in 0..<taps {
            sum &+= Sample.load(pointers[tap] + (left &+ x) &* stride) &* Int32(weights[tap])
          }
          row[x] = Int16(truncatingIfNeeded: sum &>> shift)
          x &+= 1
        }
      }
    }
  }

  /// Rearranges a row of pixels so that the samples of two neighbours are adjacent: r r g g b b a a; lanes beyond the
  /// channels are unused.
  private static func pairUp(
    _ row: UnsafeMutablePointer<Int16>, count: Int, channels: Int, into pairs: UnsafeMutablePointer<Int16>
  ) {
    for index in 0..<count {
      let source = UnsafeRawPointer(row + 2 &* channels &* index)
      let even = source.loadUnaligned(as: SIMD4<Int16>.self)
      let odd = source.loadUnaligned(fromByteOffset: 2 &* channels, as: SIMD4<Int16>.self)
      SampleVectors.store(SampleVectors.interleaved(even, odd), to: pairs + 8 &* index)
    }
  }

  private static let acrossShift = Int32(ResampleKernel.fractionBits)
  private static let acrossHalf = Int32(1) << (acrossShift - 1)

  /// Reduces a row of paired pixels horizontally. Writes up to three samples beyond the row.
  private func reducePixelsAcross(_ pairs: UnsafeMutablePointer<Int16>, into output: UnsafeMutablePointer<Int16>) {
    across.weights.withUnsafeBufferPointer { weights in
      guard var weights = weights.baseAddress else { return }
      #if arch(x86_64)
        if usesAVX2 {
          return across.starts.withUnsafeBufferPointer { starts in
            cvectors_reduce_pixels(
              pairs - 4 &* across.source.lowerBound, starts.baseAddress, weights, across.taps, starts.count, channels,
              output)
          }
        }
      #endif
      var target = output
      for start in across.starts {
        var source = pairs + 4 &* (start &- across.source.lowerBound)
        // Two accumulators, so that additions do not depend on each other.
        var (sum, other) = (SIMD4<Int32>(repeating: Self.acrossHalf), SIMD4<Int32>())
        for _ in 0..<across.taps / 4 {
          sum &+= SampleVectors.sumsOfPairs(SampleVectors.load(source), SampleVectors.pair(weights))
          other &+= SampleVectors.sumsOfPairs(SampleVectors.load(source + 8), SampleVectors.pair(weights + 2))
          source += 16
          weights += 4
        }
        let samples = SIMD4<Int16>(truncatingIfNeeded: (sum &+ other) &>> Self.acrossShift)
        UnsafeMutableRawPointer(target).storeBytes(of: samples, as: SIMD4<Int16>.self)
        target += channels
      }
    }
  }

  /// The same for a row of single samples. Every window is of `taps` samples within the scratch row.
  private func reducePlaneAcross(_ row: UnsafeMutablePointer<Int16>, into output: UnsafeMutablePointer<Int16>) {
    across.weights.withUnsafeBufferPointer { weights in
      guard var weights = weights.baseAddress else { return }
      let first = across.source.lowerBound
      across.starts.withUnsafeBufferPointer { starts in
        #if arch(x86_64)
          if usesAVX2, starts.count >= 8 {
            return cvectors_reduce_plane(
              row - first, starts.baseAddress, weights, across.taps, starts.count, output)
          }
        #endif
        var x = 0
        while x &+ 4 <= starts.count {
          // Four new samples at once share the additions across.
          let sums = SampleVectors.sums(
            dot(row + (starts[x] &- first), weights), dot(row + (starts[x &+ 1] &- first), weights + across.taps),
            dot(row + (starts[x &+ 2] &- first), weights + 2 &* across.taps),
            dot(row + (starts[x &+ 3] &- first), weights + 3 &* across.taps))
          let samples = SIMD4<Int16>(truncatingIfNeeded: (sums &+ Self.acrossHalf) &>> Self.acrossShift)
          UnsafeMutableRawPointer(output + x).storeBytes(of: samples, as: SIMD4<Int16>.self)
          weights += 4 &* across.taps
          x &+= 4
        }
        while x < starts.count {
          let sum = dot(row + (starts[x] &- first), weights).wrappedSum()
          output[x] = Int16(truncatingIfNeeded: (sum &+ Self.acrossHalf) &>> Self.acrossShift)
          weights += across.taps
          x &+= 1
        }
      }
    }
  }

  /// The products of samples and weights, in four sums.
  @inline(__always)
  private func dot(_ samples: UnsafePointer<Int16>, _ weights: UnsafePointer<Int16>) -> SIMD4<Int32> {
    var sum = SIMD4<Int32>()
    var tap = 0
    while tap < across.taps {
      sum &+= SampleVectors.sumsOfPairs(SampleVectors.load(samples + tap), SampleVectors.load(weights + tap))
      tap &+= 8
    }
    return sum
  }
}

extension PixelRectangle {
  /// Whether it is not empty and lies within an image of this size.
  func fits(into size: PixelSize) -> Bool {
    x >= 0 && y >= 0 && self.size.width > 0 && self.size.height > 0 && self.size.width <= size.width - x
      && self.size.height <= size.height - y
  }
}
