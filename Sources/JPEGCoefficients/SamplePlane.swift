import Foundation

/// What is kept of one component: its blocks' first coefficients or their samples; in the end samples.
///
/// It owns its memory. Where nothing was decoded it is mid-grey.
final class SamplePlane {
  /// What a block leaves behind.
  enum Layout {
    /// One sample.
    case sample
    /// 2×2 samples.
    case quad
    /// Four coefficients of 16 bits, which become 2×2 samples.
    case coefficients

    init(scale: JPEGScale, isProgressive: Bool) {
      switch scale {
      case .eighth: self = .sample
      case .quarter: self = isProgressive ? .coefficients : .quad
      }
    }
  }

  /// The bytes of a row of samples, and their number.
  let rowBytes: Int
  /// The rows of samples.
  let rows: Int
  /// The bytes of a block, in its first row.
  let blockBytes: Int
  /// The bytes from a row of blocks to the next.
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

  /// Makes samples of coefficients in the same memory; to be called once. Without effect on samples.
  ///
  /// - Parameters:
  ///   - quantisers: Those of the four coefficients.
  ///   - bits: For each the bit position that it is exact to.
  func makeSamples(quantisers: SIMD4<Int32>, bits: SIMD4<Int32>) {
    guard layout == .coefficients else { return }
    // The samples of a row of blocks take half the room of its coefficients, but those of the first row would run into
    // coefficients that are still to be read.
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
