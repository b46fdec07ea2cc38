/// How one block of an MCU is decoded, and where what is kept of it goes.
///
/// It lends pointers into tables and planes that must outlive it. The kernels move `output` on.
struct BlockStep {
  /// The DC table, in scans that have DC coefficients.
  var dc: HuffmanTable.Lookup
  /// The AC table, in scans that have AC coefficients.
  var ac: HuffmanTable.Lookup
  /// The component's DC value so far.
  var predictor: UnsafeMutablePointer<Int>
  /// The quantisers of the kept coefficients: zigzag positions 0, 1, 2 and 4.
  var quantisers: SIMD4<Int32>
  /// Where the block's samples, or its coefficients, go.
  var output: UnsafeMutableRawPointer
  /// The bytes from there to where those of the next MCU's same block go.
  var advance: Int
  /// The bytes from a row of samples to the next.
  var rowBytes: Int
}
