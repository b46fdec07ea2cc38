// The module JPEGCoefficients: makes a small image from the coefficients of a large JPEG.

package import ThumbnailCore

/// Reads from a JPEG only the coefficients that a reduced image needs.
///
/// At 1/8 of a sequential file the result is libjpeg's image at that scale: luma and gray are equal sample for sample.
/// In a progressive file it reads only the scans up to the first that completes the scale, so the rest may be missing.
///
/// It reads the file once through buffers of bounded length, and keeps only the components' planes and the image.
package struct CoefficientDecoder {
  /// The bytes of a file read at a time.
  static let windowLength = 1 << 16
  /// The same if rows, or scans, are read from their beginnings.
  static let rowWindow = 1 << 14
  /// The file.
  let body: any JPEGSource
  /// The size in the header, as the caller has parsed it.
  let size: PixelSize
  /// The scale to decode at.
  let scale: JPEGScale
  /// Whether a truncated file yields its readable part, with the rest in mid-grey, instead of an error.
  var isTolerant = false
  /// Whether to verify that the rest of the file is present, though nothing after the needed scans is decoded.
  var expectsEnd = false
  /// Whether full-size chroma is read at 1/2 where luma is read at 1/1.
  package var halvesChroma = false
  /// Checked once per row of blocks.
  let cancellation: CancellationFlag
  /// The sizes of the parts of a scan that lanes decode at once; nil to decode the blocks one after the other.
  var lanes: LaneSchedule.Sizes? = LaneSchedule.Sizes()
  /// The most memory in bytes that lanes take beside the planes of a sequential file.
  package static func laneBytes(at scale: JPEGScale) -> Int {
    let sizes = LaneSchedule.Sizes()
    return scale < .half ? sizes.bufferLength + sizes.listBytes + LaneTables.mostBytes : 0
  }
  /// The window's length in bytes, for tests; nil means `windowLength` for a file and everything for a body in memory.
  var window: Int?

  package init(
    _ body: any JPEGSource, size: PixelSize, scale: JPEGScale, isTolerant: Bool = false, expectsEnd: Bool = false,
    cancellation: CancellationFlag, window: Int? = nil
  ) {
    (self.body, self.size, self.scale) = (body, size, scale)
    (self.isTolerant, self.expectsEnd) = (isTolerant, expectsEnd)
    (self.cancellation, self.window) = (cancellation, window)
  }

  /// Finds the scans of a file that is then read by rows, at 1/2 or full size. Blocks while it reads the whole file if
  /// that is progressive.
  ///
  /// - Throws: as `decode`; `.handedOver`, too, for a file that lacks coefficients.
  package func survey() throws(CodecError) -> JPEGRows {
    precondition(scale >= .half && !isTolerant, "what needs the whole image is read by decode")
    return try body.withMemory { memory throws(CodecError) in
      try CoefficientDecoding(self, memory: memory).survey()
    }
  }

  /// Writes a part of a sequential file as a JPEG of its own, with the same coefficients. Blocks.
  ///
  /// `index` is empty or was made of the same file. Rows that it shows to be unnecessary are not decoded, and an index
  /// of all rows replaces it.
  ///
  /// - Throws: as `decode`; `.handedOver`, too, for a file whose components are in several scans.
  package func crop(to area: PixelRectangle, index: inout [UInt8]?) throws(CodecError) -> [UInt8] {
    var (made, decoder) = (index, self)
    // Usually only the beginning of a row is read.
    decoder.window = window ?? Self.rowWindow
    let file = try body.withMemory { memory throws(CodecError) in
      try CoefficientDecoding(decoder, memory: memory).crop(to: area, index: &made)
    }
    index = made
    return file
  }

  /// Decodes the image at a reduced scale. Blocks.
  ///
  /// - Throws: `.handedOver` where another decoder may succeed, `.truncated`, `.damaged`, `.limitExceeded`,
  ///   `.cancelled`, `.unreadableBody`.
  package func decode() throws(CodecError) -> CoefficientImage {
    precondition(scale != .full, "the coefficients of the whole image are not kept")
    return try body.withMemory { memory throws(CodecError) in try CoefficientDecoding(self, memory: memory).run() }
  }
}

/// The decoded image as stored, without orientation applied.
package struct CoefficientImage {
  /// The requested scale.
  package let scale: JPEGScale
  /// The size at that scale, in pixels.
  package let size: PixelSize
  /// One plane or three, each with its own scale.
  package let planes: [JPEGPlane]
  /// The meaning of the planes' samples.
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
