import Foundation
import ThumbnailCore

/// The memory of an image's pixels: 1 to 4 bands of 8 bits, rows from the top down, without padding.
final class PixelMemory {
  let size: PixelSize
  let bands: Int
  let byteCount: Int
  let start: UnsafeMutablePointer<UInt8>

  /// Uninitialised memory.
  ///
  /// - Throws: `.damaged(.shrink, …)` for an invalid size or if there is no memory.
  init(_ size: PixelSize, bands: Int) throws(CodecError) {
    let (count, overflow) = size.pixelCount.multipliedReportingOverflow(by: bands)
    guard size.width > 0, size.height > 0, (1...4).contains(bands), !overflow, let memory = malloc(count) else {
      throw .damaged(.shrink, detail: "no memory for a raster of \(size) and \(bands) bands")
    }
    (self.size, self.bands, byteCount) = (size, bands, count)
    start = memory.assumingMemoryBound(to: UInt8.self)
  }

  deinit { free(start) }
}
