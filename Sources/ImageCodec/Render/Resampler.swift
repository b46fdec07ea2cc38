import ThumbnailCore

/// Downsamples rasters of 1 or 3 bands of 8 bits, several times as fast as libvips.
///
/// Vertical reduction comes first: for each new row, the source rows in its window are combined into one row of 16-bit
/// samples, which is at once reduced horizontally. So the working set stays in the processor's cache, and only that one
/// row is needed besides the two rasters.
///
/// The loops use unsafe memory without bounds checks. They rely on the checks of `Raster.resampled`, and on the
/// kernels: every window begins within the source, and its weights beyond the source are 0.
struct Resampler {
  /// The longest side of a raster: far beyond any base, and safe for the arithmetic of offsets.
  private static let longestSide = 1 << 20
  /// Samples between the two reductions have 6 fraction bits; with Lanczos' overshoot they fit into 16 bits.
  private static let rowBits = 6
  /// The number of samples combined at once.
  private static let chunk = 16

  private let base: PixelSize
  private let bands: Int
  private let across: ResampleKernel
  private let down: ResampleKernel

  /// Prepares to compute `part` of an image whose full size is `target`. `Raster.resampled` documents and checks the
  /// parameters.
  init(base: PixelSize, bands: Int, extent: PixelExtent, target: PixelSize, part: PixelRectangle) {
    (self.base, self.bands) = (base, bands)
    across = ResampleKernel(
      count: base.width, extent: extent.width, target: target.width, range: part.x..<part.x + part.size.width,
      group: bands == 1 ? 8 : 4, alignment: bands == 1 ? 1 : 2)
    down = ResampleKernel(
      count: base.height, extent: extent.height, target: target.height, range: part.y..<part.y + part.size.height,
      group: 2, alignment: 1)
  }

  /// Whether an image of this size can be read or written.
  static func canBear(_ size: PixelSize) -> Bool {
    (1...longestSide).contains(size.width) && (1...longestSide).contains(size.height)
  }

  /// The bytes that this resampling takes.
  var bytes: Int {
    let kernels = [across, down].map { 2 * $0.weights.count + 8 * ($0.starts.count + $0.taps) }
    return kernels[0] + kernels[1] + 2 * (rowLength + pairsLength + reducedLength)
  }

  // The lengths of the intermediate row's regions, in samples: as far as the vectors and windows that begin in them
  // reach.
  private var rowLength: Int { across.source.count * bands + max(across.taps, Self.chunk) }
  private var pairsLength: Int { bands == 1 ? 0 : 4 * (across.source.count + across.taps + 2) }
  private var reducedLength: Int { across.starts.count * bands + 8 }

  /// Computes the part's pixels from the base's in `input`; `output` has room for them.
  func run(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
    guard let pixels = input.baseAddress, let target = output.baseAddress else { return }
    precondition(input.count == base.pixelCount * bands)
    precondition(output.count == across.starts.count * down.starts.count * bands)
    let samples = across.source.count * bands
    let outputRow = across.starts.count * bands
    let (rowLength, pairsLength) = (rowLength, pairsLength)
    withUnsafeTemporaryAllocation(of: Int16.self, capacity: rowLength + pairsLength + reducedLength) { scratch in
      scratch.initialize(repeating: 0)
      guard let row = scratch.baseAddress else { return }
      let (pairs, reduced) = (row + rowLength, row + rowLength + pairsLength)
      for y in down.starts.indices {
        reduceDown(pixels + across.source.lowerBound * bands, count: samples, y: y, into: row)
        if bands == 1 {
          reduceGrayAcross(row, into: reduced)
        } else {
          Self.pairUp(row, count: (across.source.count + 1) / 2, into: pairs)
          reduceRGBAcross(pairs, into: reduced)
        }
        Self.narrow(reduced, count: outputRow, into: target + y * outputRow)
      }
    }
  }

  /// Combines the source rows in the window of the new row `y` into one, for `count` samples from `left` on.
  private func reduceDown(_ left: UnsafeRawPointer, count: Int, y: Int, into row: UnsafeMutablePointer<Int16>) {
    down.weights.withUnsafeBufferPointer { weights in
      guard let weights = weights.baseAddress.map({ $0 + y * down.taps }) else { return }
      let stride = base.width * bands
      let top = left + down.starts[y] * stride
      // The window may extend below the image, with weights of 0.
      let rows = min(down.taps, base.height - down.starts[y])
      let shift = Int32(ResampleKernel.fractionBits - Self.rowBits)
      let half = Int32(1) << (shift - 1)
      var x = 0
      while x + Self.chunk <= count {
        var sums = Self.Sums(repeating: half)
        var source = top + x
        for pair in 0..<rows / 2 {
          sums.add(source, source + stride, Self.pair(weights + 2 &* pair))
          source += 2 &* stride
        }
        // The last row of an odd number; its partner below the image has weight 0.
        if rows & 1 != 0 { sums.add(source, source, Self.pair(weights + (rows - 1))) }
        sums.store(shiftedBy: shift, to: row + x)
        x += Self.chunk
      }
      while x < count {
        var sum = half
        for tap in 0..<rows {
          sum &+= Int32((top + x + tap &* stride).load(as: UInt8.self)) &* Int32(weights[tap])
        }
        row[x] = Int16(truncatingIfNeeded: sum &>> shift)
        x += 1
      }
    }
  }

  /// Rearranges a row of RGB so that the samples of two neighbours are adjacent: r r g g b b and two unused ones.
  private static func pairUp(
    _ row: UnsafeMutablePointer<Int16>, count: Int, into pairs: UnsafeMutablePointer<Int16>
  ) {
    for index in 0..<count {
      let source = UnsafeRawPointer(row + 6 &* index)
      let even = source.loadUnaligned(as: SIMD4<Int16>.self)
      let odd = source.loadUnaligned(fromByteOffset: 6, as: SIMD4<Int16>.self)
      store(interleaved(even, odd), to: pairs + 8 &* index)
    }
  }

  private static let acrossShift = Int32(ResampleKernel.fractionBits + rowBits)
  private static let acrossHalf = Int32(1) << (acrossShift - 1)

  /// Reduces a row of paired RGB horizontally, to samples that may overshoot. Writes one sample beyond the row.
  private func reduceRGBAcross(_ pairs: UnsafeMutablePointer<Int16>, into output: UnsafeMutablePointer<Int16>) {
    across.weights.withUnsafeBufferPointer { weights in
      guard var weights = weights.baseAddress else { return }
      var target = output
      for start in across.starts {
        var source = pairs + 4 &* (start &- across.source.lowerBound)
        // Two accumulators, so that additions do not depend on each other.
        var (sum, other) = (SIMD4<Int32>(repeating: Self.acrossHalf), SIMD4<Int32>())
        for _ in 0..<across.taps / 4 {
          sum &+= Self.sumsOfPairs(Self.load(source), Self.pair(weights))
          other &+= Self.sumsOfPairs(Self.load(source + 8), Self.pair(weights + 2))
          source += 16
          weights += 4
        }
        let samples = SIMD4<Int16>(truncatingIfNeeded: (sum &+ other) &>> Self.acrossShift)
        UnsafeMutableRawPointer(target).storeBytes(of: samples, as: SIMD4<Int16>.self)
        target += 3
      }
    }
  }

  /// The same for a row of gray.
  private func reduceGrayAcross(_ row: UnsafeMutablePointer<Int16>, into output: UnsafeMutablePointer<Int16>) {
    across.weights.withUnsafeBufferPointer { weights in
      guard var weights = weights.baseAddress else { return }
      for (x, start) in across.starts.enumerated() {
        var source = row + (start &- across.source.lowerBound)
        var sum = SIMD4<Int32>()
        for _ in 0..<across.taps / 8 {
          sum &+= Self.sumsOfPairs(Self.load(source), Self.load(weights))
          source += 8
          weights += 8
        }
        output[x] = Int16(truncatingIfNeeded: (sum.wrappedSum() &+ Self.acrossHalf) &>> Self.acrossShift)
      }
    }
  }

  /// Clamps samples to 8 bits.
  private static func narrow(_ row: UnsafeMutablePointer<Int16>, count: Int, into output: UnsafeMutableRawPointer) {
    var x = 0
    while x + 8 <= count {
      let clamped = load(row + x).clamped(lowerBound: SIMD8(repeating: 0), upperBound: SIMD8(repeating: 255))
      (output + x).storeBytes(of: SIMD8<UInt8>(truncatingIfNeeded: clamped), as: SIMD8<UInt8>.self)
      x += 8
    }
    while x < count {
      (output + x).storeBytes(of: UInt8(clamping: row[x]), as: UInt8.self)
      x += 1
    }
  }
}
