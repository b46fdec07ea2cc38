/// How a component's coefficients become samples: the side of its blocks, and its quantisers with the weights that the
/// transform of that side expects.
///
/// Safety: it owns the tables that kernels read through its pointers, and must outlive them.
final class BlockScaling {
  let side: BlockSide
  /// For sides one and two the weighted quantisers of the coefficients in rows.
  let integers: SIMD4<Int32>
  /// For sides four and eight the same, and 0 for coefficients that are not kept: 65 elements.
  let factors: UnsafeMutablePointer<Float>
  /// For side four the samples of each coefficient of 1, in columns: four vectors, 0 for coefficients that are not
  /// kept. 17 · 4 elements.
  let waves: UnsafeMutablePointer<SIMD4<Float>>
  /// For each zigzag position the factor from the square of its coefficient to the block's deviation: 64 elements.
  let energies: UnsafeMutablePointer<Float>
  /// `BlockSide.slots`: 64 elements, all at most 64.
  let slots: UnsafeMutablePointer<UInt8>

  /// `quantisers` are the 64 of the component's table in zigzag order.
  init(_ side: BlockSide, quantisers: [Int32]) {
    self.side = side
    let order = side.slots
    (factors, slots, waves) = (.allocate(capacity: 65), .allocate(capacity: 64), .allocate(capacity: 17 * 4))
    waves.initialize(repeating: .zero, count: 17 * 4)
    factors.initialize(repeating: 0, count: 65)
    slots.initialize(from: order, count: 64)
    var integers = SIMD4<Int32>()
    let weights = BlockTransform.weights(side)
    energies = .allocate(capacity: 64)
    energies.initialize(repeating: 0, count: 64)
    for (position, quantiser) in quantisers.enumerated() {
      energies[position] = Float(quantiser) * Float(quantiser) * BlockDeviations.share(position, side)
    }
    for (position, quantiser) in quantisers.enumerated() where Int(order[position]) < side.count {
      let slot = Int(order[position])
      factors[slot] = Float(quantiser) * weights[slot / side.rawValue] * weights[slot % side.rawValue]
      if slot < 4 { integers[slot] = quantiser }
    }
    if side == .four {
      for slot in 0..<16 { for x in 0..<4 { waves[4 * slot + x] = BlockTransform.wave(slot, x) * factors[slot] } }
    }
    self.integers = side == .two ? integers &* BlockSamples.quarterWeights : integers
  }

  deinit {
    factors.deallocate()
    slots.deallocate()
    waves.deallocate()
    energies.deallocate()
  }
}
