// The module JPEGCoefficients: makes a small image from the coefficients of a large JPEG.

/// Reads from a JPEG only the coefficients that a reduced image needs.
///
/// At 1/8 of a sequential file the result is libjpeg's image at that scale: luma and gray are equal sample for sample.
/// Of a progressive file only the scans up to the first that completes the scale are read, so the rest may be missing.
///
/// It reads the file once through buffers of bounded length, and keeps only the components' planes and the image.
package struct CoefficientDecoder {
  /// The bytes of a file read at a time.
  static let windowLength = 1 << 16
  /// The file.
  let body: any JPEGSource
  /// The size in the header, as the caller has parsed it.
  let storedSize: JPEGSize
  /// The scale to decode at.
  let scale: JPEGScale
  /// Whether a truncated file yields what there is, the rest in mid-grey, instead of an error.
  var isTolerant = false
  /// Whether to verify that the rest of the file is present, though nothing after the needed scans is decoded.
  var expectsEnd = false
  /// Whether the decode was cancelled; checked once per row of blocks.
  let isCancelled: () -> Bool
  /// The window's length in bytes, for tests; nil means `windowLength` for a file and everything for a body in memory.
  var window: Int?

  package init(
    _ body: any JPEGSource, storedSize: JPEGSize, scale: JPEGScale, isTolerant: Bool = false, expectsEnd: Bool = false,
    isCancelled: @escaping () -> Bool, window: Int? = nil
  ) {
    self.body = body
    self.storedSize = storedSize
    self.scale = scale
    self.isTolerant = isTolerant
    self.expectsEnd = expectsEnd
    self.isCancelled = isCancelled
    self.window = window
  }

  /// Decodes the image. Blocks.
  ///
  /// - Throws: `.handedOver` where another decoder may succeed, `.truncated`, `.damaged`, `.tooManyScans`,
  ///   `.cancelled`, `.unreadable`.
  package func decode() throws(JPEGError) -> CoefficientImage {
    try body.withMemory { memory throws(JPEGError) in try CoefficientDecoding(self, memory: memory).run() }
  }
}

/// The decoded image as stored, without orientation applied.
package struct CoefficientImage {
  /// The requested scale.
  package let scale: JPEGScale
  /// The size at that scale, in pixels.
  package let size: JPEGSize
  /// One plane, or three. Each has a scale of its own.
  package let planes: [JPEGPlane]
  /// What the planes' samples mean.
  package let colours: JPEGColours
  /// The file's ICC profile.
  package let profile: [UInt8]?
  /// The bytes of the file that were needed: up to and including the marker that ends the last scan.
  package let consumedBytes: Int
  /// The number of scans visited.
  package let scans: Int

  /// 1 for gray, 3 for RGB, as `compose` writes them.
  package var bands: Int { planes.count }

  /// Writes the samples as gray or RGB, interleaved, rows from the top down without padding: `size.width *
  /// size.height * bands` bytes.
  package func compose(into target: UnsafeMutableRawBufferPointer) {
    PlaneComposer(planes: planes, scale: scale, size: size, colours: colours).compose(into: target)
  }
}
