/// How one block of an MCU is decoded, and where what is kept of it goes.
///
/// It lends pointers into tables and planes that must outlive it. The kernels move `output` on.
struct BlockStep {
  /// `HuffmanTable.single` and `canonical` of the DC table.
  var dcSingle: UnsafePointer<UInt16>
  var dcCanonical: UnsafePointer<UInt32>
  /// `HuffmanTable.single`, `packed` and `canonical` of the AC table.
  var acSingle: UnsafePointer<UInt16>
  var acPacked: UnsafePointer<UInt16>
  var acCanonical: UnsafePointer<UInt32>
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
  /// The bit position that a progressive scan is exact to (Al).
  var bit: Int
}
