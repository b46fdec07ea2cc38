package import JPEGCoefficients
package import ThumbnailCore

/// The coefficient decoder in the codec's terms.
extension CoefficientDecoder {
  /// `size` is the size in the header; `window` the length of the reading window in bytes, for tests.
  package init(
    _ body: ByteSource, size: PixelSize, scale: JPEGScale, isTolerant: Bool = false, expectsEnd: Bool = false,
    cancellation: CancellationFlag, window: Int? = nil
  ) {
    self.init(
      body, storedSize: JPEGSize(size.width, size.height), scale: scale, isTolerant: isTolerant,
      expectsEnd: expectsEnd, isCancelled: { cancellation.isSet }, window: window)
  }

  /// Decodes the image, as stored. Blocks; checks for cancellation once per row of blocks.
  ///
  /// - Throws: `.handedOver` where libvips may succeed, `.truncated`, `.damaged`, `.limitExceeded`, `.cancelled`,
  ///   `.unreadableBody`.
  func image() throws(CodecError) -> CoefficientImage {
    do throws(JPEGError) {
      return try decode()
    } catch {
      throw CodecError(error)
    }
  }
}

extension Raster {
  /// The pixels of a decoded image: not upright, gray or RGB, with the file's ICC profile.
  convenience init(_ image: CoefficientImage) throws(CodecError) {
    try self.init(
      size: PixelSize(image.size.width, image.size.height), bands: image.bands, profile: image.profile
    ) { target in image.compose(into: target) }
  }
}
