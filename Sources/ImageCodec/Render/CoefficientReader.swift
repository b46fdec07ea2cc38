import JPEGCoefficients
import ThumbnailCore

/// Makes a raster from a JPEG's coefficients: the codec's adapter of `CoefficientDecoder`.
package struct CoefficientReader {
  /// The file.
  let body: ByteSource
  /// The size in the header, as the plan knows it.
  let storedSize: PixelSize
  /// The scale to decode at.
  let scale: JPEGScale
  /// Whether a truncated body yields what there is, the rest in mid-grey, instead of an error.
  var isTolerant = false
  /// Whether to verify that the rest of the file is present, though nothing after the needed scans is decoded.
  var expectsEnd = false
  let cancellation: CancellationFlag
  /// The window's length in bytes, for tests; nil for the decoder's default.
  var window: Int?

  /// The result: the raster as stored, not upright, gray or RGB, with the file's ICC profile; the bytes of the body
  /// that it took; and the number of scans visited.
  typealias Reading = (raster: Raster, consumedBytes: Int, scans: Int)

  /// Decodes the image. Blocks; checks for cancellation once per row of blocks.
  ///
  /// - Throws: `.handedOver` where libvips may succeed, `.truncated`, `.damaged`, `.limitExceeded`, `.cancelled`,
  ///   `.unreadableBody`.
  func read() throws(CodecError) -> Reading {
    switch body {
    case .file:
      return try read(memory: nil)
    case .memory(let bytes):
      let result = bytes.withUnsafeBytes { memory in
        Result { () throws(CodecError) in try read(memory: memory) }
      }
      return try result.get()
    }
  }

  private func read(memory: UnsafeRawBufferPointer?) throws(CodecError) -> Reading {
    let decoder = CoefficientDecoder(
      body: body, storedSize: JPEGSize(storedSize.width, storedSize.height), scale: scale, isTolerant: isTolerant,
      expectsEnd: expectsEnd, isCancelled: { [cancellation] in cancellation.isSet }, window: window)
    let image: CoefficientImage
    do throws(JPEGError) {
      image = try decoder.decode(memory: memory)
    } catch {
      throw CodecError(error)
    }
    let raster = try Raster(
      size: PixelSize(image.size.width, image.size.height), bands: image.bands, profile: image.profile
    ) { target in image.compose(into: target) }
    return (raster, image.consumedBytes, image.scans)
  }
}

extension ByteSource: JPEGSource {}

extension JPEGScale {
  /// The reduced size of an image of `size` pixels.
  func size(of size: PixelSize) -> PixelSize {
    let scaled = self.size(of: JPEGSize(size.width, size.height))
    return PixelSize(scaled.width, scaled.height)
  }
}

extension CodecError {
  init(_ error: JPEGError) {
    self =
      switch error {
      case .cancelled: .cancelled
      case .handedOver(let reason): .handedOver(reason: reason)
      case .truncated(let detail): .truncated(detail: detail)
      case .damaged(.header, let detail): .damaged(.header, detail: detail)
      case .damaged(.decode, let detail): .damaged(.decode, detail: detail)
      case .tooManyScans(let scans): .limitExceeded(.scans, value: scans, maximum: JPEGScans.most)
      case .unreadable(let detail): .unreadableBody(detail: detail)
      }
  }
}
