package import ThumbnailCore

/// One component's samples, 8 bits each, in memory that the plane keeps alive.
package struct JPEGPlane {
  /// The samples of whole blocks, so at least `size`.
  let samples: SamplePlane
  /// The size of the image as stored.
  let storedSize: PixelSize
  /// The width in pixels of the image's part that a sample stands for.
  package let pixelsAcross: Int
  /// Its height.
  package let pixelsDown: Int

  /// Whether all coefficients of the component were read, so that its samples are exact.
  package var isAsStored: Bool { samples.side == .eight }
  /// The samples across and down that cover the image; the last of them perhaps only in part.
  package var size: PixelSize {
    PixelSize(
      (storedSize.width + pixelsAcross - 1) / pixelsAcross, (storedSize.height + pixelsDown - 1) / pixelsDown)
  }
  /// The width of the image in samples: 750.125 of 751 samples if 6001 pixels were reduced by eight.
  package var extentAcross: Double { Double(storedSize.width) / Double(pixelsAcross) }
  /// The height of the image in samples.
  package var extentDown: Double { Double(storedSize.height) / Double(pixelsDown) }
  /// The bytes from a row to the next.
  package var rowBytes: Int { samples.rowBytes }
  /// The first sample, valid as long as the plane lives; `size.height` rows of `rowBytes` follow.
  package var start: UnsafePointer<UInt8> { samples.row(0) }
}
