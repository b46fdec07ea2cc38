import Foundation

/// What is kept of one component: first coefficients or samples, block by block, in the end samples.
///
/// It owns its memory: `rowBytes` for each row, rows from the top down, mid-grey where nothing was decoded.
final class SamplePlane {
  /// The bytes of a row of samples.
  let rowBytes: Int
  /// The rows of samples.
  let rows: Int
  /// The first row.
  let start: UnsafeMutableRawPointer

  /// A plane for `across` × `down` blocks of `side` × `side` samples. With `holdsCoefficients` there is room for four
  /// coefficients of 16 bits for each block, which are 0.
  init(across: Int, down: Int, side: Int, holdsCoefficients: Bool) throws(CodecError) {
    rowBytes = across * side
    rows = down * side
    let count = holdsCoefficients ? across * down * 8 : rowBytes * rows
    guard let memory = malloc(max(1, count)) else { throw .damaged(.decode, detail: "no memory for \(count) bytes") }
    memset(memory, holdsCoefficients ? 0 : 128, count)
    start = memory
  }

  deinit { free(start) }

  /// A row of samples.
  func row(_ index: Int) -> UnsafePointer<UInt8> {
    UnsafePointer((start + rowBytes * index).assumingMemoryBound(to: UInt8.self))
  }
}
