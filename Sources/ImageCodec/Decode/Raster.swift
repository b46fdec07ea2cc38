import CVips
import JPEGCoefficients
package import ThumbnailCore

/// The pixels of a small image in memory: sRGB or gray, 8 bits, with or without alpha, not premultiplied.
///
/// It does not depend on what it was computed from, so the decoder can be freed. It owns its memory: rows from the top
/// down, without padding, samples interleaved.
package final class Raster {
  package let size: PixelSize
  /// 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
  let bands: Int
  /// The ICC profile of the samples, unless they are sRGB or gray.
  let profile: [UInt8]?
  private let pixels: UnsafeMutableRawPointer
  private let byteCount: Int

  /// Computes the pixels of an image with 8-bit samples and 1 to 4 bands.
  ///
  /// - Throws: `.damaged(.decode, …)` when the decoder or a later operation fails.
  init(computing image: LibvipsImage) throws(CodecError) {
    var length = 0
    guard let memory = vips_image_write_to_memory(image.pointer, &length) else {
      throw .damaged(.decode, detail: Codec.errorText())
    }
    (pixels, byteCount, size, bands, profile) = (memory, length, image.size, image.bands, nil)
  }

  /// Makes a raster whose samples `fill` writes: all `size.width * size.height * bands` bytes, which are uninitialised.
  ///
  /// - Throws: what `fill` throws; `.damaged(.shrink, …)` for an invalid size or if there is no memory.
  package init(
    size: PixelSize, bands: Int, profile: [UInt8]? = nil,
    filling fill: (UnsafeMutableRawBufferPointer) throws(CodecError) -> Void
  ) throws(CodecError) {
    let (count, overflow) = size.pixelCount.multipliedReportingOverflow(by: bands)
    guard size.width > 0, size.height > 0, (1...4).contains(bands), !overflow, let memory = g_try_malloc(gsize(count))
    else { throw .damaged(.shrink, detail: "no memory for a raster of \(size) and \(bands) bands") }
    do throws(CodecError) {
      try fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
    } catch {
      g_free(memory)
      throw error
    }
    (pixels, byteCount, self.size, self.bands, self.profile) = (memory, count, size, bands, profile)
  }

  /// Decodes a JPEG's coefficients: the image as stored, not upright, gray or RGB, with the file's ICC profile. Blocks;
  /// checks for cancellation once per row of blocks.
  ///
  /// - Throws: `.handedOver` if the file differs from what its header promised and libvips may succeed. Damage is an
  ///   error, though libjpeg would accept some of it and fill in grey.
  convenience init(_ decoder: CoefficientDecoder) throws(CodecError) {
    let image: CoefficientImage
    do throws(JPEGError) {
      image = try decoder.decode()
    } catch {
      throw CodecError(error)
    }
    try self.init(
      size: PixelSize(image.size.width, image.size.height), bands: image.bands, profile: image.profile
    ) { target in image.compose(into: target) }
  }

  deinit { g_free(pixels) }

  var hasAlpha: Bool { bands == 2 || bands == 4 }

  /// Whether every pixel is fully opaque.
  var isOpaque: Bool {
    guard hasAlpha else { return true }
    let bytes = UnsafeRawBufferPointer(start: pixels, count: byteCount)
    return stride(from: bands - 1, to: byteCount, by: bands).allSatisfy { bytes[$0] == 255 }
  }

  /// Passes the samples to `body`; they are valid during the call.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws(CodecError) -> Result) throws(CodecError) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: pixels, count: byteCount))
  }

  /// The pixels as a libvips image, with the profile embedded. The raster must outlive everything made from it.
  package func image() throws(CodecError) -> LibvipsImage {
    let space = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
    let image = cvips_image_of_memory(
      pixels, byteCount, Int32(size.width), Int32(size.height), Int32(bands), VIPS_FORMAT_UCHAR, space)
    guard let image else { throw .damaged(.shrink, detail: Codec.errorText()) }
    if let profile { vips_image_set_blob_copy(image, VIPS_META_ICC_NAME, profile, profile.count) }
    return LibvipsImage(owning: image)
  }
}
