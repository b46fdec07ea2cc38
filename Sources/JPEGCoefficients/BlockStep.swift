/// How one block of an MCU is decoded, and where its kept values are written.
///
/// It holds unowned pointers into tables and planes, which must outlive it. The kernels advance `output`.
struct BlockStep {
  /// The DC table, in scans that have DC coefficients.
  var dc: HuffmanTable.Lookup
  /// The AC table, in scans that have AC coefficients.
  var ac: HuffmanTable.Lookup
  /// The component's current DC predictor.
  var predictor: UnsafeMutablePointer<Int>
  /// The quantisers of the kept coefficients: zigzag positions 0, 1, 2 and 4.
  var quantisers: SIMD4<Int32>
  /// Where the block's samples or coefficients are written.
  var output: UnsafeMutableRawPointer
  /// The distance in bytes to the output of the same block in the next MCU.
  var advance: Int
  /// The bytes per row of samples.
  var rowBytes: Int
}
