@testable import JPEGCoefficients
import TestSupport

/// The transform of 8×8 coefficients with AVX2 and without.
struct BlockTransformTests {
  /// A block with coefficients at some places, up to those that no encoder writes.
  private func block(_ places: ClosedRange<Int>, most: Float, _ random: inout SplitMix) -> [Float] {
    (0..<64).map { index in
      let isWithin = places.contains(index & 7) && places.contains(index >> 3)
      return isWithin && Bool.random(using: &random) ? Float.random(in: -most...most, using: &random) : 0
    }
  }

  private func samples(
    _ block: [Float], _ transform: (UnsafeMutablePointer<Float>, UnsafeMutableRawPointer) -> Void
  ) -> [UInt8] {
    var (block, samples) = (block, [UInt8](repeating: 7, count: 8 * 11))
    block.withUnsafeMutableBufferPointer { block in
      samples.withUnsafeMutableBytes { samples in
        if let block = block.baseAddress, let start = samples.baseAddress { transform(block, start) }
      }
    }
    #expect(block.allSatisfy { $0 == 0 })
    return samples
  }

  @Test func theSamplesAreTheSameWithAVX2() {
    var random = SplitMix(state: 8)
    for most: Float in [20, 300, 5000, 1e9] {
      for _ in 0..<2000 {
        for isSparse in [false, true] {
          let block = block(isSparse ? 0...3 : 0...7, most: most, &random)
          let usual = samples(block) { BlockTransform.eight($0, isSparse: isSparse, into: $1, rowBytes: 11) }
          let plain = samples(block) { BlockTransform.plainEight($0, isSparse: isSparse, into: $1, rowBytes: 11) }
          #expect(usual == plain)
        }
      }
    }
  }
}
