/// Reads of a JPEG the coefficients that a small picture needs, and nothing else.
///
/// At 1/8 of a sequential file, that is libjpeg's picture of that scale: luma and gray are equal sample for sample. Of a
/// progressive file only the scans up to the first that complete the scale are read, so the rest may be missing.
///
/// It walks the file once through buffers of bounded length; what it keeps are the components' planes and the picture.
package struct CoefficientDecoder {
  /// The bytes of a file that are read at a time.
  static let windowLength = 1 << 16
  /// The file.
  let body: any JPEGSource
  /// The size in its header, as the caller knows it.
  let storedSize: JPEGSize
  /// How much is kept.
  let scale: JPEGScale
  /// Whether a file that breaks off gives what there is, the rest in mid-grey, instead of an error.
  var isTolerant = false
  /// Whether it matters that the rest of the file is there, though nothing behind the scans that are needed is decoded.
  var expectsEnd = false
  /// Whether nobody wants the picture any more; asked once a row of blocks.
  let isCancelled: () -> Bool
  /// The bytes at a time, for tests; nil for a file's `windowLength`, and all of what lies in memory.
  var window: Int?

  package init(
    body: any JPEGSource, storedSize: JPEGSize, scale: JPEGScale, isTolerant: Bool = false, expectsEnd: Bool = false,
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

  /// Reads the picture. Blocks. `memory` are the bytes of a file that lies in memory.
  ///
  /// - Throws: `.handedOver` where another decoder may know better, `.truncated`, `.damaged`, `.tooManyScans`,
  ///   `.cancelled`, `.unreadable`.
  package func decode(memory: UnsafeRawBufferPointer? = nil) throws(JPEGError) -> CoefficientImage {
    try CoefficientDecoding(self, memory: memory).run()
  }
}

/// What the coefficients give: the picture as stored, not upright, gray or in RGB.
package struct CoefficientImage {
  private let composer: PlaneComposer
  /// The file's ICC profile.
  package let profile: [UInt8]?
  /// How many bytes of the file were needed: up to and with the marker that ends the last scan.
  package let consumedBytes: Int
  /// How many scans were looked through.
  package let scans: Int

  init(composer: PlaneComposer, profile: [UInt8]?, consumedBytes: Int, scans: Int) {
    (self.composer, self.profile, self.consumedBytes, self.scans) = (composer, profile, consumedBytes, scans)
  }

  /// Its size at the scale that was asked for.
  package var size: JPEGSize { composer.size }
  /// 1 for gray, 3 for RGB.
  package var bands: Int { composer.sources.count }

  /// Writes the samples, 8 bits each, interleaved, rows from the top down without padding: `size.width * size.height *
  /// bands` bytes.
  package func compose(into target: UnsafeMutableRawBufferPointer) { composer.compose(into: target) }
}
