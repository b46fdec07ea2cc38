import JPEGCoefficients
package import ThumbnailCore

/// What a picture's header tells: enough to refuse it, to plan how it is read, and to say what that costs.
package struct ImageProbe: Sendable, Equatable {
  /// What the bytes are.
  package var format: ImageFormat
  /// The size in pixels as the decoder delivers it. HEIF and AVIF decoders turn the picture themselves; for all others
  /// `orientation` is still to be applied.
  var storedSize: PixelSize
  /// The EXIF orientation that is left to apply, 1 to 8. 1 is upright.
  var orientation = 1
  /// The number of frames or pages as far as they are known; nil where the header does not tell.
  var frameCount: Int?
  /// Whether the decoder must hold the whole picture before it can give the first row: progressive JPEG and JPEG whose
  /// components come in separate scans, interlaced PNG.
  var isProgressive = false
  /// Whether the pixels are compressed without loss. Only WebP tells.
  var isLossless = false
  /// Whether there is an alpha channel; nil where the header does not tell.
  var hasAlpha: Bool?
  /// The channels of a pixel, alpha included.
  var channels = 3
  /// The bits of one sample.
  var bitsPerSample = 8
  /// Samples stored for each pixel: 1.5 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
  var samplesPerPixel = 3.0
  /// The bytes a decoder must hold at least to give the first row, where the file is laid out in large blocks: a strip
  /// or a row of tiles of a TIFF.
  var blockBytes = 0
  /// What only a JPEG's header tells.
  var jpeg: JPEGFrameTraits?
  /// The preview in a sequential JPEG's EXIF data, where it has the picture's aspect and orientation.
  var preview: EmbeddedPreview?

  /// The size in pixels, upright.
  package var size: PixelSize { Orientation(exif: orientation).upright(storedSize) }
}
