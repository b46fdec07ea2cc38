import Glibc
package import ThumbnailCore

/// The kept data of one component: its blocks' first coefficients or their samples; samples in the end.
///
/// It owns its memory. Samples that were not decoded are mid-grey.
final class SamplePlane {
  /// The bytes per row of samples, which is also the number of samples.
  let rowBytes: Int
  /// The number of rows of samples.
  let rows: Int
  /// The bytes per block in its first row; all bytes of a block of coefficients.
  let blockBytes: Int
  /// The bytes per row of blocks.
  let blockRowBytes: Int
  /// The first byte.
  let start: UnsafeMutableRawPointer

  /// Whether it holds the coefficients of each block instead of samples: `Int16` in rows, twice their expected values.
  private let hasCoefficients: Bool
  /// Whether a mask of 64 bits follows each block's coefficients: which of its zigzag positions, kept or not, are known
  /// not to be 0. Scans that refine AC coefficients are coded by it.
  let hasHistory: Bool
  let side: BlockSide
  private let blocksAcross: Int
  private let blocksDown: Int

  /// A plane for `across` × `down` blocks. `hasHistory` is for coefficients alone.
  init(
    across: Int, down: Int, side: BlockSide, hasCoefficients: Bool, hasHistory: Bool = false
  ) throws(CodecError) {
    (blocksAcross, blocksDown, self.side, self.hasCoefficients) = (across, down, side, hasCoefficients)
    self.hasHistory = hasHistory
    (rowBytes, rows) = (across * side.rawValue, down * side.rawValue)
    blockBytes = hasCoefficients ? 2 * side.count + (hasHistory ? 8 : 0) : side.rawValue
    blockRowBytes = hasCoefficients ? across * blockBytes : across * side.count
    let count = down * blockRowBytes
    guard let memory = hasCoefficients ? calloc(max(1, count), 1) : malloc(max(1, count)) else {
      throw .damaged(.decode, detail: "no memory for \(count) bytes")
    }
    if !hasCoefficients { memset(memory, 128, count) }
    start = memory
  }

  deinit { free(start) }

  /// A row of samples.
  func row(_ index: Int) -> UnsafePointer<UInt8> {
    UnsafePointer((start + rowBytes * index).assumingMemoryBound(to: UInt8.self))
  }

  /// Sets all coefficients to 0, for the next part of the image. It has no effect on samples.
  func clear() {
    guard hasCoefficients else { return }
    memset(start, 0, blocksDown * blockRowBytes)
  }

  /// Converts coefficients to samples in place, in all columns or these. Call it once. It has no effect on samples.
  func makeSamples(_ scaling: BlockScaling, columns: Range<Int>? = nil) {
    guard hasCoefficients else { return }
    let columns = columns ?? 0..<rowBytes
    let blocks = columns.lowerBound / side.rawValue..<min(blocksAcross, (columns.upperBound - 1) / side.rawValue + 1)
    let rowLength = side.rawValue * rowBytes
    // A row of blocks has at most half as many bytes of samples as of coefficients, but its first row of samples would
    // overwrite coefficients that have not been read yet.
    withUnsafeTemporaryAllocation(byteCount: rowLength, alignment: 16) { row in
      guard let row = row.baseAddress else { return }
      for y in 0..<blocksDown {
        let coefficients = start + y * blockRowBytes
        for x in blocks {
          makeSamples(
            UnsafeRawPointer(coefficients + x * blockBytes).assumingMemoryBound(to: Int16.self), scaling,
            into: row + side.rawValue * x)
        }
        memcpy(start + y * rowLength, row, rowLength)
      }
    }
  }

  /// Writes the samples of one block.
  @inline(__always)
  private func makeSamples(
    _ block: UnsafePointer<Int16>, _ scaling: BlockScaling, into output: UnsafeMutableRawPointer
  ) {
    switch side {
    case .one:
      let sample = BlockSamples.eighth((Int(block[0]) &* Int(scaling.integers[0])) &>> 1)
      output.storeBytes(of: sample, as: UInt8.self)
    case .two:
      BlockSamples.quarter(
        Int(block[0]) &* Int(scaling.integers[0]), Int(block[1]) &* Int(scaling.integers[1]),
        Int(block[2]) &* Int(scaling.integers[2]), Int(block[3]) &* Int(scaling.integers[3]), into: output,
        rowBytes: rowBytes)
    case .four: BlockTransform.four(block, scaling.factors, into: output, rowBytes: rowBytes)
    case .eight:
      withUnsafeTemporaryAllocation(of: Float.self, capacity: 64) { scaled in
        guard let scaled = scaled.baseAddress else { return }
        let history = hasHistory ? UnsafeRawPointer(block).loadUnaligned(fromByteOffset: 128, as: UInt64.self) : .max
        for index in 0..<64 { scaled[index] = Float(block[index]) * (scaling.factors[index] * 0.5) }
        if history == 0 {
          BlockTransform.flat(scaled, into: output, rowBytes: rowBytes)
        } else {
          // Up to zigzag position 9 all are among the first 4×4.
          BlockTransform.eight(scaled, isSparse: history < 1 << 10, into: output, rowBytes: rowBytes)
        }
      }
    }
  }
}

/// One component's samples, 8 bits each, in memory that the plane keeps alive.
package struct JPEGPlane {
  /// The samples of whole blocks, so at least `size`.
  let samples: SamplePlane
  /// The size of the image as stored.
  let storedSize: PixelSize
  /// The width in pixels of the image's part that a sample stands for.
  package let pixelsAcross: Int
  /// Its height.
  package let pixelsDown: Int

  /// Whether all coefficients of the component were read, so that its samples are exact.
  package var isAsStored: Bool { samples.side == .eight }
  /// The samples across and down that cover the image; the last of them perhaps only in part.
  package var size: PixelSize {
    PixelSize(
      (storedSize.width + pixelsAcross - 1) / pixelsAcross, (storedSize.height + pixelsDown - 1) / pixelsDown)
  }
  /// The width of the image in samples: 750.125 of 751 samples if 6001 pixels were reduced by eight.
  package var extentAcross: Double { Double(storedSize.width) / Double(pixelsAcross) }
  /// The height of the image in samples.
  package var extentDown: Double { Double(storedSize.height) / Double(pixelsDown) }
  /// The bytes from a row to the next.
  package var rowBytes: Int { samples.rowBytes }
  /// The first sample, valid as long as the plane lives; `size.height` rows of `rowBytes` follow.
  package var start: UnsafePointer<UInt8> { samples.row(0) }
}
