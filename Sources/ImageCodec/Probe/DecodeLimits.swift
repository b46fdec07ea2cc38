import ThumbnailCore

/// The limits beyond which an image is refused by its header.
package struct DecodeLimits: Sendable, Equatable {
  /// The most pixels, 268,435,456 by default: 16384×16384, beyond every camera and most scans.
  package var maximumPixels: Int
  /// The longest side in pixels, 65,535 by default: JPEG's own limit. It bounds the length of one row in memory.
  package var maximumSide: Int
  /// The most frames or pages, 10,000 by default. Only the first is shown, but decoders keep a table entry for each, so
  /// a file of tiny frames takes many times its own length in memory.
  package var maximumFrames: Int
  /// The longest file in bytes, 256 MiB by default.
  package var maximumBytes: Int

  package init(
    maximumPixels: Int = 1 << 28, maximumSide: Int = 65_535, maximumFrames: Int = 10_000, maximumBytes: Int = 256 << 20
  ) {
    self.maximumPixels = maximumPixels
    self.maximumSide = maximumSide
    self.maximumFrames = maximumFrames
    self.maximumBytes = maximumBytes
  }

  /// Refuses an empty file, and one that is too long.
  func check(byteCount: Int) throws(CodecError) {
    if byteCount == 0 { throw .empty }
    if byteCount > maximumBytes { throw .limitExceeded(.bytes, value: byteCount, maximum: maximumBytes) }
  }

  /// Refuses an image whose header exceeds a limit. Called as soon as any part of it is known.
  func check(_ probe: ImageProbe) throws(CodecError) {
    let size = probe.size
    guard size.width > 0, size.height > 0 else { throw .damaged(.header, detail: "its size is \(size)") }
    if size.longerSide > maximumSide {
      throw .limitExceeded(.side(size), value: size.longerSide, maximum: maximumSide)
    }
    if size.pixelCount > maximumPixels {
      throw .limitExceeded(.pixels(size), value: size.pixelCount, maximum: maximumPixels)
    }
    if let frames = probe.frameCount, frames > maximumFrames {
      throw .limitExceeded(.frames, value: frames, maximum: maximumFrames)
    }
  }
}
