import Foundation

/// The kept data of one component: its blocks' first coefficients or their samples; samples in the end.
///
/// It owns its memory. What was not decoded is mid-grey.
final class SamplePlane {
  /// What is stored per block.
  enum Layout {
    /// One sample.
    case sample
    /// 2×2 samples.
    case quad
    /// Four 16-bit coefficients, which become 2×2 samples.
    case coefficients

    init(scale: JPEGScale, isProgressive: Bool) {
      switch scale {
      case .eighth: self = .sample
      case .quarter: self = isProgressive ? .coefficients : .quad
      }
    }
  }

  /// The bytes per row of samples, which is also the number of samples.
  let rowBytes: Int
  /// The number of rows of samples.
  let rows: Int
  /// The bytes per block, in its first row.
  let blockBytes: Int
  /// The bytes per row of blocks.
  let blockRowBytes: Int
  /// The first byte.
  let start: UnsafeMutableRawPointer

  private let layout: Layout
  private let blocksAcross: Int
  private let blocksDown: Int

  /// A plane for `across` × `down` blocks.
  init(across: Int, down: Int, layout: Layout) throws(JPEGError) {
    (blocksAcross, blocksDown, self.layout) = (across, down, layout)
    let side = layout == .sample ? 1 : 2
    (rowBytes, rows) = (across * side, down * side)
    (blockBytes, blockRowBytes) = layout == .coefficients ? (8, across * 8) : (side, across * side * side)
    let count = down * blockRowBytes
    guard let memory = layout == .coefficients ? calloc(max(1, count), 1) : malloc(max(1, count)) else {
      throw .damaged(.decode, detail: "no memory for \(count) bytes")
    }
    if layout != .coefficients { memset(memory, 128, count) }
    start = memory
  }

  deinit { free(start) }

  /// A row of samples.
  func row(_ index: Int) -> UnsafePointer<UInt8> {
    UnsafePointer((start + rowBytes * index).assumingMemoryBound(to: UInt8.self))
  }

  /// Converts coefficients to samples in place; to be called once. Has no effect on samples.
  ///
  /// - Parameters:
  ///   - quantisers: Those of the four coefficients.
  ///   - bits: For each the bit position that it is exact to.
  func makeSamples(quantisers: SIMD4<Int32>, bits: SIMD4<Int32>) {
    guard layout == .coefficients else { return }
    // A row of blocks has half as many bytes of samples as of coefficients, but its first row of samples would
    // overwrite coefficients that are still to be read.
    withUnsafeTemporaryAllocation(byteCount: 2 * rowBytes, alignment: 8) { row in
      guard let row = row.baseAddress else { return }
      for y in 0..<blocksDown {
        let coefficients = start + y * blockRowBytes
        for x in 0..<blocksAcross {
          let block = coefficients.load(fromByteOffset: x * 8, as: SIMD4<Int16>.self)
          BlockSamples.quarter(
            BlockSamples.doubledDC(block[0], bit: bits[0]) &* Int(quantisers[0]),
            BlockSamples.doubledAC(block[1], bit: bits[1]) &* Int(quantisers[1]),
            BlockSamples.doubledAC(block[2], bit: bits[2]) &* Int(quantisers[2]),
            BlockSamples.doubledAC(block[3], bit: bits[3]) &* Int(quantisers[3]), into: row + 2 * x,
            rowBytes: rowBytes)
        }
        memcpy(start + 2 * y * rowBytes, row, 2 * rowBytes)
      }
    }
  }
}
