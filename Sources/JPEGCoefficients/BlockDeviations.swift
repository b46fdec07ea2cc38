import Glibc

/// How much the pixels of each block of luma deviate from its samples: what reading at a smaller scale leaves out.
///
/// The discrete cosine transform is orthonormal, so the mean square of what a coefficient adds to the pixels of its
/// block is a 64th of its own square.
final class BlockDeviations {
  /// The blocks across, padding included.
  let across: Int
  /// For each block the sum of 64 squares of levels, in rows.
  let sums: UnsafeMutablePointer<Float>

  init(across: Int, down: Int) throws(JPEGError) {
    let count = max(1, across * down)
    guard let memory = calloc(count, MemoryLayout<Float>.stride) else {
      throw .damaged(.decode, detail: "no memory for the deviations of \(count) blocks")
    }
    (self.across, sums) = (across, memory.bindMemory(to: Float.self, capacity: count))
  }

  deinit { free(sums) }

  /// The share of the square of the coefficient at a zigzag position that lies within the samples of a block of this
  /// side, instead of between them: all where it is not kept, else what the mean over a sample's pixels loses of its
  /// wave.
  static func share(_ position: Int, _ side: BlockSide) -> Float {
    let natural = BlockSide.naturalOrder[position]
    let (across, down) = (Int(natural & 7), Int(natural >> 3))
    guard across < side.rawValue, down < side.rawValue else { return 1 }
    let kept = response(across, pixels: 8 / side.rawValue) * response(down, pixels: 8 / side.rawValue)
    return 1 - kept * kept
  }

  /// The amplitude of a wave of `frequency` half periods in 8 pixels after taking the mean of so many.
  private static func response(_ frequency: Int, pixels: Int) -> Float {
    if frequency == 0 || pixels == 1 { return 1 }
    let half = Float.pi * Float(frequency) / 16
    return sin(Float(pixels) * half) / (Float(pixels) * sin(half))
  }
}
