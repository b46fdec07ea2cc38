import Glibc

/// The deviation of the pixels of each luma block from its samples, which a smaller scale averages away.
///
/// The discrete cosine transform is orthonormal, so a coefficient adds a 64th of its square to the mean square of its
/// block's pixels.
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

  /// The fraction of the square of the coefficient at a zigzag position that lies within the samples of a block of this
  /// side, instead of between them: 1 if the coefficient is not kept, else the part of its wave that the mean over a
  /// sample's pixels loses.
  static func share(_ position: Int, _ side: BlockSide) -> Float {
    let natural = BlockSide.naturalOrder[position]
    let (across, down) = (Int(natural & 7), Int(natural >> 3))
    guard across < side.rawValue, down < side.rawValue else { return 1 }
    let kept = response(across, pixels: 8 / side.rawValue) * response(down, pixels: 8 / side.rawValue)
    return 1 - kept * kept
  }

  /// The amplitude of a wave of `frequency` half periods in 8 pixels, averaged over `pixels` pixels.
  private static func response(_ frequency: Int, pixels: Int) -> Float {
    if frequency == 0 || pixels == 1 { return 1 }
    let half = Float.pi * Float(frequency) / 16
    return sin(Float(pixels) * half) / (Float(pixels) * sin(half))
  }
}
