import Glibc
import Synchronization
import ThumbnailCore

/// The memory of an image's pixels: 1 to 4 bands of 8 bits, rows from the top down, without padding.
final class PixelMemory {
  let size: PixelSize
  let bands: Int
  let byteCount: Int
  let start: UnsafeMutablePointer<UInt8>
  private let spare: SparePixelMemory?
  /// The length of the block, which may be larger than requested.
  private let capacity: Int

  /// Uninitialised memory: the spare block if it is large enough. The block becomes the spare one again.
  ///
  /// - Throws: `.damaged(.shrink, …)` for an invalid size, `.outOfMemory`.
  init(_ size: PixelSize, bands: Int, from spare: SparePixelMemory? = nil) throws(CodecError) {
    let (count, overflow) = size.pixelCount.multipliedReportingOverflow(by: bands)
    guard size.width > 0, size.height > 0, (1...4).contains(bands), !overflow else {
      throw .damaged(.shrink, detail: "a raster of \(size) and \(bands) bands")
    }
    guard let block = spare?.take(count) ?? SparePixelMemory.Block(count) else { throw .outOfMemory }
    (self.size, self.bands, byteCount, self.spare, capacity) = (size, bands, count, spare, block.capacity)
    start = block.start
  }

  deinit {
    let block = SparePixelMemory.Block(start: start, capacity: capacity)
    if let spare { spare.keep(block) } else { free(block.start) }
  }
}

/// The block of memory that was freed last, for the next pixels: the system clears the pages of a new block, which
/// takes longer than receiving the samples of a small thumbnail.
package final class SparePixelMemory: Sendable {
  /// Larger blocks are not kept, in bytes.
  private static let mostKept = 2 << 20

  struct Block: @unchecked Sendable {
    // Safety: a block has one owner at a time.
    let start: UnsafeMutablePointer<UInt8>
    let capacity: Int
  }

  private let block = Mutex<Block?>(nil)

  package init() {}

  deinit { free(block.withLock { $0?.start }) }

  /// The block, if it is large enough.
  func take(_ count: Int) -> Block? {
    block.withLock { block in
      guard let known = block, known.capacity >= count else { return nil }
      block = nil
      return known
    }
  }

  /// Keeps a block in place of the last one.
  func keep(_ new: Block) {
    guard new.capacity <= Self.mostKept else { return free(new.start) }
    let old = block.withLock { block in
      defer { block = new }
      return block
    }
    free(old?.start)
  }
}

extension SparePixelMemory.Block {
  /// New memory; nil if the system has none.
  init?(_ count: Int) {
    guard let memory = malloc(count) else { return nil }
    self.init(start: memory.assumingMemoryBound(to: UInt8.self), capacity: count)
  }
}
